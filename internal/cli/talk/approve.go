package talk

import (
	"context"
	"io"
	"slices"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
)

// Values of --approve.
const (
	ApproveAsk    = "ask"
	approveOnce   = "once"
	approveAlways = "always"
	ApproveReject = "reject"
)

// An Approver answers questions as --approve says.
type Approver struct {
	How      string
	Terminal func() (io.ReadWriteCloser, error)
	Say      func(format string, args ...any)
	screen   *frame.Screen // nil: nobody else writes to the terminal
	told     []string      // titles that were not allowed because there was no terminal
	// interrupted: Ctrl-C came while a question was open; its line has ended.
	Interrupted bool
}

// Ask answers each question. It returns at once when ctx ends. A question without an
// answer has no option: the bridge rejects the call and says so in the result.
func (a *Approver) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	if a.How == ApproveAsk {
		tty, err := a.Terminal()
		if err == nil {
			defer a.screen.Hold()()
			answers, err := askTerminal(ctx, tty, questions)
			a.Interrupted = ctx.Err() != nil
			return answers, err
		}
	}
	answers := make([]mapping.Answer, 0, len(questions))
	for _, q := range questions {
		option := a.option(&q)
		if option == "" {
			a.tell(&q)
		}
		answers = append(answers, mapping.Answer{Call: q.Call, OptionID: option})
	}
	return answers, nil
}

// tell says why a question gets no answer, and what would answer it; once for a title.
func (a *Approver) tell(q *mapping.Question) {
	title := mapping.Title(q.Call)
	if slices.Contains(a.told, title) {
		return
	}
	a.told = append(a.told, title)
	_, certain := q.AllowOnce()
	switch title = safe.Short(title, frame.MaxValue); {
	case a.How != ApproveAsk:
		a.Say("not allowed, because no option of the agent's is certain to allow it: %s; --approve ask asks you on a terminal", title)
	case certain:
		a.Say("not allowed, because there is no terminal to ask you on: %s; --approve once would allow it", title)
	default:
		a.Say("not allowed, because there is no terminal to ask you on: %s; run it on one, since no option is certain to allow it", title)
	}
}

// option picks what the user has said in advance, and nothing wider; "" if no option of
// the agent's means that for certain.
func (a *Approver) option(q *mapping.Question) string {
	switch a.How {
	case ApproveReject:
		return q.Reject().ID
	case approveAlways:
		if o, ok := q.AllowAlways(); ok {
			return o.ID
		}
		fallthrough
	case approveOnce:
		if o, ok := q.AllowOnce(); ok {
			return o.ID
		}
	}
	return ""
}
