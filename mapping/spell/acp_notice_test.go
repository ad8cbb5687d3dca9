package spell

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
)

// An editor that takes notices is told once when the connection was not back at once, and
// once when it is back. It is not told of a short interruption. Other editors get the
// warnings as text.
func TestNotices(t *testing.T) {
	steps := func(phases ...mapping.Connection) (all []mapping.Step) {
		for _, c := range phases {
			all = append(all, mapping.Step{Kind: mapping.StepConnection, Connection: c})
		}
		return all
	}
	lost, back := mapping.Connection{Phase: "lost"}, mapping.Connection{Phase: "resumed"}
	try := func(n int) mapping.Connection { return mapping.Connection{Phase: "retrying", Attempt: n} }
	const told, over, gap = "warning: The connection to the agent is lost. It is tried again until it is back.",
		"info: The connection to the agent is back.",
		"warning: The connection to the agent was lost, and the agent may not hold all that it said meanwhile."
	for _, test := range []struct {
		name  string
		steps []mapping.Step
		want  []string
	}{
		{"short", steps(lost, try(1), back), nil},
		{"long", steps(lost, try(1), try(2), try(3), back, back), []string{told, over}},
		{"twice", steps(lost, try(1), try(2), back, lost, try(1), try(2)), []string{told, over, told}},
		{"gap", steps(lost, try(1), mapping.Connection{Phase: "resumed", Gap: true}), []string{gap}},
		{"harmless", []mapping.Step{{Kind: mapping.StepNotice, Text: "[The agent is being started.]\n\n", Harmless: true}}, []string{"info: The agent is being started."}},
		{"long text", []mapping.Step{{Kind: mapping.StepNotice, Text: "\n[The first sentence is the title of what is told here. And this is the rest: of it.]\n"}},
			[]string{"warning: The first sentence is the title of what is told here | And this is the rest: of it."}},
		{"nothing", []mapping.Step{{Kind: mapping.StepNotice, Text: "\n"}}, nil},
	} {
		out := ACP{Session: "s", Notices: true}
		var got []string
		for line := range strings.Lines(string(out.Append(nil, test.steps))) {
			u := gjson.Get(line, "params.update")
			text := u.Get("severity").Str + ": " + u.Get("title").Str
			if d := u.Get("description"); d.Exists() {
				text += " | " + d.Str
			}
			if u.Get("sessionUpdate").Str != "notice" {
				t.Errorf("%s: %s", test.name, line)
			}
			got = append(got, text)
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
		plain := string((&ACP{Session: "s"}).Append(nil, test.steps))
		if strings.Contains(plain, `"notice"`) {
			t.Errorf("%s: an editor that takes no notices got one: %s", test.name, plain)
		}
		if n := strings.Count(plain, "The connection to the agent is lost."); n != strings.Count(strings.Join(test.want, "\n"), told) {
			t.Errorf("%s: an editor that takes no notices was told %d times of a loss: %s", test.name, n, plain)
		}
	}
}
