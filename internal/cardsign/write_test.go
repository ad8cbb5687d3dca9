package cardsign

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// Python's json.dumps writes ASCII, sorts by code points and has floats of its own
// kind: each of these was written by CPython 3.11.
func TestPython(t *testing.T) {
	const in = `{"\ufb33":1,"\ud83d\ude00":"\u007fé😀\b\"","f":[1.0,1e16,123456789012345680.0,1e-5,0.0001,-0.0,1.5e300,100,-7]}`
	v := must.Get(parseObject([]byte(in)))(t)
	const want = `{"f":[1.0,1e+16,1.2345678901234568e+17,1e-05,0.0001,-0.0,1.5e+300,100.0,-7.0],"\ufb33":1.0,"\ud83d\ude00":"\u007f\u00e9\ud83d\ude00\b\""}`
	if got := string(pythonDumps(v)); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
}

// JSON that readers interpret differently is refused.
func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		`[]`, ``, `{"a":1}x`, `{"a":01}`, `{"a":1,"a":1}`, `{"a":{"b":[{"c":1,"\u0063":2}]}}`, `{"a":1e400}`, `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`,
		`{"a":"\ud800\u0041"}`, `{"a":"\ud800x"}`, `{"\udfff":1}`, "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		if v, err := parseObject([]byte(in)); err == nil {
			t.Errorf("%.60s: %v", in, v)
		}
	}
	if _, err := parseObject([]byte(`{"a":"\\ud800 \"\\","😀":"\ud83d\ude00\\"}`)); err != nil {
		t.Error(err)
	}
}
