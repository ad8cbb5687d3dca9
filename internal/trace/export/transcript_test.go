package export

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/tracetest"
)

// reader reads a trace that is there.
func reader(t *testing.T, b []byte) *trace.Reader {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTranscript: a trace of a transcript is that transcript: both wires, the time
// between, and how connections end.
func TestTranscript(t *testing.T) {
	for _, name := range []string{"approval", "cut", "lines-hello"} {
		path := "../../../testdata/trace/" + name + ".txt"
		var got strings.Builder
		if err := Transcript(reader(t, tracetest.Record(t, path, nil)), &got); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := "# From a trace of 2000-01-01.\ncard " + tracetest.DefaultCard + "\n"
		for line := range strings.Lines(string(b)) {
			if !strings.HasPrefix(line, "#") {
				want += line
			}
		}
		if sorted(got.String()) != sorted(want) {
			t.Errorf("%s: %s", name, difference(want, got.String()))
		}
	}
	for _, bad := range []*trace.Options{{Redact: true}, {Limit: 10}} {
		var out strings.Builder
		if err := Transcript(reader(t, tracetest.Record(t, "../../../testdata/trace/approval.txt", bad)), &out); err == nil {
			t.Errorf("%+v: a transcript is made of what is not there", bad)
		}
	}
}

// sorted is a transcript whose card has no order of members, and which ends in no
// particular order: what ends then ends at the same time.
func sorted(s string) string {
	s = strings.Replace(s, tracetest.DefaultCard, "CARD", 1)
	if i := strings.Index(s, "\ncard {"); i >= 0 {
		rest := s[i+1:]
		s = s[:i+1] + "card CARD" + rest[strings.Index(rest, "\n"):]
	}
	return s
}

func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d:\n%s", len(g), len(w), got)
}
