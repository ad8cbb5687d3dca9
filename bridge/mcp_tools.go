package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has the tools.

const (
	// maxSaidOfItself is how much of what an agent says of itself a model reads.
	maxSaidOfItself = 2_000
	// cardTime is how long an agent may take to say it.
	cardTime = 5 * time.Second
	// maxFiles is how much the files of one message may have together.
	maxFiles = 8 << 20
)

// sendMessage begins the turn of a prompt. Beside an error nothing was sent.
func (t *mcpTalk) sendMessage(c *mcpCall) error {
	text := c.argument("text")
	files, sent, err := c.files(t.session.agent.opts.workspace())
	switch {
	case strings.TrimSpace(text) == "":
		err = errors.New("editor: send_message needs a text")
	case err == nil && c.ctx.Err() != nil:
		err = errors.New("editor: the call was over before it could be")
	case err == nil:
		err = t.editor.add(t)
	}
	if err == nil {
		prompt := append([]acp.ContentBlock{{Type: "text", Text: text}}, files...)
		err = t.start(func(ctx context.Context, turn Turn) (Result, error) {
			turn.accepted = func(context.Context) { t.addNote(sent) }
			return t.prompt(ctx, turn, prompt, c.can.url)
		})
	}
	if errors.Is(err, ErrBusy) {
		err = errors.New("editor: the task of " + t.session.ID + " still works, or waits for the user: call wait_task with this handle first")
	}
	if err != nil {
		err = fmt.Errorf("%w (nothing was sent)", err)
	}
	return err
}

// files reads the files of a call, of the workspace or as the model has written them, as blocks of a
// prompt. sent is what the result says of them.
func (c *mcpCall) files(workspace string) (blocks []acp.ContentBlock, sent string, err error) {
	left := maxFiles
	for _, f := range c.params.Get("arguments.files").Array() {
		path, name, text := f.Get("path").Str, f.Get("name").Str, f.Get("content")
		content := []byte(text.Str)
		switch {
		case path != "" && !text.Exists():
			name = path
			content, err = readPlain(workspace, path, maxFiles)
		case path != "" || name == "" || !text.Exists():
			err = errors.New("a file has a path, or a name and its content")
		}
		if left -= len(content); left < 0 {
			err = fmt.Errorf("the files have more than %d MiB together, which is the limit", maxFiles>>20)
		}
		if err != nil {
			return nil, "", paramsErrorf("the file %q is not sent: %v", name, err)
		}
		blocks = append(blocks, fileBlock(name, content))
		sent += fmt.Sprintf("sent: %q (%d bytes)\n", name, len(content))
	}
	return blocks, sent, nil
}

// prompt runs the turn of a prompt. A user who has to sign in, and whose client opens pages, does
// so, and a second turn sends the prompt again: the agent has refused the first.
func (t *mcpTalk) prompt(ctx context.Context, turn Turn, prompt []acp.ContentBlock, opensPages bool) (Result, error) {
	s := t.session
	s.Title = cmp.Or(s.Title, title(prompt))
	said, _ := json.Marshal(prompt[:1]) // it is text
	s.recordPrompt(&spell.ACP{Session: s.ID}, a2a.JSON(said), t.session.agent.opts.NewID())
	r, err := turn.prompt(ctx, prompt, t)
	login := t.session.agent.opts.Login
	if !a2a.ErrorOf(err).Unauthenticated() || login == nil || !opensPages {
		return r, err
	}
	t.addNote("the user was asked to sign in with the agent. Nothing is sent before that\n")
	again := turn.successor()
	again.accepted = turn.accepted
	signing, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(again.cancelled, stop)()
	if err := login.SignIn(signing, t); err != nil {
		return r, err
	}
	return again.prompt(ctx, prompt, t)
}

// cancelTask cancels what an agent works at, or waits for. It waits for the end, unless another
// call does.
func (t *mcpTalk) cancelTask(c *mcpCall) (*mcp.CallResult, error) {
	t.cancel()
	if err := t.goOn(true); err != nil { // if no turn has run
		return nil, err
	}
	result, err := t.serve(c, func() error { return nil })
	if errors.Is(err, errOtherCall) {
		return mcp.Text("state: canceled\nhandle: " + t.session.ID), nil
	}
	return result, err
}

// readArtifact reads a page of what the last task has made: of an artifact, or of a file. The agent
// has it, also for a later process.
func (t *mcpTalk) readArtifact(c *mcpCall) (*mcp.CallResult, error) {
	id := t.now().out.Task
	if id == "" {
		return nil, errors.New("agent: it has named no task here, so that there is no artifact to read")
	}
	_, writing, err := t.session.agent.Ready(c.ctx)
	if err != nil {
		return nil, err
	}
	task, err := t.session.agent.opts.Client.Get(c.ctx, id, transport.AllHistory)
	if err != nil {
		return nil, err
	}
	fold, out, wanted := mapping.NewFold(), &spell.MCP{}, c.argument("artifact")
	fold.Speak(writing.Dialect)
	if names := out.Only(fold.Event(shown.Snapshot, task, nil), wanted); out.Size() == 0 {
		return nil, fmt.Errorf("agent: the task has no artifact %q. It has: %s", wanted, cmp.Or(ask.AtMost(strings.Join(names, ", "), maxSaidOfItself), "none"))
	}
	page, last := int64(1), c.params.Get("arguments.page").Int()
	text, content := out.Take(maxTaken)
	for ; page < last && out.Size() > 0; page++ { // behind the last there is none
		text, content = out.Take(maxTaken)
	}
	result := mcp.Text(fmt.Sprintf("page %d, and %d bytes behind it\n", page, out.Size()) + t.session.agent.fence(beforeDot(t.session.ID), text))
	result.Content = append(result.Content, content...)
	return result, nil
}

// listAgents lists the agents, and what is under way. What an agent says of itself reaches the
// model here, and nowhere else.
func (e *mcpEditor) listAgents(c *mcpCall) (*mcp.CallResult, error) {
	names, err := e.agentNames()
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
	text := "send_message can ask these agents; without a name it asks " + names[0] + ".\n"
	for i, name := range names {
		text += "\nagent: " + name + "\n" + texts[i]
	}
	var open []string
	e.talks.Range(func(handle, t any) bool {
		if now := t.(*mcpTalk).now(); now.detach != nil || now.out.Size() > 0 { // wait_task brings something
			open = append(open, "\nunder way: "+handle.(string))
		}
		return true
	})
	slices.Sort(open)
	return mcp.Text(text + strings.Join(open, "")), nil
}

// describe tells what an agent can do, and says of itself, or why that is not known.
func (e *mcpEditor) describe(ctx context.Context, name string) string {
	agent, _, err := e.openAgent(ctx, name)
	if err != nil {
		return "cannot be asked: " + e.server.agent.oneLine(err) + "\n"
	}
	if agent.opts.Client.Starting() {
		return "is started when it is asked first\n"
	}
	card, w, err := agent.Ready(ctx)
	if err != nil {
		return "cannot be asked now: " + agent.oneLine(err) + "\n"
	}
	said := card.Name + "\n" + card.Description
	for _, skill := range card.Skills {
		said += "\n- " + skill.Name + ": " + skill.Description
	}
	return "abilities: " + agent.abilitiesLine(card, w) + "\n" + strings.TrimPrefix(agent.fence(name, ask.AtMost(said, maxSaidOfItself)), "\n")
}
