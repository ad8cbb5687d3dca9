package mutate

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	mutate = flag.Bool("mutate", false, "put the faults of the table into a copy of the module, and play worlds until each is found")
	only   = flag.String("only", "", "only the faults whose name has this in it")
	limit  = flag.Int("limit", 10000, "how many worlds may be played for each fault")
)

const (
	// root is the module's, seen from here.
	root = "../../../.."
	// chunk is how many worlds are played at a time.
	chunk = 500
	// confirmations is how often a world is played again, with the fault and
	// without, before it counts: the bridge's own chance is in it. At least half of
	// the plays must show the fault, and none without.
	confirmations = 8
	// tooLong is for one chunk: a fault may make the program spin.
	tooLong = 5 * time.Minute
)

// TestMutants finds each fault of the table within the limit.
func TestMutants(t *testing.T) {
	if !*mutate {
		t.Skip("-mutate is not given: it takes some minutes")
	}
	copied := t.TempDir()
	if err := copyModule(copied); err != nil {
		t.Fatal(err)
	}
	base := &program{dir: copied, path: filepath.Join(copied, "base.test")}
	if err := base.build(); err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if !strings.Contains(m.name, *only) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			restore, err := m.put(copied)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			p := &program{dir: copied, path: filepath.Join(copied, "mutant.test")}
			if err := p.build(); err != nil {
				t.Fatal(err)
			}
			found, err := compare(base, p)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s", m.file, found)
		})
	}
}

// Each row fits the code as it is now.
func TestRowsFit(t *testing.T) {
	for _, m := range mutants {
		if _, err := m.fits(root); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// put writes the fault into the copy; restore takes it out.
func (m *mutant) put(dir string) (restore func(), err error) {
	was, err := m.fits(dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, filepath.FromSlash(m.file))
	if err := os.WriteFile(file, []byte(strings.Replace(string(was), m.old, m.new, 1)), 0o644); err != nil {
		return nil, err
	}
	return func() { _ = os.WriteFile(file, was, 0o644) }, nil
}

// fits returns the file of a fault, in which the old text is once.
func (m *mutant) fits(dir string) ([]byte, error) {
	was, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(m.file)))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(was), m.old); n != 1 {
		return nil, fmt.Errorf("%s has the text %d times, not once: the row has to follow the code\n%s", m.file, n, m.old)
	}
	return was, nil
}

// copyModule copies what the world is built from.
func copyModule(to string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if !strings.HasSuffix(rel, ".go") && rel != "go.mod" && rel != "go.sum" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}

// A program is the world's test, built with a fault or without.
type program struct {
	dir, path string
	known     map[int]map[string]bool // by seed: the violations
	played    int
}

func (p *program) build() error {
	cmd := exec.Command("go", "test", "-c", "-o", p.path, "./internal/test/world")
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v\n%s", err, out)
	}
	return nil
}

var errCrash = errors.New("the program panics, or does not end")

// play plays n worlds from a seed on, and returns the violations of each.
func (p *program) play(seed, n int) (map[int]map[string]bool, error) {
	ctx, stop := context.WithTimeout(context.Background(), tooLong)
	defer stop()
	report := p.path + ".report"
	_ = os.Remove(report)
	cmd := exec.CommandContext(ctx, p.path, "-test.run=^TestWorlds$", "-seed="+strconv.Itoa(seed), "-worlds="+strconv.Itoa(n), "-report="+report)
	cmd.Dir = filepath.Join(p.dir, "internal", "test", "world")
	_ = cmd.Run()
	f, err := os.Open(report)
	if err != nil {
		return nil, errCrash
	}
	defer f.Close()
	found := map[int]map[string]bool{}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		number, class, _ := strings.Cut(scan.Text(), "\t")
		seed, err := strconv.Atoi(number)
		if err != nil {
			return nil, err
		}
		if found[seed] == nil {
			found[seed] = map[string]bool{}
		}
		found[seed][class] = true
	}
	return found, nil
}

// to makes sure that what the program without a fault says is known so far.
func (p *program) to(n int) error {
	if p.known == nil {
		p.known = map[int]map[string]bool{}
	}
	for ; p.played < n; p.played += chunk {
		found, err := p.play(p.played, chunk)
		if err != nil {
			return err
		}
		for seed, classes := range found {
			p.known[seed] = classes
		}
	}
	return nil
}

// compare plays worlds until one shows that there is a fault.
func compare(base, p *program) (string, error) {
	for first := 0; first < *limit; first += chunk {
		if err := base.to(first + chunk); err != nil {
			return "", err
		}
		found, err := p.play(first, chunk)
		if errors.Is(err, errCrash) {
			return fmt.Sprintf("found within %d worlds: %v", first+chunk, err), nil
		}
		if err != nil {
			return "", err
		}
		for seed := first; seed < first+chunk; seed++ {
			for class := range found[seed] {
				if base.known[seed][class] {
					continue
				}
				ok, err := confirm(base, p, seed, class)
				if err != nil {
					return "", err
				}
				if ok {
					return fmt.Sprintf("found by world %d: %s", seed, class), nil
				}
			}
		}
	}
	return "", fmt.Errorf("not found in %d worlds", *limit)
}

// confirm reports whether a world has a violation with the fault, and never
// without.
func confirm(base, p *program, seed int, class string) (bool, error) {
	with := 0
	for range confirmations {
		found, err := base.play(seed, 1)
		if err != nil || found[seed][class] {
			return false, err
		}
		if found, err = p.play(seed, 1); err != nil {
			return errors.Is(err, errCrash), nil
		}
		if found[seed][class] {
			with++
		}
	}
	return with >= confirmations/2, nil
}
