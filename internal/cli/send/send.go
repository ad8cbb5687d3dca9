// Package send is the command send: one prompt for a shell.
package send

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	return p.AgentCommand("send [PROMPT|-...]", send,
		frame.Option{Flag: "output", Aliases: []string{"o"}, Default: frame.Text, Variable: true,
			Takes: "text|json|events", Help: "text is the agent's words, as they come; json is one document at the end, A2A 1.0's task or message; events is one JSON object a line for everything that happens"},
		frame.Option{Flag: "approve", Default: talk.ApproveAsk, Variable: true,
			Takes: "ask|once|always|reject", Help: "what to say when the agent asks whether it may do something; ask asks you on the terminal, and rejects if there is none"},
		frame.Option{Flag: "fail", Kind: frame.Switch,
			Help: "exit with 1 if the task failed, was rejected or cancelled, or if an approval was wanted that nobody could give; with 6 if the agent asks something and waits"},
		frame.Option{Flag: "attach", Kind: frame.List, Takes: "FILE", Help: "send this file with the prompt, if the agent takes its kind; up to 20 MiB in all. Repeatable"},
		frame.Option{Flag: "continue", Kind: frame.Switch, Help: "go on in the last conversation with this agent in this directory"},
		frame.Option{Flag: "task-id", Takes: "ID", Help: "go on with a task that waits for you, instead of beginning one"},
		frame.Option{Flag: "context-id", Takes: "ID", Help: "begin the task in the context of earlier ones"},
		frame.Option{Flag: "async", Kind: frame.Switch, Help: "do not wait: show the task's ID, or with -o json the task, as soon as the agent has taken it"},
		frame.Option{Flag: "stream", Kind: frame.Switch, Help: "with -o json, write A2A 1.0's StreamResponse, one a line, as they come"},
		frame.Option{Flag: "metadata", Takes: "JSON|@FILE", Help: "an object to add to the message's metadata; the prompt is no slash command then"},
		frame.Option{Flag: "verbose", Kind: frame.Switch, Help: "with -o text, tell on stderr what the agent thinks and which tools it uses"})
}

// A sending is a prompt and the turns that follow from it.
type sending struct {
	p       *frame.Program
	c       *cli.Context
	l       *reach.Link
	editor  *talk.Editor
	agent   *bridge.Agent
	session *bridge.Session
	message *a2a.Outgoing
	thread  *thread
	asked   bool // the user last saw a question, whose line has ended
}

// send runs one turn for a shell. On a terminal it also runs the turns that answer what
// the agent asks in prose.
func send(p *frame.Program, c *cli.Context) (err error) {
	s := &sending{p: p, c: c}
	if s.editor, err = talk.NewEditor(p, c, c.Bool("stream")); err != nil {
		return err
	}
	if s.message, err = message(c); err != nil {
		return err
	}
	files, err := readAttachments(frame.StringsOf(c, "attach"))
	if err != nil {
		return err
	}
	if s.l, err = reach.Open(p, c); err != nil {
		return err
	}
	defer s.l.Close()
	if s.thread, err = openThread(p, c, s.l); err != nil {
		return err
	}
	if c.Bool("continue") {
		if err := s.thread.resume(s.message); err != nil {
			return err
		}
	}
	prompt, err := prompt(p, c)
	if err != nil {
		return err
	}
	defer s.editor.Screen.End()
	card, err := s.firstCard()
	if err != nil {
		return err
	}
	if s.message.Parts, err = parts(prompt, files, card); err != nil {
		return err
	}
	s.editor.Meets(c, s.l, card)
	s.agent = bridge.NewAgent(&s.l.Options)
	if frame.IsSet(c, "task-id") {
		_, _, _ = s.agent.Ready(c.Context) // sending meets the same error and reports it
		if s.message.TaskID, err = s.l.TaskID(c, s.message.TaskID); err != nil {
			s.agent.Close()
			return err
		}
	}
	if c.Bool("async") {
		defer s.agent.Close()
		return s.async()
	}
	return s.converse(prompt)
}

// firstCard gets the agent's card, and shows meanwhile who is waited for.
func (s *sending) firstCard() (*a2a.Card, error) {
	who := s.thread.agent
	if s.l.HTTP.Process != nil {
		who = "the agent to start"
	}
	s.editor.Screen.WaitFor(who)
	card, err := s.l.Client.Card(s.c.Context)
	switch {
	case err != nil && s.c.Context.Err() != nil:
		s.editor.Screen.Echoed()
		s.editor.Screen.End()
		s.p.Say("cancelled")
		return nil, frame.ErrInterrupted
	case err != nil:
		return nil, frame.Mark(frame.ErrNotReached, err)
	}
	return card, nil
}

// converse runs the turns of a message and of the user's answers. It closes the agent.
func (s *sending) converse(prompt string) error {
	ctx, m := s.c.Context, s.message
	s.session = s.agent.NewSession(s.l.Options.Workspace)
	if s.c.Bool("continue") {
		s.session.Continue(m.ContextID, m.TaskID)
	} else {
		s.session.Resume(m.ContextID, m.TaskID)
	}
	s.editor.Begun = s.thread.keep
	result, err := s.first(prompt)
	for err == nil && ctx.Err() == nil {
		answer, ok := s.answer(result)
		if !ok {
			break
		}
		result, err = s.next(answer)
	}
	if errors.Is(err, talk.ErrStuck) {
		return frame.ErrInterrupted // the turn still uses the agent, which ends with this process
	}
	if ctx.Err() != nil && !s.asked && !s.editor.Approver.Interrupted {
		s.editor.Screen.Echoed()
	}
	if !refused(err) { // after a refusal --continue must find the conversation unchanged
		s.thread.keep(s.session.NextIDs())
	}
	if ctx.Err() != nil && result.TaskID != "" && !result.State.Terminal() {
		// The user has left: nobody waits for the task, so it need not go on.
		result.State = s.cancel(result)
	}
	s.agent.Close()
	return talk.Verdict(s.p, s.c, s.l, s.editor, result, s.explainRefusal(err))
}

// first sends the prompt. It becomes a message if only a message can carry its options;
// otherwise it may be a slash command of the agent's.
func (s *sending) first(prompt string) (bridge.Result, error) {
	m := s.message
	if frame.IsSet(s.c, "task-id") || len(m.Metadata) > 0 || len(m.Parts) != 1 || m.Parts[0].Text != prompt {
		return talk.Turn(s.c.Context, s.session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
			return t.Send(ctx, m, s.editor)
		})
	}
	return s.next(prompt)
}

func (s *sending) next(text string) (bridge.Result, error) {
	return talk.Turn(s.c.Context, s.session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
		return t.Run(ctx, []acp.ContentBlock{{Type: "text", Text: text}}, s.editor)
	})
}

// answer lets the user answer a question in prose, on the terminal. Nothing is answered
// in the user's name: an empty line leaves the task as it is.
func (s *sending) answer(r bridge.Result) (text string, ok bool) {
	if !r.Waits || s.editor.Format != frame.Text || !frame.IsTerminal(s.p.Stdout) {
		return "", false
	}
	a, done := s.p.NewAsker(s.c.Context, false)
	defer done()
	if !a.Asks() {
		return "", false
	}
	a.Fresh()
	s.asked = true
	text, err := a.Ask("Your answer (none: for later)", "")
	if s.c.Context.Err() != nil {
		return "", false
	}
	s.asked = false
	text = strings.ToValidUTF8(text, "\ufffd")
	return text, err == nil && text != ""
}

// cancel cancels the task of a turn that is over, and returns the task's state.
func (s *sending) cancel(r bridge.Result) a2a.State {
	ctx, stop := context.WithTimeout(context.WithoutCancel(s.c.Context), talk.InterruptWait)
	defer stop()
	task, err := s.l.Client.Cancel(ctx, r.TaskID)
	if err != nil {
		s.l.Options.Log.Debug("cancelling", "task", r.TaskID, "err", err)
		return r.State
	}
	return task.State
}

// message reads a message's options, and refuses those that exclude each other.
func message(c *cli.Context) (*a2a.Outgoing, error) {
	m := &a2a.Outgoing{TaskID: c.String("task-id"), ContextID: c.String("context-id")}
	if c.Bool("continue") && (m.TaskID != "" || m.ContextID != "") {
		return nil, frame.Usagef("--continue goes on with the last conversation, --task-id and --context-id with the one that they name")
	}
	if c.Bool("continue") && c.Bool("no-history") {
		return nil, frame.Usagef("--no-history keeps nothing of conversations, so there is none that --continue could go on with")
	}
	metadata, err := reach.JSONObject("metadata", c.String("metadata"))
	if err != nil {
		return nil, err
	}
	if metadata != nil {
		if err := json.Unmarshal(metadata, &m.Metadata); err != nil {
			return nil, frame.Usagef("--metadata: %v", err)
		}
	}
	format := c.String("output")
	switch {
	case c.Bool("stream") && format != frame.JSON:
		return nil, frame.Usagef("--stream goes with -o json: -o text and -o events stream anyway")
	case !c.Bool("async"):
	case c.Bool("stream"), format == frame.Events:
		return nil, frame.Usagef("--async waits for nothing, so there is nothing to stream: task subscribe waits")
	case c.Bool("fail"), frame.IsSet(c, "approve"), c.Bool("verbose"):
		return nil, frame.Usagef("--async does not wait for what --fail, --approve and --verbose are about: task subscribe has them")
	}
	return m, nil
}

// async sends the prompt and does not wait for the task's end.
func (s *sending) async() error {
	if s.l.Ends {
		return frame.Usagef("--async leaves the task to the agent, and this one ends with a2astdio: it needs one that goes on, such as a2astdio demo --listen :4000")
	}
	m := s.message
	_, w, err := s.agent.Ready(s.c.Context)
	if err != nil {
		return err
	}
	if w.Traits().HangUpStops {
		return frame.Usagef("--async leaves the task to the agent, and this one stops its work when the request ends: send without --async waits for it")
	}
	m.ID = uuid.NewString()
	if m.TaskID == "" && !w.Settled(m) {
		settings := dialect.AgentSettings{Workspace: s.l.Options.Workspace, Extra: s.l.Options.AgentSettings}
		if err := w.Apply(settings, m); err != nil {
			return err
		}
	}
	answer, err := s.l.Client.SendOnce(s.c.Context, m, false)
	if err != nil {
		return s.explainRefusal(err)
	}
	if answer.State.Terminal() {
		s.thread.keep(answer.ContextID, "")
	} else {
		s.thread.keep(answer.ContextID, answer.TaskID)
	}
	if frame.AsJSON(s.c) {
		return s.p.PrintJSON(talk.V1Event(answer.Raw, s.l.Asked(s.c)))
	}
	text := frame.OneLine(safe.Plain(answer.TaskID))
	if answer.Kind == a2a.EventMessage {
		s.p.Say("the agent has answered at once, without a task")
		if text = answer.Message.Parts.Text(); frame.IsTerminal(s.p.Stdout) {
			text = safe.Plain(text)
		}
	}
	_, err = fmt.Fprintln(s.p.Stdout, text)
	return err
}
