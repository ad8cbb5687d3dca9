package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file puts an agent's question in prose to the user as a form (ACP,
// Elicitation), where the editor has forms: the answer goes to the same task, in the
// same prompt. Everywhere else, and where the user does not fill it in, the prompt ends
// with end_turn, and the next prompt is the answer.

// maxQuestion is the most of a question, in bytes, that a form repeats: all of it
// stands in the conversation.
const maxQuestion = 4 << 10

// converse runs a prompt's turn, and those of the answers that the user gives in forms. The caller
// releases the last one.
func (e *acpEditor) converse(ctx context.Context, turn Turn, view *acpView, prompt []acp.ContentBlock) (result Result, last Turn, err error) {
	defer func() {
		if err = view.tellUnanswered(ctx, &result, err); last.session.taskID == "" { // else it may be watched
			last.fold.LetGo()
		}
	}()
	var unanswered []string
	for {
		result, err = turn.prompt(ctx, prompt, view)
		unanswered = append(unanswered, result.Unanswered...)
		result.Unanswered = unanswered
		if err != nil || !e.can.form || result.Question == "" || wantsSecret(result.Question) || result.StopReason != acp.StopEndTurn {
			return result, turn, err
		}
		turn = turn.successor()
		view.setAwaits(ctx, anAnswer, true)
		answer, ok := e.askForm(ctx, view.session.ID, result.Question, turn)
		view.setAwaits(context.WithoutCancel(ctx), anAnswer, false)
		if turn.isCancelled() {
			result.StopReason, ok = acp.StopCancelled, false
		}
		if !ok {
			return result, turn, nil
		}
		prompt = []acp.ContentBlock{{Type: "text", Text: answer}}
		said, _ := json.Marshal([]any{map[string]string{"type": "text", "text": answer}}) // strings always encode
		view.addUserMessage(ctx, a2a.JSON(said))
	}
}

// successor ends a turn, and returns one in its place: no other prompt can begin in between. A
// cancel of the first is the second's, too.
func (t Turn) successor() Turn {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	t.noteReleased() // nothing else does
	next := newTurn(s)
	s.queue[0], next.trace = next, t.trace
	if t.isCancelled() {
		next.cancel()
	}
	return Turn{next}
}

// askForm asks the user in a form; false: the user has not answered. A cancel of turn ends it.
func (e *acpEditor) askForm(ctx context.Context, session, question string, turn Turn) (string, bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(turn.cancelled, stop)()
	if len(question) > maxQuestion {
		question = strings.ToValidUTF8(question[:maxQuestion], "") + " …"
	}
	q := spell.NewProse(question)
	q.SessionID, q.Mode = session, acp.ElicitForm
	answer, err := e.elicit(ctx, q)
	answer = strings.TrimSpace(answer)
	return answer, err == nil && answer != ""
}

// elicit puts a question to the user, and returns the answer; "" is no, or none. The question is
// withdrawn when ctx ends: not every client has the method, but each that has announced forms, or
// pages, does.
func (e *acpEditor) elicit(ctx context.Context, q *spell.Elicitation) (answer string, err error) {
	var raw json.RawMessage
	if err := e.server.call(ctx, acp.MethodElicit, q, &raw, e.withdraw); err != nil {
		return "", err
	}
	return q.Answer(string(raw)), nil
}

// withdraw takes back the request of ours that has this ID.
func (e *acpEditor) withdraw(id json.RawMessage) {
	_ = e.server.conn.Notify(context.Background(), acp.MethodCancelRequest, acp.CancelRequest{RequestID: id})
}

// wantsSecret reports whether a question may be for a secret: ACP forbids forms for
// those. It may report too many: such a question is answered by the next prompt, as
// without forms.
func wantsSecret(question string) bool {
	words := []string{"password", "passphrase", "passcode", "api key", "apikey", "api-key", "access key", "token", "secret", "credential", "private key"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(question), word) })
}
