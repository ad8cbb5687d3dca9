package mapping_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
)

// hectorParts are parts as JSON: what begins with { is data, all else is text.
func hectorParts(texts ...string) string {
	var parts []string
	for _, text := range texts {
		raw, _ := json.Marshal(text)
		part := `{"kind":"text","text":` + string(raw) + `}`
		if strings.HasPrefix(text, "{") {
			part = `{"kind":"data","data":` + text + `}`
		}
		parts = append(parts, part)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// TestHector: of an answer, which comes in pieces and then whole, each word is shown once:
// live, and by a snapshot of the artifact that holds all of it.
func TestHector(t *testing.T) {
	const use, result = `{"type":"tool_use"}`, `{"type":"tool_result"}`
	type said struct {
		partial bool
		parts   []string
	}
	piece := func(parts ...string) said { return said{true, parts} }
	whole := func(parts ...string) said { return said{false, parts} }
	for _, row := range []struct {
		name string
		says []said
		want string
	}{
		{"one piece", []said{piece("yes"), whole("yes")}, "yes"},
		{"pieces that repeat", []said{piece("ha"), piece("ha"), whole("haha")}, "haha"},
		{"a list", []said{piece("- one\n"), piece("- one\n"), piece("- one\n"), piece("- one"), whole("- one\n- one\n- one\n- one")}, "- one\n- one\n- one\n- one"},
		{"two agents", []said{piece("The first"), piece(" says this."), whole("The first says this."), piece("The other"), piece(" says that."), whole("The other says that.")},
			"The first says this.The other says that."},
		{"two agents, shortly", []said{piece("yes"), whole("yes"), piece("no"), whole("no")}, "yesno"},
		{"a tool", []said{piece("I look."), piece(use), whole("I look.", use), whole(result), piece("It"), piece(" is 4."), whole("It is 4.")}, "I look.It is 4."},
		{"not streamed", []said{whole("I look.", use), whole(result), whole("It is 4.")}, "I look.It is 4."},
		{"not streamed, and twice alike", []said{whole("I look.", use), whole(result), whole("I look.", use), whole(result), whole("It is 4.")}, "I look.I look.It is 4."},
		{"twice alike", []said{piece("I look."), piece(use), whole("I look.", use), whole(result), piece("I"), piece(" look."), whole("I look.", use), whole(result), piece("4"), whole("4")}, "I look.I look.4"},
		{"no hector: what is not partial ends the pieces", []said{piece("a"), piece(" b"), whole(" c")}, "a b c"},
		{"unfinished", []said{piece("a "), piece("b "), piece("b "), piece("c")}, "a b b c"},
		{"unfinished, from the start", []said{piece("ha"), piece("ha")}, "haha"},
	} {
		var held []string
		fold, late := mapping.NewFold(), mapping.NewFold()
		fold.Begin("")
		late.Begin("t")
		late.Speak("hector")
		got := ""
		for i, s := range row.says {
			held = append(held, s.parts...)
			raw := fmt.Sprintf(`{"kind":"artifact-update","taskId":"t","contextId":"c","append":%v,"artifact":{"artifactId":"a","parts":%s},"metadata":{"author":"x","event_id":"e%d","partial":%v}}`,
				i > 0, hectorParts(s.parts...), i, s.partial)
			for _, step := range fold.Event(shown.Live, decode(t, raw), nil) {
				if !step.Repeats {
					got += step.Text
				}
			}
		}
		if got != row.want {
			t.Errorf("%s: live %q", row.name, got)
		}
		state := "completed"
		if strings.HasPrefix(row.name, "unfinished") {
			state = "working"
		}
		task := decode(t, `{"kind":"task","id":"t","contextId":"c","status":{"state":"`+state+`"},"artifacts":[{"artifactId":"a","parts":`+hectorParts(held...)+`}]}`)
		for want, f := range map[string]*mapping.Fold{row.want: late, "": fold} {
			got := ""
			for _, step := range f.Event(shown.Snapshot, task, nil) {
				if !step.Repeats {
					got += step.Text
				}
			}
			if got != want {
				t.Errorf("%s: the snapshot adds %q, and not %q", row.name, got, want)
			}
		}
	}
}

// TestHectorLong: what a snapshot of very many pieces costs grows with them.
func TestHectorLong(t *testing.T) {
	pieces := strings.Split(strings.Repeat("ab,", 100_000), ",")
	fold := mapping.NewFold()
	fold.Begin("t")
	fold.Speak("hector")
	steps := fold.Event(shown.Snapshot, decode(t, `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":`+hectorParts(pieces...)+`}]}`), nil)
	text := ""
	if len(steps) > 0 {
		text = steps[len(steps)-1].Text
	}
	if len(steps) < len(pieces)-1 || text != "ab" {
		t.Errorf("%d steps, %q", len(steps), text)
	}
}
