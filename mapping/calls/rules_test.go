package calls

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A conversation plays letters (see oneCall) and marks, and tells what the user has.
type conversation struct {
	*Calls
	n    int
	seen []string // the names of the calls, with their states as they are shown
}

func newConversation() *conversation {
	c := &conversation{Calls: New()}
	c.Enter("t")
	c.Begin()
	return c
}

// play plays letters that are live, and marks: besides those of oneCall "?", the agent waits, and nobody answers; "$" and
// "-", the turn ends, its task has ended or waits; "%" and "&", the task is cancelled, or works; "(PX1)", a task that holds
// P, which was the first mention, and X; "o", an artifact that is the output "a"; and "=" tells the output.
func (c *conversation) play(letters string) *conversation {
	for i := 0; i < len(letters); i++ {
		switch r := letters[i]; r {
		case '(':
			end := i + strings.IndexByte(letters[i:], ')')
			c.task(strings.TrimRight(letters[i+1:end], "0123456789"), letters[i+1:end])
			i = end
		case '?':
			c.show(c.AskNewest(nil))
		case '%':
			c.State(a2a.StateCanceled)
		case '&':
			c.State(a2a.StateWorking)
		case 'o':
			c.output()
		case '=':
			c.seen = append(c.seen, "put out "+c.task1("c").OutputSoFar)
		case '$', '-':
			c.show(c.EndTurn(r == '$', false, nil))
		case '!':
			c.show(c.AskNewest(nil))
			for _, call := range c.Open() {
				c.Answered(call.ID, true)
			}
		case '|':
			c.show(c.EndTurn(true, false, nil))
			c.Begin()
		default:
			c.n++
			now := letter(r)
			c.show(c.Say(&now, fmt.Sprint("m", c.n), Live, nil))
		}
	}
	return c
}

// task plays a task that holds mentions: the first ones by the digits behind the letters, and then new ones.
func (c *conversation) task(letters, numbered string) {
	var ids []string
	for _, n := range numbered[len(letters):] {
		ids = append(ids, fmt.Sprint("m", string(n)))
	}
	for len(ids) < len(letters) {
		c.n++
		ids = append(ids, fmt.Sprint("m", c.n))
	}
	c.Snapshot(slices.Values(ids))
	for i, id := range ids {
		if letters[i] == 'o' {
			c.output()
			continue
		}
		now := letter(letters[i])
		c.show(c.Say(&now, id, Live, nil))
	}
	c.EndSnapshot()
}

// output plays an artifact that is the output of the call c.
func (c *conversation) output() {
	c.Speak(1, screens{}, true)
	steps, ok := c.Artifact(&a2a.Artifact{ID: "c", Name: "a"}, Live, nil)
	if c.show(steps); !ok {
		c.seen = append(c.seen, "no call's")
	}
}

func (c *conversation) show(steps []Step) {
	for _, s := range steps {
		c.seen = append(c.seen, s.Call.Shown+" "+strings.ToLower(s.Call.Status.String()))
	}
}

// is compares what was shown, and the calls that are open.
func (c *conversation) is(t *testing.T, want string, open ...string) {
	t.Helper()
	must.Equal(t, strings.Join(c.seen, ", "), want, "shown")
	var got []string
	for _, call := range c.Open() {
		got = append(got, call.Shown+" "+asked(call))
	}
	must.Equal(t, fmt.Sprint(got), fmt.Sprint(open), "open")
}

// TestInputs: rule C3, where calls have inputs.
func TestInputs(t *testing.T) {
	for name, row := range map[string]struct {
		play   string
		inputs []a2a.JSON
		differ bool   // the dialect's calls of one ID do
		id     string // of the messages, where it is not their own
		want   string
	}{
		"a message with the ID of its call is no call with that input": {"XSX", []a2a.JSON{`{"code":1}`, "", `[]`}, true, "c", "c executing, c succeeded, c~1 executing"},
		"another input is another call": {"XSXXSXSXS", []a2a.JSON{`{"code":1}`, "", `{ "code": 1 }`, `{"code":2}`, "", `{"code":1}`, "", `{"code":2}`, ""}, true, "",
			"c executing, c succeeded, c~1 executing, c~1 succeeded"},
		"another input of an agent that says it each time": {"XSX", []a2a.JSON{`{"n":1}`, `{"n":1}`, `{"n":1.0}`}, false, "", "c executing, c succeeded"},
	} {
		c := newConversation()
		for i, input := range row.inputs {
			now := letter(row.play[i])
			now.Input, now.Differences = input, row.differ
			c.show(c.Say(&now, cmp.Or(row.id, fmt.Sprint("m", i)), Live, nil))
		}
		t.Run(name, func(t *testing.T) { c.is(t, row.want) })
	}
}

// TestRules has each rule on its own, and what the rule must not do.
func TestRules(t *testing.T) {
	for _, row := range must.Table[struct{ Name, Play, Want, Open string }](t, "testdata/rules.txt") {
		t.Run(row.Name, func(t *testing.T) {
			newConversation().play(row.Play).is(t, row.Want, slices.DeleteFunc([]string{row.Open}, func(s string) bool { return s == "" })...)
		})
	}
}

func (c *conversation) task1(id string) *ToolCall { return c.Calls.task.calls[id].ToolCall }

// screens reads any artifact as the output of the call of its ID: its name.
type screens struct{ Reader }

func (screens) OutputSoFar(a *a2a.Artifact) (string, Sent, bool) {
	return a.ID, Sent{Text: a.Name}, true
}

// truth is what the agent means.
type truth struct {
	calls []*meant
	last  *meant // the one of the newest mention
	asks  bool   // which asks
}

type meant struct {
	id, question, out           string
	turn, q                     int
	status                      Status
	asks, answered, moved, left bool
}

// say tells what a mention means. Lower states that do not ask are echoes.
func (t *truth) say(c ToolCall, turn int) {
	var m *meant
	for _, o := range t.calls {
		if o.id == c.ID {
			m = o
		}
	}
	if m == nil || m.status.Ended() && !m.left && (c.Asks || m.turn < turn && !c.Status.Ended()) {
		m = &meant{id: c.ID, turn: turn}
		t.calls = append(t.calls, m)
	}
	t.last, t.asks = m, c.Asks
	if c.Status.rank() > m.status.rank() || c.Asks || m.left {
		m.turn = turn
	}
	switch {
	case c.Asks:
		if !m.asks && (m.q == 0 || m.moved) || asked(&c) != m.question {
			m.q++
			m.answered, m.moved = false, false
		}
		m.asks, m.question, m.status, m.left = true, asked(&c), Pending, false
	case c.Status.rank() < m.status.rank() && !m.left:
	default:
		m.asks, m.moved, m.status, m.left = false, m.q > 0, c.Status, false
		if c.Status >= Executing {
			m.out = output(&c)
		}
	}
}

// asksAgain notes that the agent waits behind a question that was answered: it has not
// understood the answer.
func (t *truth) asksAgain() bool {
	if !t.asks || !t.last.asks {
		return false
	}
	t.last.q++
	t.last.answered = false
	return true
}

func (t *truth) open() (n int) {
	for _, m := range t.calls {
		if m.asks && !m.answered {
			n++
		}
	}
	return n
}

// TestHint: of an event that only causes a look counts what it says of a call that waits for the user.
func TestHint(t *testing.T) {
	for _, tt := range []struct{ live, hints, want string }{
		{"A", "A", "A"},
		{"A", "B", "B"},
		{"A", "P", "A"}, // it may be older
		{"A", "BA", "A"},
		{"A", "X", ""},
		{"A", "S", ""},
		{"A", "D", "A"}, // another call: a look tells
		{"P", "A", ""},
		{"A!", "B", ""},
	} {
		c := newConversation().play(tt.live)
		for i := range len(tt.hints) {
			now := letter(tt.hints[i])
			c.Say(&now, fmt.Sprint("h", i), Hint, nil)
		}
		c.isOpen(t, tt.live+" and hints "+tt.hints, tt.want)
	}
	c := newConversation()
	for i, letters := range []string{"A", "A", "B"} { // without a call around, so that each has its own ID
		now := letter(letters[0])
		now.ID, now.Bare = fmt.Sprint("b", i), true
		c.Say(&now, now.ID, []Verb{Live, Hint, Hint}[i], nil)
	}
	c.isOpen(t, "bare ones", "AB")
}

// isOpen holds what the user is asked.
func (c *conversation) isOpen(t *testing.T, what, want string) {
	t.Helper()
	got := ""
	for _, call := range c.Open() {
		got += asked(call)
	}
	if got != want {
		t.Errorf("%s: open is %q, want %q", what, got, want)
	}
}
