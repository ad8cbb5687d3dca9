package demo

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestWords: the first word of the prompt, or of any of its text parts, selects the
// story, also within tags. A mere mention selects none.
func TestWords(t *testing.T) {
	for prompt, want := range map[string]bool{
		"ask":                          true,
		"ask|me":                       true,
		"Some context.|ask":            true,
		"<user_query>ask</user_query>": true,
		"<context cwd=\"/\">\nhello there\n</context>\n<query>\nask me\n</query>": false, // the first that names one: hello
		"<context>\nfiles\n</context>\n<query>\nask me\n</query>":                 true,
		"what does <b>ask</b> do": false,
		"please ask":              false,
		"<ask":                    false,
		"":                        false,
	} {
		m := &message{}
		for text := range strings.SplitSeq(prompt, "|") {
			m.parts = append(m.parts, part{text: text})
		}
		agent := New(&Options{Pace: -1})
		task := agent.newTask(agent.newSession())
		must.Do(t, agent.create(task, m.story(), m))
		must.Do(t, task.settled(t.Context(), agent.ctx, 0))
		if got := task.view(-1).state == stateInputRequired; got != want {
			t.Errorf("%q: asks %t, not %t", prompt, got, want)
		}
		agent.Close()
	}
}
