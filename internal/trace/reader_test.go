package trace

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// head is the first line of a trace, as a program of some format writes it.
func head(format int, run string) string {
	return fmt.Sprintf(`{"n":1,"t":"2026-01-02T03:04:05.000000Z","us":0,"wire":"bridge","kind":"start","format":%d,"run":"%s","part":1,"limit":1}`+"\n", format, run)
}

func message(n int) string {
	return fmt.Sprintf(`{"n":%d,"t":"2026-01-02T03:04:05.000000Z","us":%d,"wire":"editor","dir":"in","kind":"message","json":{"n":%d}}`+"\n", n, n, n)
}

// read reads all there is, and returns the numbers of the records.
func read(t *testing.T, r *Reader) (numbers []int64) {
	t.Helper()
	for {
		record, err := r.Next()
		if err == io.EOF {
			return numbers
		}
		must.Do(t, err)
		numbers = append(numbers, record.N)
	}
}

// TestReader: the reader notes faults in a trace, and reads the rest.
func TestReader(t *testing.T) {
	for _, test := range []struct {
		name, trace string
		want        []int64
		note        string
	}{
		{"all is well", head(2, "a") + message(2) + message(3), []int64{1, 2, 3}, ""},
		{"a line is cut off", head(2, "a") + message(2) + message(3)[:40], []int64{1, 2}, "the last line is cut off"},
		{"the last newline is missing", head(2, "a") + strings.TrimSuffix(message(2), "\n"), []int64{1, 2}, ""},
		{"from the future", head(9, "a") + `{"n":2,"t":"2026-01-02T03:04:05Z","us":1,"wire":"moon","kind":"eclipse","new":{}}` + "\n", []int64{1, 2}, "this trace has format 9, and this program knows 2"},
		{"garbage", head(2, "a") + "what\n\n[1]\n{}\n" + message(2), []int64{1, 2}, "line 2 is no record"},
		{"numbers that go back", head(2, "a") + message(2) + message(7) + message(3), []int64{1, 2, 7, 3}, "records 3 to 6 are missing"},
		{"a gap", head(2, "a") + message(2) + message(7), []int64{1, 2, 7}, "records 3 to 6 are missing"},
		{"two runs", head(2, "a") + message(2) + head(2, "b") + message(2), []int64{1, 2, 1, 2}, "another run begins at line 3"},
		{"empty", "", nil, ""},
	} {
		r, err := NewReader(strings.NewReader(test.trace))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		must.Equal(t, read(t, r), test.want, test.name)
		if notes := strings.Join(r.Notes(), "\n"); (notes == "") != (test.note == "") || !strings.Contains(notes, test.note) {
			t.Errorf("%s: the notes are %q, want %q", test.name, notes, test.note)
		}
	}
	r := must.Get(NewReader(strings.NewReader(head(2, "a") + message(2) + message(3))))(t)
	r.Next()
	must.True(t, r.Notes() == nil, "within a trace that is whole, the notes are", r.Notes())
	for _, none := range []string{"hello\n", "{}\n{}\n", `{"a":1}`, strings.Repeat("x\n", 5000) + head(2, "a")} {
		_, err := NewReader(strings.NewReader(none))
		must.True(t, err != nil, none, "is read as a trace")
	}
}

// TestReaderMemory: reading takes the memory of the longest line, whatever the trace's
// size.
func TestReaderMemory(t *testing.T) {
	const lines = 20_000
	pr, pw := io.Pipe()
	go func() { // ends when all is written, or nobody reads
		defer pw.Close()
		io.WriteString(pw, head(2, "a"))
		text := strings.Repeat("x", 300)
		for n := range lines {
			if n%100 == 99 {
				io.WriteString(pw, "garbage\n")
			}
			if _, err := fmt.Fprintf(pw, `{"n":%d,"t":"2026-01-02T03:04:05.000000Z","us":1,"wire":"editor","kind":"message","text":"%s"}`+"\n", n+2, text); err != nil {
				return
			}
		}
	}()
	r := must.Get(NewReader(pr))(t)
	must.Equal(t, len(read(t, r)), lines+1)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if len(r.lines.buf) > 128<<10 || len(r.Notes()) != maxNotes+1 {
		t.Errorf("a buffer of %d bytes, %d notes", len(r.lines.buf), len(r.Notes()))
	}
}

// TestFollow: a follower gets what is written later, also to a file that is begun anew.
func TestFollow(t *testing.T) {
	path := must.File(t, head(2, "a")+message(2)+message(3)[:40], t.TempDir(), "t.jsonl")
	r := must.Get(Open(path, nil))(t)
	defer r.Close()
	for _, step := range []struct {
		text string
		want []int64
	}{
		{head(2, "a") + message(2) + message(3)[:40], []int64{1, 2}},
		{head(2, "a") + message(2) + message(3) + message(4), []int64{3, 4}},
		{head(2, "b"), []int64{1}},
		{head(2, "b") + message(2), []int64{2}},
	} {
		must.File(t, step.text, path)
		must.Do(t, r.Wait(t.Context()))
		must.Equal(t, read(t, r), step.want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.True(t, r.Wait(ctx) != nil, "waiting does not end")
}

// A file whose positions are in use is followed until it is moved aside, and that is told.
func TestFollowMoved(t *testing.T) {
	path := must.File(t, head(2, "a"), t.TempDir(), "t.jsonl")
	r := must.Get(Open(path, nil))(t)
	defer r.File().Close()
	read(t, r)
	must.Do(t, os.Rename(path, path+".1"))
	must.File(t, head(2, "a"), path)
	if err := r.Wait(t.Context()); err == nil || !strings.Contains(strings.Join(r.Notes(), " "), "FILE.1") {
		t.Errorf("it waits with %v, and notes %q", err, r.Notes())
	}
}

// A file that is followed for long is opened once, where the system tells what is open.
func TestFollowOpensOnce(t *testing.T) {
	path := must.File(t, head(2, "a"), t.TempDir(), "t.jsonl")
	r := must.Get(Open(path, nil))(t)
	defer r.File().Close()
	read(t, r)
	opened := func() (n int) {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not tell which files are open")
		}
		for _, fd := range list {
			if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == path {
				n++
			}
		}
		return n
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what is forgotten
	for range 3 {
		must.Do(t, r.Wait(t.Context()))
	}
	must.Equal(t, opened(), 1, "how often it is open")
}

// FuzzReader: whatever a file holds, reading it ends, and what was written is read.
func FuzzReader(f *testing.F) {
	f.Add([]byte(head(2, "a")+message(2)), []byte(`{"a":1}`))
	f.Add([]byte("{\n"), []byte("caf\xe9\n\x00"))
	f.Fuzz(func(t *testing.T, file, payload []byte) {
		r, err := NewReader(strings.NewReader(string(file)))
		if err == nil {
			read(t, r)
			r.Notes()
		}
		var out strings.Builder
		w := New(&out, &Options{})
		w.Tap(true, payload)
		w.Close()
		r = must.Get(NewReader(strings.NewReader(out.String())))(t)
		r.Next()
		record := must.Get(r.Next())(t)
		if got, whole := record.Payload(); !record.Masked && (!whole || string(got) != string(payload)) {
			t.Fatalf("%q is read as %q", payload, got)
		}
	})
}

// TestDocument: the document names every member, kind, reason and decision that
// there is, and the schema every member.
func TestDocument(t *testing.T) {
	doc := must.Get(os.ReadFile("../../docs/trace-format.md"))(t)
	schema := must.Get(os.ReadFile("../../testdata/schema/trace.schema.json"))(t)
	words := []string{KindStart, KindMessage, KindStderr, KindRequest, KindResponse, KindEvent, KindBody, KindEnd, KindDecision, KindStop,
		EndDone, EndEOF, EndCut, EndClosed, EndCanceled, EndFailed, EndOpen,
		DecideLost, DecideReconnect, DecidePoll, DecideGiveUp, DecideSettle, DecideAsk, DecideAnswer, DecideMerge, DecideFold, DecideCancel}
	gjson.GetBytes(schema, "properties").ForEach(func(name, _ gjson.Result) bool {
		words = append(words, name.Str)
		return true
	})
	must.True(t, len(words) >= 70, len(words), "words")
	for _, word := range words {
		must.Has(t, string(doc), "`"+word+"`")
	}
}
