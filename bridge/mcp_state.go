package bridge

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
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

// mcpState is what a call with an answer is known by.
type mcpState struct {
	Handle   string `json:"h"`
	Question string `json:"q"`
	Call     []byte `json:"c"` // a digest of the tool and its arguments
	Until    int64  `json:"u"`
	Page     bool   `json:"p,omitempty"`
}

// mcpSeal signs states, with a key that ends with the process.
type mcpSeal struct{ key []byte }

func newSeal() mcpSeal {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return mcpSeal{key}
}

func (s mcpSeal) sign(payload string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(payload))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// read reads a state, also one that is not ours.
func (s mcpSeal) read(text string) (state mcpState, ours bool) {
	payload, mac, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(raw, &state) != nil {
		return mcpState{}, false
	}
	return state, hmac.Equal([]byte(mac), []byte(s.sign(payload)))
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
	seal := t.editor.seal
	raw, _ := json.Marshal(mcpState{t.session.ID, q.id, c.digest(), t.agent.opts.Now().Add(stateLife).Unix(), elicit.URL != ""}) // strings and numbers
	payload := base64.RawURLEncoding.EncodeToString(raw)
	c.reply(&spell.MCPInput{Type: "input_required", State: payload + "." + seal.sign(payload),
		Requests: map[string]spell.MCPRequest{q.id: {Method: acp.MethodElicit, Params: &elicit}}})
}

// answered goes on with a call that brings an answer. What does not fit answers nothing, and
// sends nothing.
func (e *mcpEditor) answered(c *mcpCall) {
	const nothing = "editor: this answers no question that is open: nothing was sent, and nothing was allowed by it"
	state, ours := e.seal.read(c.params.Get("requestState").Str)
	t, err := e.find(c.ctx, state.Handle)
	if err != nil {
		c.say(true, nothing+". list_agents has the tasks that are under way")
		return
	}
	if !t.attach(c) {
		c.say(true, "editor: "+otherCall)
		return
	}
	t.mu.Lock()
	q := t.asks
	t.mu.Unlock()
	open := q != nil && q.id == state.Question
	ours = ours && bytes.Equal(state.Call, c.digest()) && t.agent.opts.Now().Unix() <= state.Until
	switch {
	case ours && open:
		t.answer(q, q.read(c.params.Get("inputResponses."+q.id).Raw))
	case ours && state.Page: // the user was done with it before the client has said so
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
	if err == nil && r.cannot {
		err = ErrCannotAsk
	}
	return r.option != "", err
}
