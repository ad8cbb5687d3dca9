package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// This file puts questions to the person behind an MCP client. A question belongs to its
// conversation, and whichever call waits for that puts it: by elicitation/create, or as the
// call's result (2026-07-28). It stays open while no call waits. Whatever is not an answer, and
// a client that cannot ask, is no.

// An mcpQuestion waits for a person.
type mcpQuestion struct {
	id      string
	what    string // in a line, the agent's words
	elicit  *spell.MCPElicit
	replies chan mcpReply // holds one
}

// An mcpReply is what became of a question: the option that was picked, "" if none was; why
// says in our words why not.
type mcpReply struct {
	option string
	why    string
}

// Ask implements [Editor].
func (t *mcpTalk) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	t.session.record(nil)
	answers := make([]mapping.Answer, 0, len(questions))
	for _, q := range questions {
		what := mapping.Title(q.Call)
		reply, err := t.put(ctx, what, spell.MCPApproval(t.name, q))
		if err != nil {
			return nil, err
		}
		o, ok := q.Pick(reply.option)
		if !ok || !o.Allows() {
			if reply.why == "" {
				reply.why = "the user has rejected it"
			}
			t.note("not allowed: " + strconv.Quote(what) + ": " + reply.why)
		}
		answers = append(answers, mapping.Answer{Call: q.Call, OptionID: reply.option})
	}
	return answers, nil
}

// maxNotes is how many lines of ours a result has: an agent may be told no again and again.
const maxNotes = 20

// note adds lines of ours to the next result, which has the newest.
func (t *mcpTalk) note(lines ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, lines...)
	if over := len(t.notes) - maxNotes; over > 0 {
		t.notes = append([]string{"(there were more lines before these)"}, t.notes[over+1:]...)
	}
}

// put waits until a person has answered a question, or ctx ends.
func (t *mcpTalk) put(ctx context.Context, what string, elicit *spell.MCPElicit) (mcpReply, error) {
	q := &mcpQuestion{id: fmt.Sprintf("q%d", t.editor.questions.Add(1)), what: what, elicit: elicit, replies: make(chan mcpReply, 1)}
	t.mu.Lock()
	if !t.deaf {
		t.asks = q
		t.changedLocked()
	}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.asks == q {
			t.asks = nil
			t.changedLocked()
		}
	}()
	select {
	case r := <-q.replies:
		return r, nil
	case <-ctx.Done():
		return mcpReply{}, ctx.Err()
	}
}

// answer answers a question, if it is still open.
func (t *mcpTalk) answer(q *mcpQuestion, r mcpReply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asks == q {
		t.asks = nil
		t.changedLocked()
		q.replies <- r
	}
}

// canAsk reports whether a call's client can put a question.
func (c *mcpCall) canAsk(q *mcpQuestion) bool {
	if q.elicit.Mode == acp.ElicitURL {
		return c.can.url
	}
	return c.can.form
}

const cannotAsk = "nobody was asked, because this client cannot put a question to its user (MCP: elicitation). The user can allow it in another client, or by a2astdio send"

// read makes a reply of what a client has answered.
func (q *mcpQuestion) read(raw string) mcpReply {
	option := q.elicit.Answer(raw)
	if option == "" {
		return mcpReply{why: "the user has not agreed"}
	}
	return mcpReply{option: option}
}

// elicit asks by a request, until withdraw is called: an answer that comes later is none.
func (c *mcpCall) elicit(t *mcpTalk, q *mcpQuestion) (withdraw func()) {
	ctx, stop := context.WithCancel(context.Background())
	id, elicit := jsonrpc2.ID{Num: c.server.calls.Add(1)}, q.elicit
	if c.can.defaults {
		elicit = elicit.WithDefault()
	}
	done := make(chan struct{})
	go func() { // ends with the answer, or by withdraw
		defer close(done)
		var raw json.RawMessage
		err := c.conn.Call(ctx, acp.MethodElicit, elicit, &raw, jsonrpc2.PickID(id))
		switch {
		case ctx.Err() != nil:
			_ = c.conn.Notify(context.Background(), "notifications/cancelled", // a client that is gone is seen elsewhere
				map[string]any{"requestId": id.Num, "reason": "the call's time is over, or the question is"})
		case err != nil && !isEditorError(err): // it is gone
		case err != nil:
			t.answer(q, mcpReply{why: "the client could not ask the user: " + strconv.Quote(err.Error())})
		default:
			t.answer(q, q.read(string(raw)))
		}
	}()
	return func() {
		stop()
		<-done
	}
}
