package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// interruptWait is how long after Ctrl-C the turn may take to end: the bridge
// promises two seconds, and whoever reads our output may be slow.
const interruptWait = 2500 * time.Millisecond

func (p *program) sendCommand() *cli.Command {
	c := &cli.Command{
		Name:  "send",
		Usage: "send one prompt to the agent and show what comes of it",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: formatText,
				Usage: "`text|json|events`: text is the agent's words, as they come; json is one document at the end, A2A 1.0's task or message; events is one JSON object a line for everything that happens"},
			&cli.StringFlag{Name: "approve", Value: approveAsk,
				Usage: "`ask|once|always|reject`: what to say when the agent asks whether it may do something; ask asks you on the terminal, and rejects if there is none"},
			&cli.BoolFlag{Name: "fail",
				Usage: "exit with 1 if the task failed, was rejected or cancelled, or if an approval was wanted that nobody could give"},
			&cli.StringFlag{Name: "task-id", Usage: "`ID`: go on with a task that waits for you, instead of beginning one"},
			&cli.StringFlag{Name: "context-id", Usage: "`ID`: begin the task in the context of earlier ones"},
			&cli.BoolFlag{Name: "async", Usage: "do not wait: show the task's ID, or with -o json the task, as soon as the agent has taken it"},
			&cli.BoolFlag{Name: "stream", Usage: "with -o json, write A2A 1.0's StreamResponse, one a line, as they come"},
			&cli.StringFlag{Name: "metadata", Usage: "`JSON|@FILE`: an object to add to the message's metadata; the prompt is no slash command then"},
			&cli.StringSliceFlag{Name: "accept", Usage: "`MODES`: media types that the answer may have, like text/plain; with commas between, or repeatable"},
			&cli.BoolFlag{Name: "verbose", Usage: "with -o text, tell on stderr what the agent thinks and which tools it uses"},
		}, behindCommand()...),
		Action: p.send,
	}
	c.CustomHelpTemplate = commandHelp(c, sendHelp)
	return c
}

var sendHelp = help{
	intro: `Sends a prompt and shows the agent's answer until it is done. The prompt is the
arguments; or stdin, if it is - or if there are no arguments and stdin is a file
or a pipe; or both, the arguments first: git diff | a2astdio send "review" -

The agent works in the current directory, unless --workspace names another.
The answer is all that is on stdout. Ctrl-C cancels the task.`,
	usage: []string{`a2astdio --agent URL send [options] [PROMPT...|-]`},
	examples: []example{
		{`a2astdio --agent demo send hello`, "try it, with the agent that is built in"},
		{`a2astdio send "fix the failing test"`, "the agent is in A2ASTDIO_AGENT; it asks before it changes anything"},
		{`git diff | a2astdio send "review this" - > review.md`, "a question about what comes from a pipe"},
		{`a2astdio send --approve once --fail "update the changelog" || exit`, "in a script: nobody is there to ask, and failing is failing"},
		{`id=$(a2astdio send --async "fix the tests")`, "leave it to the agent; task subscribe, get and download have the rest"},
		{`a2astdio send -o json hello | jq -r .task.contextId`, "the context, for --context-id of the next prompt"},
		{`a2astdio send -o events hello | jq -r 'select(.method=="event/toolCall").params.toolCall.tool_name'`, "which tools were used"},
	},
	after: `
The options of a2astdio itself (a2astdio --help) may stand here, too.

Exit status:
` + exitHelp + "\n",
}

// send is one turn for a shell.
func (p *program) send(c *cli.Context) error {
	if err := p.misplaced(c); err != nil {
		return err
	}
	editor, err := p.sendEditor(c, c.Bool("stream"))
	if err != nil {
		return err
	}
	message, err := p.message(c)
	if err != nil {
		return err
	}
	l, err := p.link(c)
	if err != nil {
		return err
	}
	defer l.close()
	prompt, err := p.prompt(c)
	if err != nil {
		return err
	}
	if _, err := l.client.Card(c.Context); err != nil {
		return &notReached{err}
	}
	agent := bridge.NewAgent(&l.options)
	if c.Bool("async") {
		defer agent.Close()
		return p.sendAsync(c, l, agent, message, prompt, editor.format)
	}
	session := agent.NewSession(l.options.Workspace)
	session.Resume(c.String("context-id"), c.String("task-id"))

	result, err := p.turn(c.Context, session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
		if message.TaskID != "" || len(message.Metadata) > 0 || len(message.AcceptedOutputModes) > 0 {
			message.Parts = []a2a.OutPart{{Text: prompt}}
			return t.Send(ctx, message, editor)
		}
		return t.Run(ctx, []acp.ContentBlock{{Type: "text", Text: prompt}}, editor)
	})
	if errors.Is(err, errStuck) {
		return errInterrupted // the turn still uses the agent: the process's end is its end
	}
	if editor.deaf && result.TaskID != "" && !result.State.Terminal() {
		// Nobody reads what the task says; it need not go on.
		ctx, stop := context.WithTimeout(context.WithoutCancel(c.Context), interruptWait)
		defer stop()
		if _, err := l.client.Cancel(ctx, result.TaskID); err != nil {
			l.options.Log.Debug("cancelling", "task", result.TaskID, "err", err)
		}
	}
	agent.Close()
	return p.verdict(c, editor, result, err)
}

// errStuck is a turn that has not ended in time: it is blocked in writing to
// somebody who does not read.
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
		// Not with ctx: a turn that is cancelled tells the agent, and shows what
		// it still says.
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

// verdict writes what is left to write and decides how send ends.
func (p *program) verdict(c *cli.Context, editor *sendEditor, result bridge.Result, err error) error {
	interrupted := c.Context.Err() != nil
	var task *mapping.TaskError
	if err != nil && !errors.As(err, &task) {
		if interrupted {
			return errors.Join(errInterrupted, editor.output.end(result, ""))
		}
		return errors.Join(err, editor.output.end(result, ""))
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
		return errInterrupted
	case task != nil && task.State == a2a.StateAuthRequired:
		return task
	case task != nil:
		if task.Text != "" && editor.format != formatEvents {
			// The cause was said when it happened.
			task = &mapping.TaskError{State: task.State, Text: task.Text}
		}
		p.say("%v", task)
	case result.State == a2a.StateRejected:
		p.say("agent: the task was rejected")
	case result.State == a2a.StateCanceled:
		p.say("agent: the task was cancelled")
	case result.State == a2a.StateInputRequired && len(result.Pending) == 0 && editor.format == formatText && isTerminal(p.stderr):
		p.say("the agent waits for an answer: send --task-id %s ...", result.TaskID)
	}
	if !c.Bool("fail") {
		return nil
	}
	switch result.State {
	case a2a.StateFailed, a2a.StateRejected, a2a.StateCanceled:
		return errFailed
	}
	if editor.approver.unanswered() {
		return errFailed
	}
	return nil
}

// prompt puts the prompt together.
func (p *program) prompt(c *cli.Context) (string, error) {
	args := c.Args().Slice()
	stdin := len(args) == 0 && !isTerminal(p.stdin)
	if n := len(args); n > 0 && args[n-1] == "-" {
		stdin, args = true, args[:n-1]
	}
	text := strings.Join(args, " ")
	if stdin {
		piped, err := p.readPrompt(c.Context)
		if err != nil {
			return "", err
		}
		if text != "" && piped != "" {
			text += "\n\n"
		}
		text += piped
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("what is the prompt? Say send \"…\", or pipe it into send")
	}
	return text, nil
}
