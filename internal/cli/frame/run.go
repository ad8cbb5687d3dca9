package frame

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"
)

// RunCommand runs the command that the command line names.
//
// The library has App.Run for this, which is not called: it can print help, by
// text/template. A template may call any method by its name, so that the linker would
// keep all exported methods of all types: 2.3 MB of this program.
func (p *Program) RunCommand(ctx context.Context, app *cli.App) error {
	if p.await == nil { // this may be called again while others speak
		p.await = func() { AwaitSignals(ctx) }
	}
	text, err := p.read(app)
	if err != nil {
		return err
	}
	if text != "" || len(p.levels) > 1 { // an editor is answered later
		p.await()
	}
	if text != "" {
		return p.showText(text)
	}
	c := &cli.Context{Context: ctx}
	for i, l := range p.levels {
		var arguments []string
		if i == len(p.levels)-1 {
			arguments = p.arguments
		}
		set, err := l.flagSet(arguments)
		if err != nil {
			return err
		}
		c = cli.NewContext(app, set, c)
		c.Command = l.Command
	}
	return c.Command.Action(c)
}

// showText writes what was asked for instead of a command.
func (p *Program) showText(text string) error {
	_, err := io.WriteString(p.Stdout, text)
	return err
}

type signalsKey struct{}

// WithSignals returns a context for [AwaitSignals]: listening is closed once the program listens
// to signals.
func WithSignals(ctx context.Context, listening <-chan struct{}) context.Context {
	return context.WithValue(ctx, signalsKey{}, listening)
}

// AwaitSignals waits until the program listens to signals. Before that they have their default
// effect: they end us without a word.
func AwaitSignals(ctx context.Context) {
	if listening, ok := ctx.Value(signalsKey{}).(<-chan struct{}); ok {
		<-listening
	}
}
