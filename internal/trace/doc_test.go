package trace

import (
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

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
	if len(words) < 70 {
		t.Errorf("only %d words", len(words))
	}
	for _, word := range words {
		if !strings.Contains(string(doc), "`"+word+"`") {
			t.Errorf("docs/trace-format.md has no `%s`", word)
		}
	}
}
