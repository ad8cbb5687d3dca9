package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

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
	editor     *acpEditor
	session    *Session
	mu         sync.Mutex // guards out, beforeShow and awaits: a question may be put while steps are shown
	out        spell.ACP
	beforeShow func()  // if set, is called once, before anything is shown
	awaits     awaited // one or both
	buf        []byte
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
				v.setAwaits(ctx, aSignIn, s.State == a2a.StateAuthRequired)
			}
		}
		v.mu.Lock()
		v.buf = v.out.Append(v.buf[:0], piece)
		if len(v.buf) > 0 {
			v.beforeShowLocked()
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

func (v *acpView) beforeShowLocked() {
	if first := v.beforeShow; first != nil {
		v.beforeShow = nil
		first()
	}
}

// Ask implements [Editor]: one question after the other, because clients show
// one at a time (CodeCompanion) and some lose all but the last.
func (v *acpView) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	v.session.record(nil)
	v.setAwaits(ctx, anAnswer, true)
	defer v.setAwaits(context.WithoutCancel(ctx), anAnswer, false)
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
	v.mu.Lock()
	question := v.out.Permission(q)
	v.mu.Unlock()
	var raw json.RawMessage
	var withdraw func(json.RawMessage)
	if v.editor.v2 { // not every client of version 1 knows that a question may be withdrawn
		withdraw = v.editor.withdraw
	}
	err := v.editor.server.call(ctx, acp.MethodRequestPermission, question, &raw, withdraw)
	if err != nil && !isEditorError(err) {
		return mapping.Answer{}, err
	}
	var r acp.PermissionResponse
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		v.editor.server.opts.Log.Warn("editor: cannot ask for permission, so the call is rejected", "call", q.Call.ID, "err", err)
	} else if _, ok := q.Pick(r.Outcome.OptionID); r.Outcome.Outcome == acp.OutcomeSelected && !ok {
		v.editor.server.opts.Log.Warn("editor: picked an option that was not offered, so the call is rejected", "call", q.Call.ID, "option", r.Outcome.OptionID)
	}
	if err != nil || r.Outcome.Outcome != acp.OutcomeSelected {
		r.Outcome.OptionID = "" // cancelled, or an error: no option was picked
	}
	return mapping.Answer{Call: q.Call, OptionID: r.Outcome.OptionID, NewContent: r.Meta.Ours.NewContent}, nil
}

// addUserMessage puts the user's words, an array of content blocks, into the journal and, in
// version 2, into the conversation. It returns their message's ID; "" if neither has them.
func (v *acpView) addUserMessage(ctx context.Context, prompt a2a.JSON) string {
	if v.session.journal == nil && !v.editor.v2 {
		return ""
	}
	id := v.session.agent.opts.NewID()
	v.session.places.Turn()
	v.session.recordPrompt(&v.out, prompt, id)
	if v.editor.v2 {
		v.editor.send(ctx, v.out.Said(nil, prompt, id))
	}
	return id
}

// addPrompt is addUserMessage for the prompt of a request, and calls tell with the message's ID. It
// names the session after its first prompt.
func (v *acpView) addPrompt(ctx context.Context, c *editorRequest, prompt []acp.ContentBlock, tell func(messageID string)) {
	s, first := v.session, v.session.Title == ""
	if first {
		s.Title = title(prompt)
		s.save()
	}
	tell(v.addUserMessage(ctx, c.rawPrompt()))
	if first {
		v.editor.send(ctx, v.out.Info(nil, s.Title, s.agent.opts.Now().UTC().Format(time.RFC3339)))
	}
}

// tellUnanswered shows what was rejected because nobody answered, and returns err, joined with
// Show's. A cancel needs no notice.
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

// isEditorError reports whether the editor has answered with an error, as
// opposed to being gone.
func isEditorError(err error) bool {
	_, ok := err.(*jsonrpc2.Error)
	return ok
}
