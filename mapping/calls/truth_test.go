package calls

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
