package mapping_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestEvents plays testdata/fold.txt, in which a line is an event that comes live, and
//
//	snapshot EVENT   a task that was asked for
//	glance EVENT     a task that was asked for while its stream is open
//	hint EVENT       one that only causes a look
//	dialect NAME     what the agent speaks; before "begin TASK", which a turn does in a task
//	cwd DIR          the directory of the session
//	answered ID      the user's answer to the question about a call
//	reply TEXT       the user's words to an agent that waits
//	= …              what an editor is shown, which questions are open then, and an error; -update writes it
func TestEvents(t *testing.T) {
	const file = "testdata/fold.txt"
	cases := strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n\n== ")
	for i, text := range cases[1:] {
		fold, acp, open := mapping.NewFold(), spell.ACP{Session: "s"}, ""
		fold.Begin("")
		var out []string
		for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if strings.HasPrefix(line, "= ") {
				continue
			}
			out = append(out, line)
			word, rest, _ := strings.Cut(line, " ")
			verb := shown.Live
			switch {
			case n == 0:
				continue
			case word == "dialect":
				fold.Speak(rest)
				continue
			case word == "begin":
				fold.Begin(rest)
				continue
			case word == "cwd":
				acp.Cwd = rest
				continue
			case word == "reply":
				m := &a2a.Outgoing{TaskID: "t", Parts: []a2a.OutPart{{Text: rest}}}
				must.Do(t, fold.Reply(m))
				for _, part := range m.Parts {
					out = append(out, "= sent "+part.Text+string(part.Data))
				}
				continue
			case word == "answered":
				fold.Calls.Answered(rest, true)
				continue
			case word == "snapshot":
				verb, line = shown.Snapshot, rest
			case word == "glance":
				verb, line = shown.Glance, rest
			}
			var steps []mapping.Step
			if word == "hint" {
				steps = fold.Hint(decode(t, rest), nil)
			} else {
				steps = fold.Event(verb, decode(t, line), nil)
			}
			for l := range strings.Lines(string(acp.Append(nil, steps))) {
				out = append(out, "= "+gjson.Get(l, "params.update").Raw)
			}
			asks := ""
			for _, call := range fold.Calls.Open() {
				asks += fmt.Sprintf(" %s by %q", call.Shown, call.QuestionID)
			}
			if asks != open {
				out = append(out, "= open:"+asks)
			}
			if open = asks; fold.Err != "" {
				out = append(out, fmt.Sprintf("= error, given up %v: %s", fold.GivenUp(), fold.Err))
			}
		}
		cases[i+1] = strings.Join(out, "\n")
	}
	must.Golden(t, *update, file, strings.Join(cases, "\n\n== ")+"\n")
}
