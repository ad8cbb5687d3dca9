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
	"context"
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
	// levels are the commands that the command line names, a2astdio first.
	levels []level
	// before is how many arguments stand before "--"; -1 if there is none.
	before int
	// terminal opens the terminal that the user sits at.
	terminal func() (io.ReadWriteCloser, error)
	// stdinNoted: the user knows that there is something on stdin.
	stdinNoted bool
	// login lets the user log in where setup finds that the agent wants it; nil: what
	// the user can do about it is said.
	login login
	// noLogins: sign-ins that are stored are not used, because they may be renewed.
	noLogins bool
	// mask takes credentials out of what is said; nil: none are known.
	mask func(string) string
	// alone: the workspace's file is not read, because setup is to mend what is wrong
	// with it.
	alone bool
	// warned: that certificates are not verified was said.
	warned bool
}

// Main runs a2astdio and returns its exit status. It ends soon after ctx does.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, version string) int {
	if len(args) > 1 && args[1] == superviseWord {
		return supervise(args[2:], stdin, stderr)
	}
	if len(args) > 1 && args[1] == completeWord {
		return complete(args[2:], stdout)
	}
	p := &program{args: args, stdin: stdin, stdout: stdout, stderr: stderr, version: version, terminal: openTerminal, login: signInAtSetup}
	if p.version == "" {
		p.version = buildVersion()
	}
	return p.run(ctx)
}

func (p *program) run(ctx context.Context) int {
	return p.exit(ctx, p.runCommand(ctx, p.app()))
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
		{"auth", p.authCommand},
		{"card", p.cardCommand},
		{"task", p.taskCommand},
		{"call", p.callCommand},
		{"doctor", p.doctorCommand},
		{"setup", p.setupCommand},
		{"agents", p.agentsCommand},
		{"config", p.configCommand},
		{"sessions", p.sessionsCommand},
		{"init", p.initCommand},
		{"demo", p.demoCommand},
		{"companion", p.companionCommand},
		{"webhook", p.webhookCommand},
		{"trace", p.traceCommand},
		{"proxy", p.proxyCommand},
		{"tap", p.tapCommand},

		{"completion", p.completionCommand},
		{"version", p.versionCommand},
		{"licenses", p.licensesCommand},
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
		Name:    programName,
		Version: p.version,
		Flags:   rootFlags(),
		Action:  p.serve,
	}
	for _, c := range p.named() {
		app.Commands = append(app.Commands, c.make())
	}
	if p.asksHelp() {
		app.CustomAppHelpTemplate = rootHelp(app)
	} else {
		app.Flags = lean(app.Flags)
	}
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
		return noCommand(c.Args().First(), c.Args().First(), names)
	}
	return usagef("%s takes no arguments, and got %q", c.Command.Name, c.Args().First())
}

// say writes a line to stderr.
func (p *program) say(format string, args ...any) {
	fmt.Fprintf(p.stderr, "a2astdio: %s\n", plainText(p.masked(fmt.Sprintf(format, args...))))
}

// masked is a text without the user's credentials: agents echo them in errors.
func (p *program) masked(text string) string {
	if p.mask == nil {
		return text
	}
	return p.mask(text)
}
