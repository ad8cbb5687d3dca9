// Package cli is the command line: one file a command, and around them what they
// share.
//
// stdout carries the protocol or a result and nothing else; whatever is wrong is
// said on stderr, which is silent otherwise. A misuse ends with status 2 and
// leaves stdout empty, because the first line there would be read as the
// protocol's. [Main] is a function of its arguments, so that all of it can be
// tested.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A program is one run of a2astdio.
type program struct {
	args    []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	version string
	// help is what the library writes: help and version. It goes to stdout if it
	// was asked for, which is known only at the end: the library writes help for
	// a misuse to the same place.
	help bytes.Buffer
	// terminal opens the terminal that the user sits at.
	terminal func() (io.ReadWriteCloser, error)
}

// Main runs a2astdio and returns its exit status. It ends soon after ctx does.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, version string) int {
	if len(args) > 1 && args[1] == superviseWord {
		return supervise(args[2:], stdin, stderr)
	}
	p := &program{args: args, stdin: stdin, stdout: stdout, stderr: stderr, version: version, terminal: openTerminal}
	if p.version == "" {
		p.version = buildVersion()
	}
	return p.run(ctx)
}

func (p *program) run(ctx context.Context) int {
	err := p.app().RunContext(ctx, p.args)
	if errors.Is(err, errHelp) {
		err = nil
	}
	if err == nil && p.help.Len() > 0 {
		// Not even an empty write: it would wait for one that is blocked by an
		// editor that does not read.
		_, err = p.stdout.Write(p.help.Bytes())
	}
	return p.exit(ctx, err)
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// A command is made only if it is needed: all of them, with their options and
// their help, cost as much as serving takes to begin, and an editor waits.
type command struct {
	name string
	make func() *cli.Command
}

func (p *program) commands() []command {
	return []command{
		{"send", p.sendCommand},
		{"card", p.cardCommand},
		{"task", p.taskCommand},
		{"call", p.callCommand},
		{"doctor", p.doctorCommand},
		{"demo", p.demoCommand},
	}
}

// asksHelp reports whether help may be asked for. A prompt that has such a word
// asks for more than is needed, which does no harm.
func (p *program) asksHelp() bool {
	return slices.ContainsFunc(p.args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return name == "help" || name == "h"
	})
}

// named are the commands that the arguments may name, all if help is asked for.
func (p *program) named() []command {
	if p.asksHelp() {
		return p.commands()
	}
	return slices.DeleteFunc(p.commands(), func(c command) bool { return !slices.Contains(p.args, c.name) })
}

func (p *program) app() *cli.App {
	app := &cli.App{
		Name:    "a2astdio",
		Version: p.version,
		Flags:   rootFlags(),
		Action:  p.serve,

		Writer:    &p.help,
		ErrWriter: p.stderr,
		Reader:    p.stdin,
		// Without these the library prints help on a misuse, ends the process in
		// the middle of Run, and splits "Accept: a, b" into two headers.
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {},
		DisableSliceFlagSeparator: true,
	}
	for _, c := range p.named() {
		app.Commands = append(app.Commands, c.make())
	}
	if p.asksHelp() {
		app.CustomAppHelpTemplate = rootHelp(app)
	} else {
		app.Flags = lean(app.Flags)
	}
	prepare(app.Commands)
	return app
}

// noArguments is what a command that takes no arguments says to one.
func (p *program) noArguments(c *cli.Context) error {
	if c.NArg() == 0 {
		return nil
	}
	if c.Command.Name == "a2astdio" || c.Command.Name == "" {
		var names []string
		for _, command := range p.commands() {
			names = append(names, command.name)
		}
		return usagef("there is no command %q: there are %s", c.Args().First(), strings.Join(names, ", "))
	}
	return usagef("%s takes no arguments, and got %q", c.Command.Name, c.Args().First())
}

// misplaced finds an option behind the arguments, where the library takes it for
// one of them: a prompt "fix it --approve once" would reach the agent.
func (p *program) misplaced(c *cli.Context) error {
	if slices.Contains(p.args, "--") {
		return nil // the user has said where options end
	}
	for _, arg := range c.Args().Slice() {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || name == "" {
			continue
		}
		for _, f := range append(slices.Clone(c.Command.Flags), c.App.Flags...) {
			if slices.Contains(f.Names(), name) {
				return usagef("options go before the prompt, and %s is behind it: to send it as text, put -- before the prompt", arg)
			}
		}
	}
	return nil
}

// say writes a line to stderr.
func (p *program) say(format string, args ...any) {
	fmt.Fprintf(p.stderr, "a2astdio: %s\n", plainText(fmt.Sprintf(format, args...)))
}
