package bridge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// This file puts questions to the person behind an MCP client. A question belongs to its
// conversation, and whichever call waits for that puts it: by elicitation/create, or, where the
// server cannot ask the client (2026-07-28), as the call's result; then the call comes again with
// the answer. A question stays open while no call waits, and is answered once. Whatever is not an
// answer, and a client that cannot ask, is no.

// An mcpQuestion waits for a person.
type mcpQuestion struct {
	what   string // in a line, the agent's words
	elicit *spell.Elicitation
	ctx    context.Context // ends with the answer, or when that does not count any more
	cancel context.CancelFunc
	option string // that was picked, "" if none was; why says in our words why not
	why    string
	// These are of the call that comes again with the answer. It looks like the first, and must
	// not run the task again. The state is a secret that the client gives back: behind the handle,
	// nobody can guess it. It is good for an hour.
	state string
	call  string
	until time.Time
}

// Ask implements [Editor].
func (t *mcpTalk) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	t.session.record(nil)
	answers := make([]mapping.Answer, 0, len(questions))
	for _, q := range questions {
		text := "The agent " + beforeDot(t.session.ID) + " asks for your approval.\n\n" + ask.WholeMarkdown(q.Call, q.Options)
		asked, err := t.put(ctx, mapping.Title(q.Call), spell.NewChoice(text, q.Options))
		if err != nil {
			return nil, err
		}
		if o, ok := q.Pick(asked.option); !ok || !o.Allows() {
			t.addNote("not allowed: " + strconv.Quote(asked.what) + ": " + asked.why + "\n")
		}
		answers = append(answers, mapping.Answer{Call: q.Call, OptionID: asked.option})
	}
	return answers, nil
}

// Confirm implements [Asker].
func (t *mcpTalk) Confirm(ctx context.Context, question string) (bool, error) {
	return t.agrees(ctx, question, spell.NewChoice(question, []mapping.Option{
		{ID: acp.ElicitAccept, Name: "Yes", Kind: acp.OptionAllowOnce, Certain: true}, {Name: "No", Kind: acp.OptionRejectOnce, Certain: true}}))
}

// Open implements [Asker].
func (t *mcpTalk) Open(ctx context.Context, text, url string) (bool, error) {
	return t.agrees(ctx, text, spell.NewPage(text, url, t.session.agent.opts.NewID()))
}

// Opens implements [Opener]: nobody signs in elsewhere.
func (t *mcpTalk) Opens() bool { return true }

// agrees puts a question, and reports whether the user has agreed.
func (t *mcpTalk) agrees(ctx context.Context, what string, elicit *spell.Elicitation) (bool, error) {
	q, err := t.put(ctx, what, elicit)
	if q.why == cannotAsk {
		err = ErrCannotAsk
	}
	return q.option == acp.ElicitAccept, err
}

// put has a call ask a question, and returns that when a person has answered it, or with
// ctx's error. Nobody is asked for a turn that was cancelled.
func (t *mcpTalk) put(ctx context.Context, what string, elicit *spell.Elicitation) (*mcpQuestion, error) {
	q := &mcpQuestion{what: what, elicit: elicit}
	q.ctx, q.cancel = context.WithCancel(ctx)
	t.change(func() {
		if !t.session.running().isCancelled() {
			t.asks = q
		}
	})
	defer context.AfterFunc(t.editor.server.answering, func() { t.answer(q, "", "the client's input has ended") })()
	<-q.ctx.Done()
	t.answer(q, "", "") // if it has no answer
	return q, ctx.Err()
}

// answer gives a question, if it is still open, its answer: an option or, for no, "" and why.
func (t *mcpTalk) answer(q *mcpQuestion, option, why string) {
	t.change(func() {
		if t.asks == q {
			q.option, q.why, t.asks = option, why, nil
			q.cancel()
		}
	})
}

// takeResponse is answer with a client's response, as MCP spells it.
func (t *mcpTalk) takeResponse(q *mcpQuestion, raw string) {
	t.answer(q, q.elicit.Answer(raw), "the user has not agreed")
}

const cannotAsk = "nobody was asked, because this client cannot put a question to its user (MCP: elicitation). The user can allow it in another client, or by a2astdio send"

// elicit asks by a request, until the call or the question is over: an answer that comes later is
// none.
func (c *mcpCall) elicit(t *mcpTalk, q *mcpQuestion) {
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	defer context.AfterFunc(q.ctx, stop)()
	var raw json.RawMessage
	err := c.server.call(ctx, acp.MethodElicit, q.elicit, &raw, func(id json.RawMessage) {
		_ = c.server.conn.Notify(context.Background(), "notifications/cancelled", // a client that is gone is seen elsewhere
			map[string]any{"requestId": id, "reason": "the call's time is over, or the question is"})
	})
	switch {
	case err == nil:
		t.takeResponse(q, string(raw))
	case isEditorError(err):
		t.answer(q, "", "the client could not ask the user: "+strconv.Quote(err.Error()))
	}
}

// questionKey is the only member of what is asked by a result, and of its answer.
const questionKey = "question"

// askBackLocked returns a question as a call's result, and notes it in back.
func (t *mcpTalk) askBackLocked(c *mcpCall, q *mcpQuestion) *mcp.CallResult {
	t.back = q
	q.state, q.call, q.until = t.session.ID+"."+rand.Text(), c.identity(), t.session.agent.opts.Now().Add(time.Hour)
	params := q.elicit.ElicitationRequest
	params.ElicitationID = ""
	elicit := map[string]any{"method": acp.MethodElicit, "params": &params}
	return &mcp.CallResult{ResultType: "input_required", RequestState: q.state, InputRequests: map[string]any{questionKey: elicit}}
}

// identity is what tells one call from another: its tool, and its arguments.
func (c *mcpCall) identity() string { return c.params.Get("name").Raw + c.params.Get("arguments").Raw }

// bringsAnswer reports whether a call has come again, with the answer to its question.
func (c *mcpCall) bringsAnswer() bool {
	return c.params.Get("requestState").Exists() || c.params.Get("inputResponses").Exists()
}

// noQuestion is said of an answer that does not fit: it answers nothing, and sends nothing.
const noQuestion = "editor: this answers no question that is open: nothing was sent, and nothing was allowed by it. "

// takeAnswer takes the answer that a call brings, if that fits. A page may be done with before
// the client says that it was opened.
func (t *mcpTalk) takeAnswer(c *mcpCall) error {
	now := t.now()
	q := now.back
	if q == nil || c.params.Get("requestState").Str != q.state || c.identity() != q.call || t.session.agent.opts.Now().After(q.until) ||
		q != now.asks && q.elicit.Mode != acp.ElicitURL {
		return errors.New(noQuestion + "The handle is " + t.session.ID + ": call wait_task with it")
	}
	t.takeResponse(q, c.params.Get("inputResponses."+questionKey).Raw)
	return nil
}
