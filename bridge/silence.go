package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
)

// silences returns after which times a silence is reported: first so soon that the
// program does not seem stuck, then less often. A legal agent may be silent for minutes
// (Gemini's server was for 198 s), so silence alone ends nothing.
func silences(told int) time.Duration {
	switch told {
	case 0:
		return 10 * time.Second
	case 1:
		return 30 * time.Second
	}
	return time.Duration(told-1) * time.Minute
}

// A silence measures for how long a leg has brought nothing. It belongs to the turn's
// loop, which stops it.
type silence struct {
	timer *time.Timer
	since time.Time
	told  int
}

func newSilence() *silence {
	return &silence{timer: time.NewTimer(silences(0)), since: time.Now()}
}

// heard restarts the measurement.
func (s *silence) heard() {
	s.since, s.told = time.Now(), 0
	s.timer.Reset(silences(0))
}

// spoke reports whether what a leg has brought is the agent's: a look at its task is not, if it has
// shown nothing.
func (t *turn) spoke(n *said) bool {
	return len(n.events) > 0 && !n.quiet && (n.verb == shown.Live || len(t.steps) > 0)
}

// tellSilence reports a silence to editors that can show it in passing: A2A lines and
// send. ACP's editors show that a turn runs. A connection that is down is reported
// instead.
func (t *turn) tellSilence(ctx context.Context, s *silence) error {
	after := silences(s.told)
	s.told++
	s.timer.Reset(silences(s.told) - after)
	if t.down || t.isCancelled() {
		return nil
	}
	return t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepConnection, TaskID: t.fold.TaskID, ContextID: t.fold.ContextID,
		Connection: mapping.Connection{Phase: mapping.PhaseSilent, Silent: int(after / time.Second)}}})
}
