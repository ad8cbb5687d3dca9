package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/companion"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

func (p *program) companionCommand() *cli.Command {
	env := newCommand("companion env", p.companionEnv,
		&cli.StringFlag{Name: "shell", Value: shellPosix, Usage: "`sh|fish|powershell`: whose words to print it in"})
	c := newCommand("companion", p.companion,
		&cli.StringFlag{Name: "name", Usage: "`NAME`: what the CLIs call the editor, for example Neovim"},
		&cli.StringSliceFlag{Name: "workspace", Usage: "`DIR`: a directory that is open in the editor; a CLI below it connects. Repeatable; without it, the current directory"},
		&cli.BoolFlag{Name: "no-diffs", Usage: "the plugin shows no diffs: the CLIs ask in the terminal alone"},
		&cli.IntFlag{Name: "editor-pid", DefaultText: "that of the program that started a2astdio", Usage: "`PID`: the editor's process"},
		&cli.StringFlag{Name: "plugin", Usage: "`EDITOR`: print the plugin of this editor, and do nothing else: nvim"})
	c.Subcommands = []*cli.Command{env}
	return c
}

// companion serves an editor and its agents until the input ends. A signal ends it the
// same way: editors send one.
func (p *program) companion(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	switch editor := c.String("plugin"); editor {
	case "":
	case "nvim":
		_, err := fmt.Fprintf(p.stdout, "-- a2astdio %s\n%s", cmp.Or(p.version, "(devel)"), companion.NeovimPlugin)
		return err
	default:
		return usagef("there is no plugin for %q: there is one for nvim; docs/companion.md tells how to write another", editor)
	}
	opts := &companion.Options{DisplayName: c.String("name"), NoDiffs: c.Bool("no-diffs"), EditorPID: c.Int("editor-pid"), Version: p.version}
	var err error
	if opts.Workspaces, err = companionWorkspaces(c); err != nil {
		return err
	}
	l := &link{}
	defer l.close()
	secrets := &trace.Options{Version: p.version}
	if isSet(c, "log") || isSet(c, "log-level") {
		opts.Log, err = p.openLog(c, l, secrets)
	} else {
		// A wrong notification has no answer, so the log has to say what is wrong.
		opts.Log = p.warnings()
	}
	if err != nil {
		return err
	}
	if err := p.openTrace(c, l, &transport.ClientOptions{}, secrets); err != nil {
		return err
	}
	if isTerminal(p.stdin) {
		p.say("an editor's plugin would speak to this on stdin now: see docs/companion.md (Ctrl-D ends this)")
	}
	err = serveCompanion(c.Context, p.stdin, p.stdout, l.options.Tap, opts)
	if errors.Is(err, companion.ErrParams) {
		return usagef("%v", err) // the user named the workspaces
	}
	return err
}

// companionWorkspaces returns the command's own --workspace, or else a2astdio's.
func companionWorkspaces(c *cli.Context) (dirs []string, err error) {
	given := stringsOf(c, "workspace")
	if at := where(c, "workspace"); len(given) == 0 && at != c {
		given = []string{at.String("workspace")}
	}
	for _, dir := range given {
		abs, err := directory(dir)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, abs)
	}
	return dirs, nil
}

// warnings is the log of a part that was given no other.
func (p *program) warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
