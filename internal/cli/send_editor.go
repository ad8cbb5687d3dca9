package cli

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
)

// Values of --output.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatEvents = "events"
)

// A sendEditor is a [bridge.Editor] for a shell: an output shows, an approver answers.
type sendEditor struct {
	format   string
	output   output
	approver *approver
	screen   *screen // nil: there is none

	// begun is called once the task is known, because a killed command does not reach its
	// end. It may be nil.
	begun func(contextID, taskID string)
	known string // the task given to begun
}

var _ bridge.Editor = (*sendEditor)(nil)

// An output shows a turn in one format. One goroutine at a time calls its methods.
type output interface {
	show(steps []mapping.Step) error
	// end writes the rest. failure is the agent's text about a failed task. It is called
	// once, also after an error.
	end(result bridge.Result, failure string) error
}

// sendEditor reads the options. stream: json has a line for each event, instead of one
// document at the end.
func (p *program) sendEditor(c *cli.Context, stream bool) (*sendEditor, error) {
	format := stringOf(c, "output")
	if c.Bool("verbose") && format != formatText {
		return nil, usagef("--verbose goes with -o text: -o %s holds everything anyway", format)
	}
	e := &sendEditor{format: format, approver: &approver{how: stringOf(c, "approve"), terminal: p.terminal, say: p.say}}
	switch {
	case format == formatText:
		e.screen, p.stdout, p.stderr = newScreen(p.stdout, p.stderr)
		e.approver.screen = e.screen
		text := &textOutput{out: p.stdout, plain: isTerminal(p.stdout), say: p.say, verbose: c.Bool("verbose"), screen: e.screen, agent: "the agent"}
		if e.screen == nil && sameStream(p.stdout, p.stderr) { // 2>&1 into a log
			text.say = func(format string, args ...any) {
				_ = text.endLine() // a stdout that is gone needs none
				p.say(format, args...)
			}
			e.approver.say = text.say
		}
		e.output = text
	case format == formatJSON && stream:
		e.output = &streamOutput{out: p.jsonOut(), say: p.say}
	case format == formatJSON:
		e.output = &jsonOutput{out: p.jsonOut(), say: p.say}
	default:
		e.output = &eventsOutput{out: p.jsonOut()}
	}
	return e, nil
}

// waitsFor names who is waited for while nothing comes.
func (e *sendEditor) waitsFor(name string) {
	e.screen.now(name)
	if text, ok := e.output.(*textOutput); ok {
		text.agent = name
	}
}

// Show implements [bridge.Editor].
func (e *sendEditor) Show(_ context.Context, steps []mapping.Step) error {
	for i := range steps {
		if s := &steps[i]; e.begun != nil && s.Kind == mapping.StepState && s.TaskID != "" && s.TaskID != e.known {
			e.known = strings.Clone(s.TaskID)
			e.begun(strings.Clone(s.ContextID), e.known)
		}
	}
	return e.output.show(steps)
}

// Ask implements [bridge.Editor].
func (e *sendEditor) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	return e.approver.ask(ctx, questions)
}
