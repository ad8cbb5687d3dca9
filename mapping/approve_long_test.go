package mapping_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// TestLongQuestions: no size of anything that the agent says takes a line of ours away.
// What is not shown is said first, allows nothing for ever, and is in the raw input.
func TestLongQuestions(t *testing.T) {
	long := strings.Repeat("x", 1_100_000)
	const options = `"options":[{"id":"proceed_always","name":"Always allow"},{"id":"reject","name":"Reject"},{"id":"allow","name":"Allow"}]`
	for name, row := range map[string]struct {
		call  string
		left  string // not shown of what is asked
		shown []string
	}{
		"a description": {`"description":"` + long + `","confirmation_request":{` + options + `,"execute_details":{"command":"rm -rf /","working_directory":"/etc"}}`, "",
			[]string{"Run:\n\n```\nrm -rf /\n```", "In: `/etc`", "The agent says:", "1,096,000 characters more are not shown"}},
		"an option": {`"confirmation_request":{` + strings.Replace(options, `"name":"Allow"`, `"name":"Allow","description":"`+long+`"`, 1) + `,"execute_details":{"command":"rm -rf /"}}`, "",
			[]string{"Run:\n\n```\nrm -rf /\n```", "Of the options:"}},
		"a command": {`"confirmation_request":{` + options + `,"execute_details":{"command":"git status` + strings.Repeat(" ", 250) + long + `; rm -rf /"}}`, "1,080,270 characters",
			[]string{"git status   ", "1,080,270 characters are not shown here", "xx; rm -rf /\n"}},
		"a path": {`"confirmation_request":{` + options + `,"file_edit_details":{"file_path":"/w/` + long + `/evil","new_content":"x"}}`, "1,080,008 characters",
			[]string{"Write:\n\n```\n/w/xx", "xx/evil\n"}},
		"an input": {`"input_parameters":{"a":"` + long + `","z":"evil"},"confirmation_request":{` + options + `,"mcp_details":{"server_name":"s","tool_name":"t"}}`, "1,080,",
			[]string{"Tool: `t`", "MCP server: `s`", `xx","z":"evil"}`}},
		"what does not show": {`"confirmation_request":{` + options + `,"execute_details":{"command":"ls ` + strings.Repeat("\U000E01F0", 20_000) + `; rm -rf /"}}`, "17,780 characters",
			[]string{`ls \u{E01F0}`, `\u{E01F0}; rm -rf /`}},
		"an input that is a list": {`"input_parameters":["rm -rf /"],"confirmation_request":{` + options + `,"execute_details":{"command":"ls"}}`, "",
			[]string{"Run:\n\n```\nls\n```", "rm -rf /"}},
		"what the agent says beside": {`"input_parameters":{"command":"ls"},"confirmation_request":{` + options + `,"execute_details":{"command":"ls","shell":"` + long + `evil"}}`, "1,080,",
			[]string{"Run:\n\n```\nls\n```", "The agent also says:", `{"execute_details":{"shell":"xx`, `xxevil"}}`}},
		"a further member": {`"input_parameters":{ },"args":"` + long + `evil","confirmation_request":{` + options + `,"execute_details":{"command":"ls"}}`, "1,080,",
			[]string{"Run:\n\n```\nls\n```", "The agent also says:", `{"args":"xx`, `xxevil"}`}},
		"nothing long": {`"confirmation_request":{` + options + `,"execute_details":{"command":"ls"}}`, "", []string{"Run:\n\n```\nls\n```"}},
	} {
		p := askedBy(t, `{"tool_call_id":"c","status":"PENDING","tool_name":"sh",`+row.call+`}`, nil)
		text := ""
		for _, piece := range p.Get("toolCall.content").Array() {
			text += piece.Get("content.text").Str
		}
		if len(text) > 700_000 {
			t.Errorf("%s: the question has %d bytes", name, len(text))
		}
		if begins := strings.HasPrefix(text, "Warning: "+row.left); row.left != "" && !begins || strings.HasPrefix(text, "Warning") != (row.left != "") {
			t.Errorf("%s: it begins with %.80q", name, text)
		}
		for _, want := range row.shown {
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
		if row.left != "" {
			want = "allow reject"
		}
		must.Equal(t, strings.Join(ids, " "), want, "the options are", name)
		if raw := p.Get("toolCall.rawInput").Raw; row.left != "" && len(raw) < 60_000 || !gjson.Valid(raw) || raw == "" && name != "nothing long" {
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
		for i, call := range fold.Open() {
			q := mapping.NewQuestion(call)
			p := string((&spell.ACP{Session: "s", Cwd: "/w", V2: v2}).Permission(q))
			if _, always := q.AllowAlways(); !always || strings.Count(p, "Write: `/w/a`") < 1 || i == 1 && !strings.Contains(p, `"newText"`) && !strings.Contains(p, `"patch"`) {
				t.Errorf("v2 %t, %d: always is offered: %t; the question begins with %.300s", v2 != nil, i, always, p)
			}
		}
	}
}

// TestChangedInTheMiddle: a question of any length that changes anywhere is another question.
func TestChangedInTheMiddle(t *testing.T) {
	pad := strings.Repeat("# a comment\n", 600)
	said := func(port string) string {
		text, _ := json.Marshal(pad + "port = " + port + "\n" + pad)
		return `{"tool_call_id":"c","status":"PENDING","tool_name":"write","confirmation_request":{"options":[{"id":"y","name":"Allow"},{"id":"n","name":"Reject"}],` +
			`"file_edit_details":{"file_path":"/w/a.conf","new_content":` + string(text) + `}}}`
	}
	f := speaking()
	f.Event(shown.Live, dataEvent(said("8080")), nil)
	f.Answered("c", true)
	steps := f.Event(shown.Live, dataEvent(said("9090")), nil)
	if open := f.Open(); len(open) != 1 || !strings.Contains(open[0].Confirmation.Edit.NewContent, "port = 9090") || len(steps) == 0 {
		t.Errorf("%d questions, %d steps", len(f.Open()), len(steps))
	}
}
