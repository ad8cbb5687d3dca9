package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// Fuzz: whatever is done to a store, with whatever IDs, and whoever dies
// meanwhile: what was put is what is got, what was appended is replayed, and
// nothing is touched that is not the store's.
//
// The input is lines, one step each: a letter that says what, the ID, and after
// a tab the text.
func FuzzStore(f *testing.F) {
	f.Add("pa\ttitle\nga\naa\tone\naa\ttwo\nra\nl\nda\nga")
	f.Add("p../../x\tout\na../../x\tout\np/etc/passwd\nd..\nd.\nd\nr..\nl")
	f.Add("pa\tA\npA\ta\naA\tx\nda\nrA\nnul\npnul\npcon.json")
	f.Add("aa\tone\nka\t{\"torn\naa\ttwo\no\naa\tthree\nra")
	f.Add("p\xff\tbad\na\xff\tbad\nr\xff\np\x00\t\x00\np\u202e\t\xff\u2028")
	f.Add("aa\t" + strings.Repeat("long ", 300) + "\naa\t" + strings.Repeat("more ", 300) + "\naa\tlast\nra\nta\nga\nl")
	torn := `"a","title":"}\u2026…é"}`
	for n := range torn { // by a process that dies at any byte
		f.Add("pa\ttitle\naa\tone\nka\t" + torn[:n] + "\nga\nra\naa\ttwo\nra\nl")
	}
	f.Fuzz(func(t *testing.T, input string) {
		parent := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(parent, "beside"), []byte("untouched"), 0o600))
		m := &storeModel{T: t, records: map[string]string{}, lines: map[string][]string{}}
		m.open(filepath.Join(parent, "store"))
		steps := strings.Split(input, "\n")
		for _, step := range steps[:min(len(steps), 50)] {
			if step != "" {
				id, text, _ := strings.Cut(step[1:], "\t")
				m.step(step[0], id, text)
			}
		}
		m.open(m.store.dir) // as the next process sees it
		for id := range m.records {
			m.step('g', id, "")
		}
		for id := range m.lines {
			m.step('r', id, "")
		}
		m.step('l', "", "")
		m.store.Wait()
		m.tree(parent)
	})
}

// storeModel is a store, and what should be in it.
type storeModel struct {
	*testing.T
	store   *Store
	records map[string]string   // titles
	lines   map[string][]string // journals
}

func (m *storeModel) open(dir string) {
	if m.store != nil {
		m.store.Wait()
	}
	s := must.Get(Open(dir))(m)
	m.Cleanup(s.Wait)
	s.limits.journal = 2000 // so that journals have two files
	m.store = s
}

func (m *storeModel) step(what byte, id, text string) {
	m.Helper()
	s := m.store
	switch what {
	case 'p':
		err := s.Put(Record{ID: id, Title: text})
		if ok := id != "" && utf8.ValidString(id); ok != (err == nil) {
			m.Fatalf("Put(%q): %v", id, err)
		} else if ok {
			m.records[id] = strings.ToValidUTF8(text, "\ufffd")
		}
	case 'g':
		r, err := s.Get(id)
		title, ok := m.records[id]
		if ok != (err == nil) || !ok && !errors.Is(err, ErrNoSession) || strings.ToValidUTF8(r.Title, "\ufffd") != r.Title {
			m.Fatalf("Get(%q): %v", id, err)
		}
		// encoding/json and strings do not agree on runs of bad bytes.
		if squeeze(r.Title) != squeeze(title) || ok && r.ID != id {
			m.Fatalf("Get(%q): %q, want %q", id, r.Title, title)
		}
	case 'd':
		if err := s.Delete(id); err != nil {
			m.Fatalf("Delete(%q): %v", id, err)
		}
		delete(m.records, id)
		delete(m.lines, id)
	case 'a':
		line, _ := json.Marshal(map[string]string{"text": text})
		j := s.Journal(id)
		must.Do(m, j.Write(append(line, '\n')))
		m.lines[id] = append(m.lines[id], string(line))
		_ = j.Close()
	case 'k': // a bridge is killed while it writes a line, or a record
		if len(m.lines[id]) > 0 {
			text, _, _ = strings.Cut(text, "\n")
			write(m, pathOf(s, id), text)
		}
		if _, ok := m.records[id]; ok {
			write(m, filepath.Join(s.sessions, fileName(id), tempPrefix+"1"), text)
			write(m, filepath.Join(s.sessions, fileName(id), recordFile), "\n{\"id\":"+text)
		}
	case 'r':
		m.replay(id)
	case 'l':
		all := must.Get(s.List("", ""))(m)
		var got []string
		for _, r := range all {
			got = append(got, r.ID)
		}
		slices.Sort(got)
		if want := slices.Sorted(maps.Keys(m.records)); !slices.Equal(got, want) {
			m.Fatalf("List: %q, want %q", got, want)
		}
	case 'o':
		m.open(s.dir)
	}
}

// replay wants the newest lines, and all if none is said to be missing.
func (m *storeModel) replay(id string) {
	m.Helper()
	var got []string
	cut := false
	err := m.store.ReadJournal(id, func(line []byte) error {
		if line == nil {
			cut = cut || len(got) == 0
			if len(got) > 0 {
				m.Fatalf("Replay(%q): a gap after %q", id, got)
			}
			return nil
		}
		got = append(got, string(line))
		return nil
	})
	_, known := m.records[id]
	all := m.lines[id]
	if known = known || len(all) > 0; known != (err == nil) || !known && !errors.Is(err, ErrNoSession) {
		m.Fatalf("Replay(%q): %v", id, err)
	}
	if len(got) > len(all) || !slices.Equal(got, all[len(all)-len(got):]) || cut != (len(got) < len(all)) {
		m.Fatalf("Replay(%q): %q (cut: %t), want %q", id, got, cut, all)
	}
}

func squeeze(s string) string {
	return regexp.MustCompile("\ufffd+").ReplaceAllString(s, "\ufffd")
}

var storeFile = regexp.MustCompile(`^store(/sessions(/[a-z2-7]{52}(/(record\.json|journal(\.old)?\.jsonl|\.new-1))?)?)?$`)

// tree wants nothing but the store, which nobody but the user may read, and what was beside it.
func (m *storeModel) tree(parent string) {
	err := fs.WalkDir(os.DirFS(parent), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != "." && path != "beside" && !storeFile.MatchString(path) {
			m.Errorf("there is %s", path)
		}
		if strings.HasPrefix(path, "store") && runtime.GOOS != "windows" { // which has no such modes
			if info, statErr := d.Info(); statErr != nil || info.Mode().Perm() != map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()] {
				m.Errorf("%s: %v, %v", path, info, statErr)
			}
		}
		return err
	})
	if text, readErr := os.ReadFile(filepath.Join(parent, "beside")); err != nil || readErr != nil || string(text) != "untouched" {
		m.Errorf("beside the store: %q, %v", text, errors.Join(err, readErr))
	}
}
