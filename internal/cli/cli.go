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
	// levels are the commands on the command line, a2astdio first.
	levels []*cli.Command
	// before counts the arguments before "--"; -1 without it.
	before int
	// terminal opens the user's terminal.
	terminal func() (io.ReadWriteCloser, error)
	// mask removes credentials from messages; nil: none are known.
	mask func(string) string
	// alone: the workspace's file is not read, because setup has to mend it.
	alone bool
	// serving: an editor is served, and hears of faults in its protocol.
	serving bool
	// warned: the user was warned that certificates are not verified.
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
	p := &program{args: args, stdin: stdin, stdout: stdout, stderr: stderr, version: version, terminal: (&keyboard{open: openTerminal, notify: notifyResumed}).terminal}
	if p.version == "" {
		p.version = buildVersion()
	}
	return p.run(ctx)
}

func (p *program) run(ctx context.Context) int {
	err := p.runCommand(ctx, p.app())
	if err != nil && !p.serving && ctx.Err() == nil && !isTerminal(p.stdin) && p.namesNoCommand() {
		err = p.serveFault(ctx, err)
	}
	return p.exit(ctx, err)
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// A command is made only if it is needed. Making all of them, with options and help,
// takes as long as beginning to serve, while the editor waits.
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
		{"call", func() *cli.Command { return agentCommand("call", p.call) }},
		{"doctor", p.doctorCommand},
		{"setup", p.setupCommand},
		{"agents", p.agentsCommand},
		{"config", p.configCommand},
		{"sessions", p.sessionsCommand},
		{"demo", p.demoCommand},
		{"companion", p.companionCommand},
		{"trace", p.traceCommand},
		{"proxy", p.proxyCommand},
		{"tap", func() *cli.Command { return agentCommand("tap", p.tap) }},

		{"completion", func() *cli.Command { return newCommand("completion", p.completion) }},
		{"version", p.versionCommand},
	}
}

// asksHelp reports whether help may be asked for. A prompt that holds such a word makes
// more commands than needed, which does no harm.
func (p *program) asksHelp() bool {
	return slices.ContainsFunc(p.args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return name == "help" || name == "h"
	})
}

// named returns the commands that the arguments may name; all if help may be asked for.
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
	if !p.asksHelp() {
		app.Flags = lean(app.Flags)
	}
	return app
}

// say writes a line to stderr.
func (p *program) say(format string, args ...any) {
	fmt.Fprintf(p.stderr, "a2astdio: %s\n", plainText(p.masked(fmt.Sprintf(format, args...))))
}

// masked removes the user's credentials from a text: agents echo them in errors.
func (p *program) masked(text string) string {
	if p.mask == nil {
		return text
	}
	return p.mask(text)
}
