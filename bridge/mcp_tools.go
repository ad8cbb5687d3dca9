package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has the tools.

const (
	// maxSaidOfItself is how much of what an agent says of itself a model reads.
	maxSaidOfItself = 2_000
	// cardTime is how long an agent may take to say it.
	cardTime = 5 * time.Second
)

// sendMessage sends a prompt: in a new conversation, or in that of a handle.
func (e *mcpEditor) sendMessage(c *mcpCall) {
	text := c.argument("text")
	if strings.TrimSpace(text) == "" {
		c.say(true, "editor: send_message needs a text: nothing was sent")
		return
	}
	t, ok := e.talkFor(c)
	if !ok {
		return
	}
	prompt, sent, err := c.files(t.agent)
	if err != nil {
		c.fault(t.agent, fmt.Errorf("%w: nothing was sent", err))
		return
	}
	turn, err := t.session.Begin()
	if err != nil {
		c.say(true, "editor: nothing was sent: the task of "+t.session.ID+" still works, or waits for the user: call wait_task with this handle first")
		return
	}
	if c.ctx.Err() != nil {
		turn.Discard()
		c.say(true, "editor: nothing was sent: the call was over before it could be")
		return
	}
	t.note(sent...)
	prompt = append([]acp.ContentBlock{{Type: "text", Text: text}}, prompt...)
	t.start(turn, func(ctx context.Context, turn Turn) (Result, error) { return t.prompt(ctx, turn, prompt) })
	t.await(c)
}

// prompt runs the turn of a prompt. The model's text is never a slash command, which is the
// user's. A user who has to sign in, and can, does so, and the prompt is sent then: the agent
// has refused the first.
func (t *mcpTalk) prompt(ctx context.Context, turn Turn, prompt []acp.ContentBlock) (Result, error) {
	s := t.session
	if s.Title == "" {
		s.Title = title(prompt)
		s.save()
	}
	if said, err := json.Marshal([]map[string]string{{"type": "text", "text": prompt[0].Text}}); err == nil {
		s.recordPrompt(&spell.ACP{Session: s.ID}, a2a.JSON(said), t.agent.opts.NewID())
	}
	defer func() { turn.release() }()
	turn.plain = true
	r, err := turn.prompt(ctx, prompt, t)
	login := t.agent.opts.Login
	if !isUnauthenticated(err) || login == nil || !t.canOpen() {
		return r, err
	}
	turn = turn.next()
	turn.plain = true
	signing, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(turn.cancelled, stop)()
	if err := login.SignIn(signing, &mcpAsker{t}); err != nil {
		return r, err
	}
	return turn.prompt(ctx, prompt, t)
}

// canOpen reports whether the client of the call that waits can open a page for its user.
func (t *mcpTalk) canOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.call != nil && t.call.can.url
}

// waitTask waits for what is new in a conversation.
func (e *mcpEditor) waitTask(c *mcpCall) {
	t, ok := e.talkFor(c)
	if !ok {
		return
	}
	t.mu.Lock()
	lost := !t.runs && t.err != nil
	t.mu.Unlock()
	if turn, err := t.session.Begin(); err == nil {
		if _, task := t.session.NextIDs(); lost && task != "" { // it may go on all the same
			t.start(turn, func(ctx context.Context, turn Turn) (Result, error) {
				defer turn.release()
				return turn.goOn(ctx, t)
			})
		} else {
			turn.Discard()
		}
	}
	t.await(c)
}

// talkFor finds the conversation of a call, or begins one for send_message, and has the call
// wait for it. false: the call was answered.
func (e *mcpEditor) talkFor(c *mcpCall) (*mcpTalk, bool) {
	var t *mcpTalk
	var err error
	if handle := c.argument("handle"); handle != "" || c.params.Get("name").Str != spell.MCPSend {
		t, err = e.find(c.ctx, handle)
	} else {
		t, err = e.begin(c.ctx, c.argument("agent"))
	}
	if err != nil {
		c.fault(e.server.agent, err)
		return nil, false
	}
	if !t.attach(c) {
		c.say(true, "editor: "+otherCall)
		return nil, false
	}
	return t, true
}

// begin begins a conversation with an agent.
func (e *mcpEditor) begin(ctx context.Context, name string) (*mcpTalk, error) {
	agent, name, err := e.agentOf(ctx, name)
	if err != nil {
		return nil, err
	}
	session := agent.NewSession(agent.opts.workspace())
	session.ID = name + "." + session.ID
	t := e.newTalk(agent, name, session)
	return t, e.add(t)
}

// add enters a conversation. Those that nothing happens in are forgotten first, if there are
// too many: the store has them.
func (e *mcpEditor) add(t *mcpTalk) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.talks) >= maxSessions {
		maps.DeleteFunc(e.talks, func(_ string, old *mcpTalk) bool { return old.forget() })
	}
	if len(e.talks) >= maxSessions {
		return fmt.Errorf("bridge: %d tasks are under way, which is the limit: cancel some with cancel_task", maxSessions)
	}
	e.talks[t.session.ID] = t
	return nil
}

// forget releases a conversation in which nothing happens; false: something does.
func (t *mcpTalk) forget() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	idle := !t.runs && !t.past && t.call == nil
	if idle {
		t.session.shut()
	}
	return idle
}

// find finds a conversation by its handle, that of an earlier process, too.
func (e *mcpEditor) find(ctx context.Context, handle string) (*mcpTalk, error) {
	if t := e.talk(handle); t != nil {
		return t, t.awaitPast(ctx)
	}
	none := paramsErrorf("there is no handle %q: send_message returns one, and list_agents has those that are under way", handle)
	at := strings.LastIndexByte(handle, '.')
	if at < 0 {
		return nil, none
	}
	agent, name, err := e.agentOf(ctx, handle[:at])
	if err != nil {
		return nil, err
	}
	record, err := agent.opts.Store.Get(handle)
	switch {
	case errors.Is(err, store.ErrNoSession) || err == nil && record.Agent != agent.opts.Name:
		return nil, none
	case err != nil:
		return nil, err
	}
	t, err := e.restore(agent, name, record)
	if err != nil {
		return nil, err
	}
	return t, t.awaitPast(ctx)
}

func (e *mcpEditor) talk(handle string) *mcpTalk {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.talks[handle]
}

// restore goes on with a conversation of an earlier process: a turn looks what has come of its
// task, and follows it. The mode is what this process was started with.
func (e *mcpEditor) restore(agent *Agent, name string, record store.Record) (*mcpTalk, error) {
	e.opening.Lock()
	defer e.opening.Unlock()
	if t := e.talk(record.ID); t != nil {
		return t, nil // another call was faster
	}
	session := agent.restore(record)
	session.approvals.mode = agent.opts.Mode
	t := e.newTalk(agent, name, session)
	err := session.readJournal(true, func(steps []mapping.Step, line []byte) error {
		if steps == nil || steps[0].Kind == mapping.StepUnknown { // a prompt, or what was taken: what follows is new
			t.out.Forget()
			return nil
		}
		t.out.Append(steps)
		return nil
	})
	if err != nil {
		return nil, err
	}
	turn, err := session.Begin()
	if err != nil {
		return nil, err
	}
	t.taskID, t.past = cmp.Or(session.taskID, strings.Join(session.previous, "")), true
	if err := e.add(t); err != nil {
		return nil, err
	}
	t.start(turn, func(ctx context.Context, turn Turn) (Result, error) {
		defer turn.release()
		if !session.catchUp(ctx, t) {
			state := session.fold.State
			return Result{State: state, TaskID: session.fold.TaskID, Waits: state == a2a.StateInputRequired}, nil
		}
		t.endPast()
		return turn.goOn(ctx, t)
	})
	return t, nil
}

// cancelTask cancels what an agent works at. It waits for the end, unless another call does.
func (e *mcpEditor) cancelTask(c *mcpCall) {
	t, err := e.find(c.ctx, c.argument("handle"))
	if err != nil {
		c.fault(e.server.agent, err)
		return
	}
	if t.stop() || t.cancelResting(c) {
		if t.attach(c) {
			t.await(c)
		} else {
			c.say(false, "state: canceled\nhandle: "+t.session.ID)
		}
	}
}

// cancelResting cancels a task that no turn follows. false: the call was answered.
func (t *mcpTalk) cancelResting(c *mcpCall) bool {
	turn, err := t.session.Begin()
	if err != nil {
		c.fault(t.agent, err)
		return false
	}
	defer turn.Discard()
	_, task := t.session.NextIDs()
	if task == "" || t.session.completed {
		return true // nothing is under way, as the answer says
	}
	if _, _, err = t.agent.Ready(c.ctx); err == nil {
		_, err = t.agent.cancelTask(c.ctx, task, "the model cancels it")
	}
	if err != nil && !t.agent.isOver(c.ctx, task) {
		c.fault(t.agent, err)
		return false
	}
	t.session.forget()
	t.session.save()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state, t.result, t.err = a2a.StateCanceled, Result{State: a2a.StateCanceled}, nil
	return true
}

// listAgents lists the agents, and what is under way. What an agent says of itself reaches the
// model here, and nowhere else.
func (e *mcpEditor) listAgents(c *mcpCall) {
	names, err := e.names()
	if err != nil {
		c.fault(e.server.agent, err)
		return
	}
	ctx, stop := context.WithTimeout(c.ctx, cardTime)
	defer stop()
	texts := make([]string, len(names))
	var looks sync.WaitGroup
	for i, name := range names {
		looks.Go(func() { texts[i] = e.describe(ctx, name) }) // ends with ctx
	}
	looks.Wait()
	var b strings.Builder
	fmt.Fprintf(&b, "send_message can ask these agents; without a name it asks %s.\n", names[0])
	for i, name := range names {
		fmt.Fprintf(&b, "\nagent: %s\n%s", name, texts[i])
	}
	b.WriteString(e.underWay())
	c.say(false, b.String())
}

// describe tells what an agent says of itself.
func (e *mcpEditor) describe(ctx context.Context, name string) string {
	agent, _, err := e.agentOf(ctx, name)
	if err != nil {
		return "cannot be asked: " + e.server.agent.lineOf(err) + "\n"
	}
	if agent.opts.Client.Starting() {
		return "is started when it is asked first\n"
	}
	card, w, err := agent.Ready(ctx)
	if err != nil {
		return "cannot be asked now: " + agent.lineOf(err) + "\n"
	}
	said := card.Name + "\n" + card.Description
	for _, skill := range card.Skills {
		said += "\n- " + skill.Name + ": " + skill.Description
	}
	text := ""
	if abilities := w.Abilities(card, dialect.Ability{Name: "streaming", Has: !agent.opts.Client.Unsupported().Streaming}); abilities != "" {
		text = "abilities: " + ask.OneLine(abilities) + "\n"
	}
	return text + strings.TrimPrefix(e.fence(name, atMost(said, maxSaidOfItself)), "\n")
}

// atMost is the beginning of what an agent says, and how much more there is.
func atMost(text string, n int) string {
	head, rest := ask.Split(text, n)
	if rest != "" {
		head += ask.MoreNote(len(rest))
	}
	return head
}

// underWay lists the conversations whose handles are good for wait_task.
func (e *mcpEditor) underWay() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := ""
	for _, id := range slices.Sorted(maps.Keys(e.talks)) {
		t := e.talks[id]
		t.mu.Lock()
		if t.runs || t.out.Size() > 0 {
			text += "\nunder way: " + id
		}
		t.mu.Unlock()
	}
	return text
}
