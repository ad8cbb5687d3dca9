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
func (e *mcpEditor) sendMessage(c *mcpCall) (mcpOutcome, error) {
	text := c.argument("text")
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("editor: send_message needs a text: nothing was sent")
	}
	t, err := e.talkFor(c)
	if err != nil {
		return nil, err
	}
	files, sent, err := c.files(t.agent)
	if err != nil {
		return nil, fmt.Errorf("%w: nothing was sent", err)
	}
	if err := e.add(t); err != nil {
		return nil, err
	}
	turn, err := t.session.Begin()
	if err != nil {
		return nil, errors.New("editor: nothing was sent: the task of " + t.session.ID + " still works, or waits for the user: call wait_task with this handle first")
	}
	if c.ctx.Err() != nil {
		turn.Discard()
		return nil, errors.New("editor: nothing was sent: the call was over before it could be")
	}
	t.note(sent)
	prompt := append([]acp.ContentBlock{{Type: "text", Text: text}}, files...)
	err = t.start(turn, func(ctx context.Context, turn Turn) (Result, error) { return t.prompt(ctx, turn, prompt, c.can.url) })
	if err != nil {
		return nil, err
	}
	return t.await(c), nil
}

// prompt runs the turn of a prompt. The model's text is never a slash command, which is the
// user's. A user who has to sign in, and whose client opens pages, does so, and the prompt is
// sent then: the agent has refused the first.
func (t *mcpTalk) prompt(ctx context.Context, turn Turn, prompt []acp.ContentBlock, opensPages bool) (Result, error) {
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
	if !isUnauthenticated(err) || login == nil || !opensPages {
		return r, err
	}
	t.note("the user was asked to sign in with the agent. Nothing is sent before that\n")
	turn = turn.next()
	turn.plain = true
	signing, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(turn.cancelled, stop)()
	if err := login.SignIn(signing, t); err != nil {
		return r, err
	}
	return turn.prompt(ctx, prompt, t)
}

// waitTask waits for what is new in a conversation. A task that was lost may go on all the same.
func (e *mcpEditor) waitTask(c *mcpCall) (mcpOutcome, error) {
	t, err := e.talkFor(c)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	lost := t.err != nil
	t.mu.Unlock()
	if lost {
		if err := t.goOn(); err != nil {
			return nil, err
		}
	}
	return t.await(c), nil
}

// cancelTask cancels what an agent works at, or waits for. It waits for the end, unless another
// call does.
func (e *mcpEditor) cancelTask(c *mcpCall) (mcpOutcome, error) {
	t, err := e.find(c, c.argument("handle"))
	if err == nil && !t.stop() {
		err = t.takeUp(func(ctx context.Context, turn Turn, task string) (Result, error) {
			return turn.cancelLeft(ctx, task, t)
		})
	}
	if err != nil {
		return nil, err
	}
	if !t.attach(c) {
		return say("state: canceled\nhandle: " + t.session.ID), nil
	}
	return t.await(c), nil
}

// talkFor finds the conversation of a call, or begins one for send_message, and has the call
// wait for it.
func (e *mcpEditor) talkFor(c *mcpCall) (t *mcpTalk, err error) {
	if handle := c.argument("handle"); handle != "" || c.params.Get("name").Str != spell.MCPSend {
		t, err = e.find(c, handle)
	} else if agent, name, unknown := e.agentOf(c.ctx, c.argument("agent")); unknown == nil {
		session := agent.NewSession(agent.opts.workspace())
		session.ID = name + "." + session.ID
		t, c.agent = e.newTalk(agent, name, session), agent
	} else {
		err = unknown
	}
	if err == nil && !t.attach(c) {
		err = errOtherCall
	}
	return t, err
}

// add enters a conversation.
func (e *mcpEditor) add(t *mcpTalk) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.talks) >= maxSessions {
		return fmt.Errorf("bridge: there are %d conversations, which is the limit: the user starts the client anew. Handles stay good", maxSessions)
	}
	e.talks[t.session.ID] = t
	return nil
}

// find finds a conversation by its handle, that of an earlier process, too.
func (e *mcpEditor) find(c *mcpCall, handle string) (*mcpTalk, error) {
	if t := e.talk(handle); t != nil {
		c.agent = t.agent
		return t, nil
	}
	agent, name, err := e.agentOf(c.ctx, handle[:max(0, strings.LastIndexByte(handle, '.'))])
	if err != nil {
		return nil, err
	}
	c.agent = agent
	record, err := agent.opts.Store.Get(handle)
	if errors.Is(err, store.ErrNoSession) || err == nil && (record.Agent != agent.opts.Name || !strings.HasPrefix(handle, name+".")) { // such as an editor's session
		err = paramsErrorf("there is no handle %q: send_message returns one, and list_agents has those that are under way", handle)
	}
	if err != nil {
		return nil, err
	}
	return e.restore(agent, name, record)
}

func (e *mcpEditor) talk(handle string) *mcpTalk {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.talks[handle]
}

// restore goes on with a conversation of an earlier process: it looks what has come of its task,
// and follows it. The mode is what this process was started with.
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
	session.keepJournal()
	t.journal = session.journal
	goesOn := session.catchUp(e.server.ctx, t)
	state := session.fold.State
	t.result = Result{State: state, TaskID: cmp.Or(session.taskID, strings.Join(session.previous, "")), Waits: state == a2a.StateInputRequired}
	if !goesOn && session.taskID != "" && (state == "" || state == a2a.StateWorking) {
		t.err = errors.New("agent: it cannot be asked what has become of the task")
	}
	if err := e.add(t); err != nil || !goesOn {
		return t, err
	}
	return t, t.goOn()
}

// listAgents lists the agents, and what is under way. What an agent says of itself reaches the
// model here, and nowhere else.
func (e *mcpEditor) listAgents(c *mcpCall) (mcpOutcome, error) {
	names, err := e.names()
	if err != nil {
		return nil, err
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
	return say(b.String()), nil
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
