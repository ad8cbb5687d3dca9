package trace

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shown is a trace as a terminal shows it.
func shown(t *testing.T, b []byte, width int, style frame.Style) string {
	t.Helper()
	r := must.Get(trace.NewReader(bytes.NewReader(b)))(t)
	var out strings.Builder
	p := &printer{w: &out, width: width, style: style, calls: map[string]string{}}
	for rec, err := range r.All() {
		must.Do(t, err)
		it := view.Of(rec)
		if rec.Kind == trace.KindStart {
			p.legend(rec, time.UTC)
		} else {
			p.item(&it)
		}
	}
	return out.String()
}

// TestShow commits what a terminal shows, so that reviews show changes: of a
// conversation with an approval, of one with a cut, and of one in A2A lines, in a pipe,
// in 80 and in 40 columns.
func TestShow(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"approval", "cut", "lines-hello"} {
		b := must.Get(os.ReadFile("../../../testdata/trace/" + name + ".jsonl"))(t)
		for _, width := range []int{0, 80, 40} {
			timeline := shown(t, b, width, false)
			for line := range strings.Lines(timeline) {
				n := utf8.RuneCountInString(line) - 1
				must.True(t, width <= 0 || n <= width, n, "columns for", width, line)
			}
			must.Equal(t, strings.Contains(timeline, "\x1b"), false, "there are colours, which were not wanted")
			if width != 80 {
				got.WriteString("# " + name + "\n" + timeline)
			}
		}
		must.Has(t, shown(t, b, 0, true), "\x1b[36m")
	}
	must.Golden(t, *update, filepath.Join("..", "..", "..", "testdata", "trace", "show.golden"), got.String())
}

// TestDecision: what was decided is said in words, with the call's name, and times are
// the user's.
func TestDecision(t *testing.T) {
	in := time.FixedZone("CET", 3600)
	start := time.Date(2026, 1, 2, 23, 30, 0, 0, time.UTC)
	var out strings.Builder
	p := &printer{w: &out, calls: map[string]string{}}
	p.legend(&trace.Record{Time: start}, in)
	for _, rec := range []trace.Record{
		{N: 1, Wire: "agent", Dir: trace.DirIn, Kind: trace.KindEvent, JSON: []byte(`{"result":{"kind":"status-update","status":{"state":"working","message":{"parts":[{"kind":"data","data":{"tool_call_id":"c1","tool_name":"Edit","status":"PENDING"}}]}}}}`)},
		{N: 2, Wire: "bridge", Kind: trace.KindDecision, What: trace.DecideAsk, Call: "c1"},
		{N: 3, Wire: "bridge", Kind: trace.KindDecision, What: trace.DecideAnswer, Call: "c1", Option: "p", Outcome: "reject_always", By: "mode"},
	} {
		it := view.Of(&rec)
		p.item(&it)
	}
	must.Has(t, out.String(), "2026-01-03 00:30:00 CET", "ask  Edit\n", "answer  Edit: rejected from then on by the mode (p)\n")
}

// TestExportFails: an incomplete file is removed, and what is no file is not.
func TestExportFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	link := file + "-link"
	must.Do(t, os.Symlink(os.DevNull, link))
	for _, path := range []string{file, link} {
		must.Fail(t, exportTo(&frame.Program{}, path, func(io.Writer) error { return errors.New("no") }), "no", path)
	}
	_, err := os.Lstat(file)
	_, linkErr := os.Lstat(link)
	must.True(t, errors.Is(err, os.ErrNotExist) && linkErr == nil, err, linkErr)
}
