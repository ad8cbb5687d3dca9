package spell

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// FuzzAppendText: copying the agent's own encoding shows the same text as
// encoding it anew.
func FuzzAppendText(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u00e9\n"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\/"`, "\"\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var text string
		if json.Unmarshal([]byte(s), &text) != nil || !strings.HasPrefix(s, `"`) || !strings.HasSuffix(s, `"`) {
			return
		}
		copied := appendText(nil, &mapping.Step{Text: text, TextJSON: a2a.JSON(s)})
		var back string
		if err := json.Unmarshal(copied, &back); err != nil || back != text || !utf8.Valid(copied) {
			t.Fatalf("%q became %q (%v)", s, copied, err)
		}
	})
}
