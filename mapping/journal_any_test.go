package mapping_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// FuzzJournal: whatever a stored journal says, it is loaded without a panic, and editors get valid JSON.
func FuzzJournal(f *testing.F) {
	for _, lines := range []string{
		`{"goesOn":true,"task":"t1","context":"c1"}` + "\n" + `{"say":"message","task":"t1","id":"m1","as":"m1","begins":true,"text":"more"}` + "\n" + `{"say":"message","text":"one"}`,
		`{"task":"t1","as":"c2","changed":2,"tool":"{\"tool_call_id\":\"c2\",\"shown\":\"c2\",\"status\":2,\"tool_name\":\"grep\",\"kind\":\"search\"}"}` + "\n" + `{"task":"t1","as":"c2","changed":2,"was":[80,43,36],"tool":"3"}`,
		`{"as":"c","tool":"{\"tool_call_id\":\"c\"}"}` + "\n" + `{"as":"c","was":[20,9223372036854775807,9223372036854775807]}`,
		`{"say":"artifact","id":"a","as":"a~2","begins":true,"replaces":true,"text":"x"}` + "\n" + `{"say":"thought","id":"x","as":"x","subject":"s","text":"d","data":{"a":1}}`,
		`{"say":"message","id":"m","as":"m","part":{"Kind":2,"File":{"Name":"n","Bytes":"aGk="}}}` + "\n" + `{"taken":true}` + "\n" + `{"gap":true}` + "\n" + `{"answer":"c","task":"t"}` + "\n" + `{"heard":true}`,
		`{"params":{"update":{"sessionUpdate":"user_message_chunk"}}}` + "\n" + `{"model":"m"}` + "\n" + `{"notice":"n"}` + "\n" + `{"error":"e"}` + "\n" + `{"end":true}`,
	} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		fold := mapping.NewFold()
		l, v1, v2, model, journal := spell.Loader{Fold: fold}, spell.ACP{}, spell.ACP{V2: &spell.Places{}}, spell.MCP{}, spell.Journal{}
		var out []byte
		for line := range bytes.Lines(lines) {
			steps, _ := l.Line(line)
			out = journal.Append(v2.Append(v1.Append(out, steps), steps), steps)
			model.Append(steps)
		}
		steps := fold.EndTurn(true, false, nil)
		out = v2.Append(v1.Append(out, steps), steps)
		for line := range bytes.Lines(out) {
			if !json.Valid(line) {
				t.Errorf("%s", line)
			}
		}
	})
}
