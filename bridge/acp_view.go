package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// send writes notifications. An error means that the editor is gone, which
// [Serve] sees for itself.
func (e *acpEditor) send(ctx context.Context, lines []byte) {
	if err := e.server.out.Send(ctx, lines); err != nil {
		e.server.agent.opts.Log.Debug("writing to the editor", "err", err)
	}
}

// acpView is the editor as one turn sees it.
type acpView struct {
	editor  *acpEditor
	conn    requester
	session *Session
	mu      sync.Mutex // guards out, begins and awaits: a question may be put while steps are shown
	out     spell.ACP
	begins  func() // if set, is called before anything is shown
	awaits  awaited
	buf     []byte
	made    func([]mapping.Step, []byte)
}

// Show implements [Editor].
func (v *acpView) Show(ctx context.Context, steps []mapping.Step) error {
	if v.editor.server.out.Blocked() {
		steps = v.editor.server.agent.collapse(steps)
	}
	for len(steps) > 0 {
		// A text of many megabytes goes out in pieces as it is spelled, or it
		// would be held twice.
		var piece []mapping.Step
		piece, steps = spell.Piece(steps)
		v.session.noteSteps(piece)
		for i := range piece {
			if s := &piece[i]; s.Kind == mapping.StepState {
				v.waits(ctx, signIn, s.State == a2a.StateAuthRequired)
			}
		}
		v.mu.Lock()
		v.out.Made = v.made
		v.buf = v.out.Append(v.buf[:0], piece)
		if v.begins != nil && len(v.buf) > 0 {
			v.beginLocked()
		}
		v.mu.Unlock()
		if len(v.buf) == 0 {
			continue
		}
		if err := v.editor.server.out.Send(ctx, v.buf); err != nil {
			return err
		}
	}
	return nil
}

func (v *acpView) beginLocked() {
	if begins := v.begins; begins != nil {
		v.begins = nil
		begins()
	}
}

// Ask implements [Editor]: one question after the other, because clients show
// one at a time (CodeCompanion) and some lose all but the last.
func (v *acpView) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	v.session.record(nil)
	v.waits(ctx, answers, true)
	defer v.waits(context.WithoutCancel(ctx), answers, false)
	answers := make([]mapping.Answer, 0, len(questions))
	for _, q := range questions {
		a, err := v.askOne(ctx, q)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// askOne puts a question to the user, when the editor's tools have none there.
func (v *acpView) askOne(ctx context.Context, q mapping.Question) (mapping.Answer, error) {
	if asking := v.session.asking; asking != nil {
		select {
		case asking <- struct{}{}:
			defer func() { <-asking }()
		case <-ctx.Done():
			return mapping.Answer{}, ctx.Err()
		}
	}
	var raw json.RawMessage
	v.mu.Lock()
	question := v.out.Permission(q)
	v.mu.Unlock()
	id := jsonrpc2.ID{Num: v.editor.server.calls.Add(1)}
	err := v.conn.Call(ctx, acp.MethodRequestPermission, question, &raw, jsonrpc2.PickID(id))
	if ctx.Err() != nil {
		if v.editor.v2 { // not every client of version 1 knows that a question may be withdrawn
			_ = v.conn.Notify(context.Background(), acp.MethodCancelRequest, acp.CancelRequest{RequestID: json.RawMessage(id.String())})
		}
		return mapping.Answer{}, ctx.Err()
	}
	if err != nil && !isEditorError(err) {
		return mapping.Answer{}, err
	}
	var r acp.PermissionResponse
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		v.editor.server.log.Warn("editor: cannot ask for permission, so the call is rejected", "call", q.Call.ID, "err", err)
	} else if id := r.Outcome.OptionID; r.Outcome.Outcome == acp.OutcomeSelected && !offered(q, id) {
		v.editor.server.log.Warn("editor: picked an option that was not offered, so the call is rejected", "call", q.Call.ID, "option", id)
	}
	if err != nil || r.Outcome.Outcome != acp.OutcomeSelected {
		r.Outcome.OptionID = "" // cancelled, or an error: no option was picked
	}
	return mapping.Answer{Call: q.Call, OptionID: r.Outcome.OptionID, NewContent: r.Meta.Ours.NewContent}, nil
}

// said puts the user's words into the journal, and, in version 2, into the conversation. It
// returns the name of their message.
func (v *acpView) said(ctx context.Context, params []byte) string {
	if v.session.journal == nil && !v.editor.v2 {
		return ""
	}
	id := v.session.agent.opts.NewID()
	prompt := a2a.JSON(gjson.GetBytes(params, "prompt").Raw)
	v.session.places.Turn()
	v.session.recordPrompt(&v.out, prompt, id)
	if v.editor.v2 {
		v.editor.send(ctx, v.out.Said(nil, prompt, id))
	}
	return id
}

// begun puts a prompt into the conversation, and names the session after its first one. tell is
// called with the name of the prompt's message.
func (v *acpView) begun(ctx context.Context, params json.RawMessage, prompt []acp.ContentBlock, tell func(messageID string)) {
	s, first := v.session, v.session.Title == ""
	if first {
		s.Title = title(prompt)
		s.save()
	}
	tell(v.said(ctx, params))
	if first {
		v.editor.send(ctx, v.out.Info(nil, s.Title, s.agent.opts.Now().UTC().Format(time.RFC3339)))
	}
}

// tellUnanswered shows what was rejected because nobody answered. A cancel needs no notice.
func (v *acpView) tellUnanswered(ctx context.Context, r *Result, err error) error {
	if len(r.Unanswered) == 0 || r.State == a2a.StateCanceled {
		return err
	}
	text := "\n[Not allowed, because nobody answered: " + strings.Join(r.Unanswered, "; ") + "]\n"
	return errors.Join(err, v.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: text}}))
}

// promptMeta is what a prompt's response has beside its stop reason; nil if nothing.
func promptMeta(r *Result) map[string]any {
	meta := spell.Quota(r.Usage)
	if r.Execution == (dialect.Execution{}) {
		return meta
	}
	if meta == nil {
		meta = map[string]any{}
	}
	meta["a2astdio"] = map[string]any{"execution": &r.Execution}
	return meta
}

func offered(q mapping.Question, id string) bool {
	return slices.ContainsFunc(q.Options, func(o mapping.Option) bool { return o.ID == id })
}

// isEditorError reports whether the editor has answered with an error, as
// opposed to being gone.
func isEditorError(err error) bool {
	_, ok := err.(*jsonrpc2.Error)
	return ok
}

// What follows puts an agent's question in prose to the user as a form (ACP,
// Elicitation), where the editor has forms: the answer goes to the same task, in the
// same prompt. Everywhere else, and where the user does not fill it in, the prompt ends
// with end_turn, and the next prompt is the answer.

// maxQuestion is the most of a question, in bytes, that a form repeats: all of it
// stands in the conversation.
const maxQuestion = 4 << 10

// converse runs a prompt's turn, and those of the answers that the user gives in forms. It returns
// the last one, which the caller releases.
func (e *acpEditor) converse(ctx context.Context, c *editorRequest, turn Turn, view *acpView, prompt []acp.ContentBlock) (result Result, last Turn, err error) {
	defer func() { err = view.tellUnanswered(ctx, &result, err) }()
	var unanswered []string
	for {
		result, err = turn.prompt(ctx, prompt, view)
		unanswered = append(unanswered, result.Unanswered...)
		result.Unanswered = unanswered
		if err != nil || !e.can.form || result.Question == "" || wantsSecret(result.Question) || result.StopReason != acp.StopEndTurn {
			return result, turn, err
		}
		turn = turn.next()
		view.waits(ctx, answers, true)
		answer, ok := e.askForm(ctx, c.conn, view.session.ID, result.Question, turn)
		view.waits(context.WithoutCancel(ctx), answers, false)
		if turn.isCancelled() {
			result.StopReason = acp.StopCancelled
			return result, turn, nil
		}
		if !ok {
			return result, turn, nil
		}
		prompt = []acp.ContentBlock{{Type: "text", Text: answer}}
		if params, err := json.Marshal(map[string]any{"prompt": []any{map[string]string{"type": "text", "text": answer}}}); err == nil {
			view.said(ctx, params)
		}
	}
}

// next begins the turn after this one without a gap, in which another prompt could
// begin. A cancel that comes in between goes to the next turn.
func (t Turn) next() Turn {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	close(t.over) // it is not released
	s.turn = newTurn(s)
	s.turn.trace = t.trace
	if t.isCancelled() {
		s.turn.cancel()
	}
	return Turn{s.turn}
}

// askForm asks the user in a form; false: the user has not answered. It ends with the
// turn that waits for it.
func (e *acpEditor) askForm(ctx context.Context, conn *jsonrpc2.Conn, session, question string, turn Turn) (string, bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(turn.cancelled, stop)()
	if len(question) > maxQuestion {
		question = strings.ToValidUTF8(question[:maxQuestion], "") + " …"
	}
	id := jsonrpc2.ID{Num: e.server.calls.Add(1)}
	var r acp.ElicitationResponse
	err := conn.Call(ctx, acp.MethodElicit, acp.NewElicitation(session, question), &r, jsonrpc2.PickID(id))
	if errors.Is(err, context.Canceled) && turn.isCancelled() {
		// Not every client has this method, but each that has announced forms does.
		_ = conn.Notify(context.Background(), acp.MethodCancelRequest, acp.CancelRequest{RequestID: json.RawMessage(id.String())})
	}
	if err != nil || r.Action != acp.ElicitAccept {
		return "", false
	}
	var answer string
	if json.Unmarshal(r.Content[acp.ElicitationAnswer], &answer) != nil {
		return "", false
	}
	answer = strings.TrimSpace(answer)
	return answer, answer != ""
}

// wantsSecret reports whether a question may be for a secret: ACP forbids forms for
// those. It may report too many: such a question is answered by the next prompt, as
// without forms.
func wantsSecret(question string) bool {
	question = strings.ToLower(question)
	for _, word := range [...]string{"password", "passphrase", "passcode", "api key", "apikey", "api-key", "access key", "token", "secret", "credential", "private key"} {
		if strings.Contains(question, word) {
			return true
		}
	}
	return false
}
