package rawjson_test

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// FuzzLarge: what is compared with an event before is valid, and ends, where it does if it is read.
func FuzzLarge(f *testing.F) {
	schema := `{"schema":{"type":"object","about":"` + strings.Repeat("words ", 100) + `"}}`
	f.Add(`[`+schema+`]`, `[`+schema+`]`)
	f.Add(`[`+schema+`,1]`, `[[],`+schema+`,2]`)
	f.Add(`[`+schema+`]`, `[[`+schema+`]]`)
	f.Add(`[`+schema+`]`, `[`+schema[:len(schema)-1])
	f.Add(`[`+schema+`]`, `[`+schema+schema+`]`)
	f.Fuzz(func(t *testing.T, was, now string) {
		var l fastpath.Large
		for _, s := range []string{was, now} {
			s = `{"so":"` + strings.Repeat("large ", 200) + `","v":` + s + `}`
			l.Begin(s)
			valid := rawjson.Valid([]byte(s))
			if got := rawjson.ValidBut([]byte(s), l.Note); got != valid {
				t.Fatalf("valid: %v, not %v", got, valid)
			}
			if !valid {
				return
			}
			for i := range s {
				if n := l.Len(s[i:]); n > 0 && i+n != rawjson.SkipValue(s, i) {
					t.Fatalf("%s has a length of %d", s[i:], n)
				}
			}
			l.Keep()
		}
	})
}
