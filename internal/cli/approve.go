package cli

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// The words of --approve.
const (
	approveAsk    = "ask"
	approveOnce   = "once"
	approveAlways = "always"
	approveReject = "reject"
)

// An approver answers what the agent asks, the way --approve says.
type approver struct {
	how      string
	terminal func() (io.ReadWriteCloser, error)
	say      func(format string, args ...any)
	missed   atomic.Bool // an answer was wanted that nobody could give
	told     bool
}

// unanswered reports whether an approval was wanted that nobody could give.
func (a *approver) unanswered() bool { return a.missed.Load() }

// ask answers each question. It returns at once when ctx ends.
func (a *approver) ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	if a.how == approveAsk {
		tty, err := a.terminal()
		if err == nil {
			return askTerminal(ctx, tty, questions)
		}
		if !a.told {
			a.told = true
			a.say("the agent asks for approval and there is no terminal to ask you on, so it is rejected: --approve once would allow it")
		}
	}
	var answers []mapping.Answer
	for _, q := range questions {
		answers = append(answers, a.answer(q))
	}
	return answers, nil
}

func (a *approver) answer(q mapping.Question) mapping.Answer {
	switch a.how {
	case approveReject:
		return mapping.Reject(q)
	case approveAlways:
		if i := slices.IndexFunc(q.Options, func(o mapping.Option) bool { return o.Kind == acp.OptionAllowAlways }); i >= 0 {
			return mapping.Answer{Call: q.Call, OptionID: q.Options[i].ID}
		}
		fallthrough
	case approveOnce:
		if answer, ok := mapping.Allow(q); ok {
			return answer
		}
		// The agent has offered nothing that would allow it.
	}
	a.missed.Store(true)
	return mapping.Reject(q)
}
