package talk

import (
	"encoding/json"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
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
			_ = V1Event(a2a.JSON(in)) // it ends
			return
		}
		once := V1Event(a2a.JSON(in))
		if !json.Valid(once) {
			t.Fatalf("%q became %q", in, once)
		}
		if twice := V1Event(a2a.JSON(once)); string(twice) != string(once) {
			t.Fatalf("%q became %q and then %q", in, once, twice)
		}
	})
}

// TestV1: 0.3 becomes 1.0, with all unknown members; 1.0 stays unchanged, but for the order of its members.
func TestV1(t *testing.T) {
	for in, want := range map[string]string{
		`{"kind":"status-update","taskId":"t","final":true,"status":{"state":"input-required","message":{"kind":"message","role":"agent","parts":[{"kind":"text","text":"a","metadata":{"kind":"kept"}}],"x":1}},"metadata":{"kind":"kept"}}`: `{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"role":"ROLE_AGENT","parts":[{"text":"a","metadata":{"kind":"kept"}}],"x":1}},"metadata":{"kind":"kept"}}}`,
		`{"kind":"artifact-update","artifact":{"artifactId":"a","parts":[{"kind":"file","file":{"name":"n","mimeType":"m","uri":"u"}},{"kind":"data","data":{"kind":"kept"}}]},"lastChunk":true}`:                                             `{"artifactUpdate":{"artifact":{"artifactId":"a","parts":[{"filename":"n","mediaType":"m","url":"u"},{"data":{"kind":"kept"}}]},"lastChunk":true}}`,
		`{"kind":"message","role":"user","parts":null}`:                                                          `{"message":{"role":"ROLE_USER"}}`,
		`{"id":"t","status":{"state":"made-up"},"artifacts":7}`:                                                  `{"task":{"id":"t","status":{"state":"made-up"},"artifacts":7}}`,
		`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},"history":[{"role":"ROLE_USER"}]}}`:           `{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},"history":[{"role":"ROLE_USER"}]}}`,
		`{"statusUpdate":{"taskId":"t","status":{"state":3}}}`:                                                   `{"statusUpdate":{"taskId":"t","status":{"state":3}}}`,
		`{"artifactUpdate":{"artifact":{"parts":[{"raw":"AA==","filename":"f"}]},"somethingElse":{"kind":"x"}}}`: `{"artifactUpdate":{"artifact":{"parts":[{"raw":"AA==","filename":"f"}]},"somethingElse":{"kind":"x"}}}`,
		`{"task":{"id":"t","status":{"state":"TASK_STATE_CANCELLED","update":{"role":"ROLE_AGENT","content":[{"data":{"data":{"k":1}}},{"file":{"fileWithBytes":"QUE9PQ==","mimeType":"m"}}]}}}}`: `{"task":{"id":"t","status":{"state":"TASK_STATE_CANCELED","message":{"role":"ROLE_AGENT","parts":[{"data":{"k":1}},{"raw":"AA==","mediaType":"m"}]}}}}`,
		`{"unheardOf":{"kind":"x"}}`: `{"unheardOf":{"kind":"x"}}`,
		`7`:                          `7`,
	} {
		var ordered any
		must.Do(t, json.Unmarshal([]byte(want), &ordered))
		sorted, _ := json.Marshal(ordered)
		if got := string(V1Event(a2a.JSON(in))); got != string(sorted) {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}
