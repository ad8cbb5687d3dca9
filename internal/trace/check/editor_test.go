package check

import (
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
)

// TestRest: of a trace whose beginning was moved aside nothing is found that could be there.
func TestRest(t *testing.T) {
	for _, name := range []string{"approval", "lines-hello"} {
		r := must.Get(trace.Open("../../../testdata/trace/"+name+".jsonl", nil))(t)
		c := New(&Options{Picks: func(f *Finding) bool { return f.Who != Agent }, Report: func(f *Finding) { t.Errorf("%s: %v", name, f) }})
		for rec, err := range r.All() {
			switch {
			case err != nil:
				t.Fatal(err)
			case rec.Kind == trace.KindStart:
				rec.N = 12
				c.Add(rec)
			case rec.N > 12:
				c.Add(rec)
			}
		}
		c.End()
	}
}
