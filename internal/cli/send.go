package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// interruptWait bounds how long a turn may take to end after Ctrl-C. The bridge
// promises two seconds, and the reader of our output may be slow.
const interruptWait = 2500 * time.Millisecond

func (p *program) sendCommand() *cli.Command {
	return agentCommand("send", p.send,
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: formatText, EnvVars: env("output"),
			Usage: "`text|json|events`: text is the agent's words, as they come; json is one document at the end, A2A 1.0's task or message; events is one JSON object a line for everything that happens"},
		&cli.StringFlag{Name: "approve", Value: approveAsk, EnvVars: env("approve"),
			Usage: "`ask|once|always|reject`: what to say when the agent asks whether it may do something; ask asks you on the terminal, and rejects if there is none"},
		&cli.BoolFlag{Name: "fail",
			Usage: "exit with 1 if the task failed, was rejected or cancelled, or if an approval was wanted that nobody could give; with 6 if the agent asks something and waits"},
		&cli.StringSliceFlag{Name: "attach", Usage: "`FILE`: send this file with the prompt, if the agent takes its kind; up to 20 MiB in all. Repeatable"},
		&cli.BoolFlag{Name: "continue", Usage: "go on in the last conversation with this agent in this directory"},
		&cli.StringFlag{Name: "task-id", Usage: "`ID`: go on with a task that waits for you, instead of beginning one"},
		&cli.StringFlag{Name: "context-id", Usage: "`ID`: begin the task in the context of earlier ones"},
		&cli.BoolFlag{Name: "async", Usage: "do not wait: show the task's ID, or with -o json the task, as soon as the agent has taken it"},
		&cli.BoolFlag{Name: "stream", Usage: "with -o json, write A2A 1.0's StreamResponse, one a line, as they come"},
		&cli.StringFlag{Name: "metadata", Usage: "`JSON|@FILE`: an object to add to the message's metadata; the prompt is no slash command then"},
		&cli.StringSliceFlag{Name: "accept", Usage: "`MODES`: media types that the answer may have, like text/plain; with commas between, or repeatable"},
		&cli.BoolFlag{Name: "verbose", Usage: "with -o text, tell on stderr what the agent thinks and which tools it uses"})
}

// send runs one turn for a shell. On a terminal it also runs the turns that answer what
// the agent asks in prose.
func (p *program) send(c *cli.Context) error {
	editor, err := p.sendEditor(c, c.Bool("stream"))
	if err != nil {
		return err
	}
	message, err := p.message(c)
	if err != nil {
		return err
	}
	files, err := readAttachments(stringsOf(c, "attach"))
	if err != nil {
		return err
	}
	l, err := p.link(c)
	if err != nil {
		return err
	}
	defer l.close()
	thread, err := p.thread(c, l)
	if err != nil {
		return err
	}
	if c.Bool("continue") {
		if err := thread.resume(message); err != nil {
			return err
		}
	}
	prompt, err := p.prompt(c)
	if err != nil {
		return err
	}
	defer editor.screen.end()
	card, err := p.firstCard(c, l, editor, thread.agent)
	if err != nil {
		return err
	}
	if message.Parts, err = parts(prompt, files, card); err != nil {
		return err
	}
	editor.waitsFor(cmp.Or(card.Name, "the agent"))
	agent := bridge.NewAgent(&l.options)
	if c.IsSet("task-id") {
		_, _, _ = agent.Ready(c.Context) // sending meets the same error and reports it
		if message.TaskID, err = l.taskID(c, message.TaskID); err != nil {
			agent.Close()
			return err
		}
	}
	if c.Bool("async") {
		defer agent.Close()
		return p.sendAsync(c, l, thread, agent, message, editor.format)
	}
	return p.converse(c, l, editor, thread, agent, message, prompt)
}

// firstCard gets the agent's card, and shows meanwhile who is waited for.
func (p *program) firstCard(c *cli.Context, l *link, editor *sendEditor, agent string) (*a2a.Card, error) {
	started := l.http.Process != nil // the start of the process shows its own line
	if !started {
		editor.screen.waitFor(agent)
	}
	card, err := l.client.Card(c.Context)
	if started {
		editor.screen.waitFor("the agent")
	}
	switch {
	case err != nil && c.Context.Err() != nil:
		editor.screen.echoed()
		editor.screen.end()
		p.say("cancelled")
		return nil, errInterrupted
	case err != nil:
		return nil, &notReached{err}
	}
	return card, nil
}

// converse runs the turns of a message and of the user's answers. It closes the agent.
func (p *program) converse(c *cli.Context, l *link, editor *sendEditor, thread *thread, agent *bridge.Agent, message *a2a.Outgoing, prompt string) error {
	session := agent.NewSession(l.options.Workspace)
	session.Resume(message.ContextID, message.TaskID)
	editor.begun = thread.keep
	s := &sending{p: p, c: c, l: l, session: session, editor: editor}
	result, err := s.first(message, prompt)
	for err == nil && c.Context.Err() == nil {
		answer, ok := s.answer(result)
		if !ok {
			break
		}
		result, err = s.next(answer)
	}
	if errors.Is(err, errStuck) {
		return errInterrupted // the turn still uses the agent, which ends with this process
	}
	if c.Context.Err() != nil && !s.asked && !editor.approver.interrupted {
		editor.screen.echoed()
	}
	if !refused(err) { // after a refusal --continue must find the conversation unchanged
		thread.keep(session.NextIDs())
	}
	if c.Context.Err() != nil && result.TaskID != "" && !result.State.Terminal() {
		// The user has left: nobody waits for the task, so it need not go on.
		result.State = s.cancel(result)
	}
	agent.Close()
	return p.verdict(c, l, editor, result, lost(c, l, message.TaskID, err))
}

// errStuck reports a turn that does not end in time: it is blocked in writing to a
// reader that does not read.
var errStuck = errors.New("the turn is stuck")

// turn runs the turn, and cancels it when ctx ends.
func (p *program) turn(ctx context.Context, session *bridge.Session, run func(context.Context, bridge.Turn) (bridge.Result, error)) (bridge.Result, error) {
	t, err := session.Begin()
	if err != nil {
		return bridge.Result{}, err
	}
	type ending struct {
		result bridge.Result
		err    error
	}
	done := make(chan ending, 1)
	go func() { // ends with the turn; if that is stuck, with the process
		// Without ctx: a cancelled turn tells the agent, and shows what the agent still says.
		r, err := run(context.WithoutCancel(ctx), t)
		done <- ending{r, err}
	}()
	select {
	case e := <-done:
		return e.result, e.err
	case <-ctx.Done():
	}
	session.Cancel()
	timer := time.NewTimer(interruptWait)
	defer timer.Stop()
	select {
	case e := <-done:
		return e.result, e.err
	case <-timer.C:
		return bridge.Result{}, errStuck
	}
}

// verdict writes the rest of the output and decides the exit of send.
func (p *program) verdict(c *cli.Context, l *link, editor *sendEditor, result bridge.Result, err error) error {
	editor.screen.end()
	interrupted := c.Context.Err() != nil
	var task *mapping.TaskError
	if err != nil && !errors.As(err, &task) {
		if interrupted {
			p.say("cancelled")
			return errors.Join(errInterrupted, editor.output.end(result, ""))
		}
		end := editor.output.end(result, "")
		if errors.As(err, new(*fs.PathError)) {
			return err // of stdout: once is enough
		}
		return errors.Join(err, end)
	}
	words := ""
	if task != nil {
		words = task.Text
		result.State = task.State
	}
	if err := editor.output.end(result, words); err != nil {
		return err
	}
	switch {
	case interrupted:
		p.say("%s", cancelled(result))
		return errInterrupted
	case task != nil && task.State == a2a.StateAuthRequired:
		return task
	case task != nil:
		if task.Text != "" && editor.format != formatEvents {
			// The cause was printed when it happened.
			task = &mapping.TaskError{State: task.State, Text: task.Text}
		}
		p.say("%v", task)
	case result.State == a2a.StateRejected:
		p.say("agent: the task was rejected")
	case result.State == a2a.StateCanceled:
		p.say("agent: the task was cancelled")
	case result.Waits && editor.format == formatText:
		p.say("the agent waits for an answer: %s", resumes(c, l, result))
	}
	if unanswered := editor.approver.untold(result.Unanswered); len(unanswered) > 0 {
		p.say("not allowed, because nobody answered: %s", strings.Join(unanswered, "; "))
	}
	if !c.Bool("fail") {
		return nil
	}
	return failure(result)
}

// failure returns the error that --fail makes of a result.
func failure(result bridge.Result) error {
	switch result.State {
	case a2a.StateFailed, a2a.StateRejected, a2a.StateCanceled:
		return errFailed
	}
	switch {
	case len(result.Unanswered) > 0:
		return errFailed
	case result.Waits:
		return errWaits
	}
	return nil
}

// cancelled tells what became of a task that Ctrl-C has cancelled.
func cancelled(result bridge.Result) string {
	switch {
	case result.State == a2a.StateCanceled || result.TaskID == "":
		return "cancelled"
	case result.State.Terminal():
		return "cancelled; the agent says that the task is " + string(result.State)
	}
	return "cancelled; the agent has not said yet that task " + result.TaskID + " has ended"
}

// resumes returns the command that continues a task, in shell syntax, or tells why
// there is none.
func resumes(c *cli.Context, l *link, r bridge.Result) string {
	command := programFor(c) + " send --task-id " + shellWord(r.TaskID) + ` "..."` + contextOf(r.ContextID)
	switch {
	case l.http.Process != nil:
		return command + "; but the agent is ended now: that does only if it keeps its tasks"
	case stringOf(c, "agent") == demoAgent:
		return "it cannot come, because the demo that is built in ends with this command; answer on a terminal, or serve one that stays: a2astdio demo --listen :4000"
	}
	return command
}

// programFor returns the beginning of a command line for the same agent.
func programFor(c *cli.Context) string {
	command := programName
	for _, name := range []string{"agent", "agent-command", "workspace"} {
		if l := where(c, name); l.IsSet(name) && l.String(name) != "" && l.String(name) != os.Getenv(env(name)[0]) {
			command += " --" + name + " " + shellWord(l.String(name))
		}
	}
	return command
}

func contextOf(id string) string {
	if id == "" {
		return ""
	}
	return " (context " + id + ")"
}

func shellWord(s string) string { return safe.ShellWord(s) }
