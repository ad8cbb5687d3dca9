package cli

import (
	"encoding/json"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Fuzz: what is JSON stays JSON, and what is spelled as 1.0 stays as it is.
func FuzzV1(f *testing.F) {
	f.Add(`{"kind":"status-update","taskId":"t","final":true,"status":{"state":"working","message":{"kind":"message","role":"agent","parts":[{"kind":"text","text":"a\nb"},null,[],7]}}}`)
	f.Add(`{"kind":"artifact-update","artifact":{"parts":[{"kind":"file","file":{"name":"n","bytes":"AA=="}},{"file":7}]}}`)
	f.Add(` { "task" : { "id" : "t" , "artifacts" : [ { "parts" : [ ] } , ] , "history" : null } } `)
	f.Add(`{"\u006bind":"task","status":{"state":"x"},"id":1,"a\"b":{}}`)
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			_ = v1Event(a2a.JSON(in)) // it ends
			return
		}
		once := v1Event(a2a.JSON(in))
		if !json.Valid(once) {
			t.Fatalf("%q became %q", in, once)
		}
		if twice := v1Event(a2a.JSON(once)); string(twice) != string(once) {
			t.Fatalf("%q became %q and then %q", in, once, twice)
		}
	})
}
