package bridge

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// This file is for clients of 2026-07-28, which the server cannot ask: a call's result is the
// question, and the call comes again with the answer. It looks like the first, and must not run
// the task again; its state says which question it answers. The state comes back from the
// client, so that it is signed; it is bound to the call, and good for an hour. A question is
// answered once, whoever answers it.

const stateLife = time.Hour

// stateFor is what the call is known by that comes again with the answer: the conversation, until
// when that is good, and our signature of both, the question, the tool and its arguments. The key
// ends with the process.
func (t *mcpTalk) stateFor(c *mcpCall, question string, until int64) string {
	text := fmt.Sprintf("%s.%d", t.session.ID, until)
	mac := hmac.New(sha256.New, t.editor.key)
	fmt.Fprintf(mac, "%s %s %x", text, question, c.digest())
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// readState reads a state, also one that is not ours: only the signature tells.
func readState(state string) (handle string, until int64) {
	fields := strings.Split(state, ".") // a handle may have points
	n := len(fields)
	if n < 3 {
		return "", 0
	}
	until, _ = strconv.ParseInt(fields[n-2], 10, 64) // 0 is long ago
	return strings.Join(fields[:n-2], "."), until
}

// digest tells one call from another, however its arguments are ordered.
func (c *mcpCall) digest() []byte {
	var arguments any
	_ = json.Unmarshal([]byte(c.params.Get("arguments").Raw), &arguments) // none is null
	canonical, _ := json.Marshal([]any{c.params.Get("name").Str, arguments})
	sum := sha256.Sum256(canonical)
	return sum[:]
}

// isAnswer reports whether a call brings an answer back.
func (c *mcpCall) isAnswer() bool {
	return c.params.Get("requestState").Exists() || c.params.Get("inputResponses").Exists()
}

// askBack answers a call with a question.
func (t *mcpTalk) askBack(c *mcpCall, q *mcpQuestion) {
	if !c.settle() {
		return
	}
	elicit := *q.elicit.WithDefault()
	if elicit.ElicitationID = ""; elicit.Mode == "" {
		elicit.Mode = acp.ElicitForm
	}
	if elicit.URL != "" {
		t.mu.Lock()
		t.page = q.id
		t.mu.Unlock()
	}
	c.reply(map[string]any{"resultType": "input_required", "requestState": t.stateFor(c, q.id, t.agent.opts.Now().Add(stateLife).Unix()),
		"inputRequests": map[string]any{q.id: map[string]any{"method": acp.MethodElicit, "params": &elicit}}})
}

// answered goes on with a call that brings an answer. What does not fit answers nothing, and
// sends nothing.
func (e *mcpEditor) answered(c *mcpCall) {
	const nothing = "editor: this answers no question that is open: nothing was sent, and nothing was allowed by it"
	given := c.params.Get("requestState").Str
	handle, until := readState(given)
	t, err := e.find(c.ctx, handle)
	if err != nil {
		c.say(true, nothing+". list_agents has the tasks that are under way")
		return
	}
	if !t.attach(c) {
		c.say(true, "editor: "+otherCall)
		return
	}
	t.mu.Lock()
	q, page := t.asks, t.page
	t.mu.Unlock()
	isOf := func(question string) bool {
		return t.agent.opts.Now().Unix() <= until && hmac.Equal([]byte(given), []byte(t.stateFor(c, question, until)))
	}
	switch {
	case q != nil && isOf(q.id):
		t.answer(q, q.read(c.params.Get("inputResponses."+q.id).Raw))
	case page != "" && isOf(page): // the user was done with it before the client has said so
	default:
		c.say(true, nothing+"\nhandle: "+t.session.ID+"\nnext: call wait_task with this handle")
		return
	}
	t.await(c)
}

// mcpAsker is the person who is to sign in.
type mcpAsker struct{ talk *mcpTalk }

// Confirm implements [Asker].
func (a *mcpAsker) Confirm(ctx context.Context, question string) (bool, error) {
	return a.ask(ctx, question, spell.MCPConfirm(question, "Yes", "No"))
}

// Open implements [Asker].
func (a *mcpAsker) Open(ctx context.Context, text, url string) (bool, error) {
	return a.ask(ctx, text, &spell.MCPElicit{Mode: acp.ElicitURL, Message: text, URL: url, ElicitationID: a.talk.agent.opts.NewID()})
}

// Opens implements [Opener]: nobody signs in elsewhere.
func (a *mcpAsker) Opens() bool { return true }

func (a *mcpAsker) ask(ctx context.Context, what string, elicit *spell.MCPElicit) (bool, error) {
	r, err := a.talk.put(ctx, what, elicit)
	if r.why == cannotAsk {
		err = ErrCannotAsk
	}
	return r.option != "", err
}
