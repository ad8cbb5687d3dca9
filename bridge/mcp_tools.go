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

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/mcp"
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
func (e *mcpEditor) sendMessage(c *mcpCall) (*mcp.CallResult, error) {
	text := c.argument("text")
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("editor: send_message needs a text: nothing was sent")
	}
	var t *mcpTalk
	var err error
	if handle := c.argument("handle"); handle != "" {
		t, err = e.find(c.ctx, handle)
	} else {
		t, err = e.begin(c.ctx, c.argument("agent"))
	}
	if err != nil {
		return nil, err
	}
	return t.serve(c, func() error {
		files, sent, err := c.files(t.agent.opts.workspace())
		switch {
		case err != nil:
			return fmt.Errorf("%w: nothing was sent", err)
		case c.ctx.Err() != nil:
			return errors.New("editor: nothing was sent: the call was over before it could be")
		}
		if err := e.add(t); err != nil {
			return err
		}
		prompt := append([]acp.ContentBlock{{Type: "text", Text: text}}, files...)
		err = t.start(func(ctx context.Context, turn Turn) (Result, error) {
			turn.accepted = func(context.Context) { t.note(sent) }
			return t.prompt(ctx, turn, prompt, c.can.url)
		})
		if errors.Is(err, ErrBusy) {
			err = errors.New("editor: nothing was sent: the task of " + t.session.ID + " still works, or waits for the user: call wait_task with this handle first")
		}
		return err
	})
}

// prompt runs the turn of a prompt. A user who has to sign in, and whose client opens pages, does
// so, and the prompt is sent then: the agent has refused the first.
func (t *mcpTalk) prompt(ctx context.Context, turn Turn, prompt []acp.ContentBlock, opensPages bool) (Result, error) {
	s := t.session
	s.Title = cmp.Or(s.Title, title(prompt))
	if said, err := json.Marshal([]map[string]string{{"type": "text", "text": prompt[0].Text}}); err == nil {
		s.recordPrompt(&spell.ACP{Session: s.ID}, a2a.JSON(said), t.agent.opts.NewID())
	}
	r, err := turn.prompt(ctx, prompt, t)
	login := t.agent.opts.Login
	if !isUnauthenticated(err) || login == nil || !opensPages {
		return r, err
	}
	t.note("the user was asked to sign in with the agent. Nothing is sent before that\n")
	again := turn.next()
	again.accepted = turn.accepted
	signing, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(again.cancelled, stop)()
	if err := login.SignIn(signing, t); err != nil {
		return r, err
	}
	return again.prompt(ctx, prompt, t)
}

// waitTask waits for what is new in a conversation.
func (e *mcpEditor) waitTask(c *mcpCall) (*mcp.CallResult, error) {
	t, err := e.find(c.ctx, c.argument("handle"))
	if err != nil {
		return nil, err
	}
	return t.serve(c, func() error { return t.goOn(false) })
}

// cancelTask cancels what an agent works at, or waits for. It waits for the end, unless another
// call does.
func (e *mcpEditor) cancelTask(c *mcpCall) (*mcp.CallResult, error) {
	t, err := e.find(c.ctx, c.argument("handle"))
	if err == nil && !t.stop() {
		err = t.goOn(true)
	}
	if err != nil {
		return nil, err
	}
	result, err := t.serve(c, func() error { return nil })
	if errors.Is(err, errOtherCall) {
		return mcp.Text("state: canceled\nhandle: " + t.session.ID), nil
	}
	return result, err
}

// readArtifact reads a page of what a task has made: of an artifact, or of a file.
func (e *mcpEditor) readArtifact(c *mcpCall) (*mcp.CallResult, error) {
	t, err := e.find(c.ctx, c.argument("handle"))
	if err != nil {
		return nil, err
	}
	out, err := t.artifact(c.ctx, c.argument("artifact"))
	if err != nil {
		return nil, errors.New(t.agent.lineOf(err))
	}
	page, wanted := int64(1), c.params.Get("arguments.page").Int()
	text, content := out.Take(maxTaken)
	for ; page < wanted && out.Size() > 0; page++ { // behind the last there is none
		text, content = out.Take(maxTaken)
	}
	result := mcp.Text(fmt.Sprintf("page %d, and %d bytes behind it\n", page, out.Size()) + t.agent.fence(t.name, text))
	result.Content = append(result.Content, content...)
	return result, nil
}

// listAgents lists the agents, and what is under way. What an agent says of itself reaches the
// model here, and nowhere else.
func (e *mcpEditor) listAgents(c *mcpCall) (*mcp.CallResult, error) {
	names, err := e.agents.Names()
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
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, handle := range slices.Sorted(maps.Keys(e.talks)) {
		if e.talks[handle].isOpen() {
			b.WriteString("\nunder way: " + handle)
		}
	}
	return mcp.Text(b.String()), nil
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
	return text + strings.TrimPrefix(agent.fence(name, atMost(said, maxSaidOfItself)), "\n")
}

// atMost is the beginning of what an agent says, and how much more there is.
func atMost(text string, n int) string {
	head, rest := ask.Split(text, n)
	if rest != "" {
		head += ask.MoreNote(len(rest))
	}
	return head
}
