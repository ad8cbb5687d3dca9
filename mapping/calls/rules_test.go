package calls

import (
	"fmt"
	"strings"
	"testing"

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

// play plays letters that are live, and marks.
func (c *conversation) play(letters string) *conversation {
	for i := range len(letters) {
		switch r := letters[i]; r {
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

// task plays a task that holds mentions, by the numbers of those that were said, or new ones.
func (c *conversation) task(letters string, numbers ...int) *conversation {
	var ids []string
	for i := range len(letters) {
		if i < len(numbers) {
			ids = append(ids, fmt.Sprint("m", numbers[i]))
		} else {
			c.n++
			ids = append(ids, fmt.Sprint("m", c.n))
		}
	}
	c.Snapshot(func(yield func(string) bool) {
		for _, id := range ids {
			if !yield(id) {
				return
			}
		}
	})
	for i, id := range ids {
		now := letter(letters[i])
		c.show(c.Say(&now, id, Live, nil))
	}
	c.EndSnapshot()
	return c
}

func (c *conversation) show(steps []Step) {
	for _, s := range steps {
		c.seen = append(c.seen, s.Call.Shown+" "+strings.ToLower(s.Call.Status.String()))
	}
}

// is compares what was shown, and the calls that are open.
func (c *conversation) is(t *testing.T, want string, open ...string) {
	t.Helper()
	if got := strings.Join(c.seen, ", "); got != want {
		t.Errorf("shown: %s\nwant   %s", got, want)
	}
	var got []string
	for _, call := range c.Open() {
		got = append(got, call.Shown+" "+asked(call))
	}
	if fmt.Sprint(got) != fmt.Sprint(open) {
		t.Errorf("open: %q, want %q", got, open)
	}
}

// TestRules has each rule on its own, and what the rule must not do.
func TestRules(t *testing.T) {
	for _, row := range []struct {
		name, play, want string
		open             []string
	}{
		{"C1 what runs asks", "A!XA", "c pending, c executing, c pending", []string{"c A"}},
		{"C1 the same question behind an answer is an echo", "A!A", "c pending", nil},
		{"C1 the same question is new once the agent has gone on", "A!PA", "c pending", []string{"c A"}},
		{"C1 another question is new", "A!B", "c pending, c pending", []string{"c B"}},
		{"C1 nothing else goes back", "XP", "c executing", nil},
		{"C2 an ended call that asks is another", "SA", "c succeeded, c~1 pending", []string{"c~1 A"}},
		{"C3 an ended call that begins in a later turn is another", "S|XS", "c succeeded, c~1 executing, c~1 succeeded", nil},
		{"C3 within a turn it is an echo", "SP", "c succeeded", nil},
		{"C9 what we have ended goes on", "P|XS", "c pending, c cancelled, c executing, c succeeded", nil},
	} {
		t.Run(row.name, func(t *testing.T) { newConversation().play(row.play).is(t, row.want, row.open...) })
	}
	for name, rule := range map[string]func(t *testing.T){
		"C4 output that is drawn again": func(t *testing.T) {
			c := newConversation().play("abz")
			if got := c.task1("c").OutputSoFar; got != "z" {
				t.Errorf("output %q", got)
			}
		},
		"C4 a task's beginning of the output is old": func(t *testing.T) {
			c := newConversation().play("Xb")
			c.Speak(1, screens{}, true)
			c.Snapshot(func(func(string) bool) {})
			c.show(first(c.Artifact(&a2a.Artifact{ID: "c", Name: "a"}, Live, nil)))
			c.EndSnapshot()
			if got := c.task1("c").OutputSoFar; got != "ab" {
				t.Errorf("output %q", got)
			}
			c.show(first(c.Artifact(&a2a.Artifact{ID: "c", Name: "a"}, Live, nil)))
			if got := c.task1("c").OutputSoFar; got != "a" {
				t.Errorf("live output %q", got)
			}
		},
		"C3 a message with the ID of its call is no call with that input": func(t *testing.T) {
			c := newConversation()
			for i, input := range []a2a.JSON{`{"code":1}`, "", `[]`} {
				now := letter("XSX"[i])
				now.Input, now.Differences = input, true
				c.show(c.Say(&now, now.ID, Live, nil))
			}
			c.is(t, "c executing, c succeeded, c~1 executing")
		},
		"C3 another input is another call": func(t *testing.T) {
			c := newConversation()
			for i, input := range []a2a.JSON{`{"code":1}`, "", `{ "code": 1 }`, `{"code":2}`, "", `{"code":1}`, "", `{"code":2}`, ""} {
				now := letter("XSXXSXSXS"[i])
				now.Input, now.Differences = input, true
				c.show(c.Say(&now, fmt.Sprint("m", i), Live, nil))
			}
			c.is(t, "c executing, c succeeded, c~1 executing, c~1 succeeded")
		},
		"C3 another input of an agent that says it each time": func(t *testing.T) {
			c := newConversation()
			for i, input := range []a2a.JSON{`{"n":1}`, `{"n":1}`, `{"n":1.0}`} {
				now := letter("XSX"[i])
				now.Input = input
				c.show(c.Say(&now, fmt.Sprint("m", i), Live, nil))
			}
			c.is(t, "c executing, c succeeded")
		},
		"C5 what was heard is no news, and the rest comes in order": func(t *testing.T) {
			newConversation().play("S|XS").task("SXSAX", 1, 2, 3).is(t, "c succeeded, c~1 executing, c~1 succeeded, c~2 pending, c~2 executing")
		},
		"C5 with IDs anew calls only go forward": func(t *testing.T) {
			newConversation().play("PX").task("PXSP").is(t, "c pending, c executing, c succeeded")
		},
		"C7 a task that has ended asks nothing": func(t *testing.T) {
			c := newConversation().play("A")
			c.State(a2a.StateCanceled)
			c.is(t, "c pending")
			c.show(c.AskNewest(nil))
			c.is(t, "c pending")
			c.State(a2a.StateWorking)
			c.is(t, "c pending", "c A")
		},
		"C8 the end of a task ends all": func(t *testing.T) {
			c := newConversation().play("PXD")
			c.show(c.EndTurn(true, false, nil))
			c.is(t, "c pending, c executing, d pending, c cancelled, d cancelled")
		},
		"C8 where the task waits, what runs stays": func(t *testing.T) {
			c := newConversation().play("XD")
			c.show(c.EndTurn(false, false, nil))
			c.is(t, "c executing, d pending, d cancelled")
		},
		"C10 output of an ended call, or of none": func(t *testing.T) {
			c := newConversation()
			c.Speak(1, screens{}, true)
			if _, ok := c.Artifact(&a2a.Artifact{ID: "c", Name: "a"}, Live, nil); ok {
				t.Error("it is taken for the output of a call that nobody has mentioned")
			}
			if steps, ok := c.play("S").Artifact(&a2a.Artifact{ID: "c", Name: "a"}, Live, nil); !ok || len(steps) > 0 {
				t.Errorf("an ended call has put out %+v, %v", steps, ok)
			}
		},
		"C11 an answer that was not understood": func(t *testing.T) {
			c := newConversation().play("A!A")
			c.is(t, "c pending")
			c.show(c.AskNewest(nil))
			c.is(t, "c pending", "c A")
		},
		"C11 not before the agent has spoken since the answer": func(t *testing.T) {
			c := newConversation().play("A!")
			c.show(c.AskNewest(nil))
			c.is(t, "c pending")
		},
		"C11 a mention that was not trusted": func(t *testing.T) {
			c := newConversation().play("PX").task("PXA")
			c.is(t, "c pending, c executing")
			c.show(c.AskNewest(nil))
			c.is(t, "c pending, c executing, c pending", "c A")
		},
		"C11 not while another is open": func(t *testing.T) {
			c := newConversation().play("A!AD")
			c.show(c.AskNewest(nil))
			c.is(t, "c pending, d pending", "d D")
		},
	} {
		t.Run(name, rule)
	}
}

func (c *conversation) task1(id string) *ToolCall { return c.Calls.task.calls[id].ToolCall }

func first(steps []Step, _ bool) []Step { return steps }

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
