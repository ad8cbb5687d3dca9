package mapping_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// TestAsked: the user always sees what a call asks, whatever the agent adds to it, all that is said beside, and what
// the options mean. testdata/asked.txt has calls, and what is asked: the title, the text and the change as ACP shows
// them, the options with what they do, and what version 2 shows it as.
func TestAsked(t *testing.T) {
	const file = "testdata/asked.txt"
	cases := strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n\n== ")
	for i, text := range cases[1:] {
		lines := strings.SplitN(text, "\n", 3)
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n%s\n", lines[0], lines[1])
		p := askedBy(t, lines[1], nil).Get("toolCall")
		fmt.Fprintf(&b, "= %s\n", p.Get("title").Str)
		for _, piece := range p.Get("content").Array() {
			for line := range strings.Lines(piece.Get("content.text").Str) {
				fmt.Fprintf(&b, "\t%s\n", strings.TrimSuffix(line, "\n"))
			}
			if piece.Get("type").Str == "diff" {
				fmt.Fprintf(&b, "\tdiff of %s: %q\n", piece.Get("path").Str, piece.Get("newText").Str)
			}
		}
		for _, o := range askedBy(t, lines[1], nil).Get("options").Array() {
			fmt.Fprintf(&b, "- %s: %s\n", o.Get("name").Str, o.Get("kind").Str)
		}
		fmt.Fprintf(&b, "in version 2: %s", askedBy(t, lines[1], &spell.Places{}).Get("subject.type").Str)
		cases[i+1] = b.String()
	}
	must.Golden(t, *update, file, strings.Join(cases, "\n\n== ")+"\n")
}

// askedBy returns the parameters of session/request_permission about a call of the
// development-tool extension.
func askedBy(t *testing.T, call string, v2 *spell.Places) gjson.Result {
	t.Helper()
	fold := speaking()
	fold.Event(shown.Live, dataEvent(call), nil)
	if len(fold.Calls.Open()) != 1 {
		t.Fatalf("not a question: %s", call)
	}
	return gjson.ParseBytes((&spell.ACP{Session: "s", Cwd: "/w", V2: v2}).Permission(mapping.NewQuestion(fold.Calls.Open()[0])))
}

// TestLongQuestions: no size of anything that the agent says takes a line of ours away.
// What is not shown is said first, allows nothing for ever, and is in the raw input.
func TestLongQuestions(t *testing.T) {
	long := strings.Repeat("x", 1_100_000)
	const options = `"options":[{"id":"proceed_always","name":"Always allow"},{"id":"reject","name":"Reject"},{"id":"allow","name":"Allow"`
	words := strings.NewReplacer("$OPTIONS", options+"}]", "$TOLD", options+`,"description":"`+long+`"}]`, "$LONG", long,
		"$BLANKS", strings.Repeat(" ", 250), "$TAGS", strings.Repeat("\U000E01F0", 20_000))
	for _, row := range must.Table[struct{ Name, Call, Left, Shown string }](t, "testdata/long.txt") {
		name := row.Name
		p := askedBy(t, `{"tool_call_id":"c","status":"PENDING","tool_name":"sh",`+words.Replace(row.Call[1:]), nil)
		text := ""
		for _, piece := range p.Get("toolCall.content").Array() {
			text += piece.Get("content.text").Str
		}
		if len(text) > 700_000 {
			t.Errorf("%s: the question has %d bytes", name, len(text))
		}
		if begins := strings.HasPrefix(text, "Warning: "+row.Left); row.Left != "" && !begins || strings.HasPrefix(text, "Warning") != (row.Left != "") {
			t.Errorf("%s: it begins with %.80q", name, text)
		}
		for _, want := range strings.Split(row.Shown, "|") {
			at := strings.Index(text, want)
			if at < 0 {
				t.Errorf("%s: %q is not in %.300q … %.300q", name, want, text, text[max(0, len(text)-300):])
			}
			text = text[max(at, 0):]
		}
		var ids []string
		for _, o := range p.Get("options").Array() {
			ids = append(ids, o.Get("optionId").Str)
		}
		want := "allow proceed_always reject"
		if row.Left != "" {
			want = "allow reject"
		}
		must.Equal(t, strings.Join(ids, " "), want, "the options are", name)
		if raw := p.Get("toolCall.rawInput").Raw; row.Left != "" && len(raw) < 60_000 || !gjson.Valid(raw) || raw == "" && name != "nothing long" {
			t.Errorf("%s: the raw input has %d bytes", name, len(raw))
		}
	}
}

// TestLongChanges: a change takes no line of ours away, and is shown where a lasting permission is offered.
func TestLongChanges(t *testing.T) {
	lines := strings.Repeat(strings.Repeat("😀", 999)+"\n", 500)
	text := strings.Repeat("a line of text\n", 40_000)
	for _, v2 := range []*spell.Places{nil, {}} {
		fold := speaking()
		for i, edit := range []map[string]string{{"formatted_diff": lines}, {"old_content": text, "new_content": text[1:]}} {
			edit["file_path"] = "/w/a"
			raw, _ := json.Marshal(edit)
			fold.Event(shown.Live, dataEvent(fmt.Sprintf(`{"tool_call_id":"%d","status":"PENDING","tool_name":"write","confirmation_request":{"options":[{"id":"always"}],"file_edit_details":%s}}`, i, raw)), nil)
		}
		for i, call := range fold.Calls.Open() {
			q := mapping.NewQuestion(call)
			p := string((&spell.ACP{Session: "s", Cwd: "/w", V2: v2}).Permission(q))
			if _, always := q.AllowAlways(); !always || strings.Count(p, "Write: `/w/a`") < 1 || i == 1 && !strings.Contains(p, `"newText"`) && !strings.Contains(p, `"patch"`) {
				t.Errorf("v2 %t, %d: always is offered: %t; the question begins with %.300s", v2 != nil, i, always, p)
			}
		}
	}
}
