package bridge

import (
	"context"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// pastNotice is for a prompt that comes while the agent still works on a prompt of an
// earlier process. Agents take one at a time, and an error would speak of a prompt that
// no editor shows.
const pastNotice = "[The agent still works on what was asked before. What it says is shown here, and then your prompt is sent. Cancelling ends both.]\n\n"

// unsentNotice is for a prompt that waited for that. It is not sent if it would answer
// a question that came after it was written.
const unsentNotice = "\n[Your prompt was not sent, because the agent asks something now: your next prompt is the answer.]\n"

// waitForPast waits for the turn of takeUp, if there is one. If the prompt must not be
// sent then, it returns ACP's stop reason for it.
func (e *acpEditor) waitForPast(ctx context.Context, turn Turn) (stop string) {
	t := turn.turn
	if t.up == nil {
		return ""
	}
	select {
	case <-t.up:
		return ""
	default:
	}
	say := func(text string) { // not for the journal
		out := e.out(t.session)
		e.send(ctx, out.Append(nil, []mapping.Step{{Kind: mapping.StepNotice, Text: text}}))
	}
	say(pastNotice)
	select {
	case <-t.up:
	case <-ctx.Done():
		return acp.StopCancelled
	}
	if t.fold.State == a2a.StateInputRequired && !t.isCancelled() {
		say(unsentNotice)
		return acp.StopEndTurn
	}
	return ""
}
