// Package frame is what a command is made of: options, help, completion, the user's terminal,
// pages and exit statuses. It knows no agent.
//
// Two things need a goroutine that may stay until the process ends, because a read of a terminal cannot
// be ended everywhere: [Await], for what waits for the user, and the keyboard's read, of which there is
// one at a time. A [Screen] has a timer, which [Screen.End] stops.
package frame

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// A Program is one run of a2astdio.
type Program struct {
	Args    []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version string
	// Commands are all of a2astdio's; Serve is what it does without one.
	Commands []Command
	Serve    Action
	// levels are the commands on the command line, a2astdio first; arguments are those of the
	// last one. Before counts those before "--"; -1 without it. unfinished is an option at
	// the end that lacks its value.
	levels     []*level
	arguments  []string
	Before     int
	unfinished *Option
	// Options are those of each command that was made.
	Options map[*cli.Command][]*Option
	// Terminal opens the user's terminal.
	Terminal func() (io.ReadWriteCloser, error)
	// Mask removes credentials from messages; nil: none are known.
	Mask func(string) string
	// Alone: the workspace's file is not read, because setup has to mend it.
	Alone bool
	// Others: the agent is one of several that are reached, and not the one that is named or the
	// default: credentials that options and variables give are not for it.
	Others bool
	// Serving: an editor is served, and hears of faults in its protocol.
	Serving bool
	// Warned: the user was warned that certificates are not verified.
	Warned bool
	saying sync.Mutex
	await  func() // until signals are listened to
}

func BuildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// A Command is made only if it is needed. Making all of them, with options and help,
// takes as long as beginning to serve, while the editor waits.
type Command struct {
	Name string
	Make func(*Program) *cli.Command
}

// asksHelp reports whether help may be asked for. A prompt that holds such a word makes
// more commands than needed, which does no harm.
func (p *Program) asksHelp() bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return name == "help" || name == "h"
	})
}

// App makes the library's app, with the commands that the arguments may name; all if help may be
// asked for.
func (p *Program) App() *cli.App {
	app := &cli.App{
		Name:    ProgramName,
		Version: p.Version,
		Action:  func(c *cli.Context) error { return p.Serve(p, c) },
	}
	all := p.asksHelp()
	for _, c := range p.Commands {
		if all || slices.Contains(p.Args, c.Name) {
			app.Commands = append(app.Commands, c.Make(p))
		}
	}
	return app
}

// Say writes a line to stderr. It may be called by several goroutines.
func (p *Program) Say(format string, args ...any) {
	if p.await != nil {
		p.await()
	}
	p.saying.Lock()
	defer p.saying.Unlock()
	fmt.Fprintf(p.Stderr, "a2astdio: %s\n", safe.Plain(p.masked(fmt.Sprintf(format, args...))))
}

// masked removes the user's credentials from a text: agents echo them in errors.
func (p *Program) masked(text string) string {
	if p.Mask == nil {
		return text
	}
	return p.Mask(text)
}

// Tell writes a line that is no error to stderr.
func (p *Program) Tell(format string, args ...any) {
	fmt.Fprint(p.Stderr, safe.Plain(fmt.Sprintf(format, args...)))
}

// RunCommand runs the command that the command line names.
//
// The library has App.Run for this, which is not called: it can print help, by
// text/template. A template may call any method by its name, so that the linker would
// keep all exported methods of all types: 2.3 MB of this program.
func (p *Program) RunCommand(ctx context.Context, app *cli.App) error {
	if p.await == nil { // this may be called again while others speak
		p.await = func() { AwaitSignals(ctx) }
	}
	text, err := p.parse(app)
	if err != nil {
		return err
	}
	if text != "" || len(p.levels) > 1 { // an editor is answered later
		p.await()
	}
	if text != "" {
		return p.showText(text)
	}
	if len(p.levels) > 1 {
		UseProcessors()
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

// UseProcessors undoes what package oneproc has done: the program uses as many processors as the user has
// said, or all.
func UseProcessors() {
	if n, err := strconv.Atoi(os.Getenv("GOMAXPROCS")); err == nil && n > 0 {
		runtime.GOMAXPROCS(n)
		return
	}
	runtime.SetDefaultGOMAXPROCS()
}

// showText writes what was asked for instead of a command.
func (p *Program) showText(text string) error {
	_, err := io.WriteString(p.Stdout, text)
	return err
}

type signalsKey struct{}

// WithSignals returns a context for [AwaitSignals]: await returns once the program listens
// to signals.
func WithSignals(ctx context.Context, await func()) context.Context {
	return context.WithValue(ctx, signalsKey{}, await)
}

// AwaitSignals waits until the program listens to signals. Before that they have their default
// effect: they end us without a word.
func AwaitSignals(ctx context.Context) {
	if await, ok := ctx.Value(signalsKey{}).(func()); ok {
		await()
	}
}
