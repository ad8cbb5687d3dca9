package cli

import (
	"context"
	"io"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
)

// Values of --approve.
const (
	approveAsk    = "ask"
	approveOnce   = "once"
	approveAlways = "always"
	approveReject = "reject"
)

// An approver answers questions as --approve says.
type approver struct {
	how      string
	terminal func() (io.ReadWriteCloser, error)
	say      func(format string, args ...any)
	screen   *screen  // nil: nobody else writes to the terminal
	told     []string // titles that were not allowed because there was no terminal
	// interrupted: Ctrl-C came while a question was open; its line has ended.
	interrupted bool
}

// ask answers each question. It returns at once when ctx ends. A question without an
// answer has no option: the bridge rejects the call and says so in the result.
func (a *approver) ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	if a.how == approveAsk {
		tty, err := a.terminal()
		if err == nil {
			defer a.screen.hold()()
			answers, err := askTerminal(ctx, tty, questions)
			a.interrupted = ctx.Err() != nil
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
func (a *approver) tell(q *mapping.Question) {
	title := mapping.Title(q.Call)
	if slices.Contains(a.told, title) {
		return
	}
	a.told = append(a.told, title)
	_, certain := q.AllowOnce()
	switch title = short(title, maxValue); {
	case a.how != approveAsk:
		a.say("not allowed, because no option of the agent's is certain to allow it: %s; --approve ask asks you on a terminal", title)
	case certain:
		a.say("not allowed, because there is no terminal to ask you on: %s; --approve once would allow it", title)
	default:
		a.say("not allowed, because there is no terminal to ask you on: %s; run it on one, since no option is certain to allow it", title)
	}
}

// untold returns the titles whose refusal the user has not seen yet.
func (a *approver) untold(titles []string) []string {
	return slices.DeleteFunc(slices.Clone(titles), func(t string) bool { return slices.Contains(a.told, t) })
}

// option picks what the user has said in advance, and nothing wider; "" if no option of
// the agent's means that for certain.
func (a *approver) option(q *mapping.Question) string {
	switch a.how {
	case approveReject:
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
