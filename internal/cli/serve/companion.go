package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/companion"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

func CompanionCommand(p *frame.Program) *cli.Command {
	return p.NewCommand("companion [plugin] [nvim|emacs]", runCompanion,
		frame.Option{Flag: "name", Takes: "NAME", Help: "what the CLIs call the editor, for example Neovim"},
		frame.Option{Flag: "workspace", Kind: frame.List, Takes: "DIR", Help: "a directory that is open in the editor; a CLI below it connects. Repeatable; without it, the current directory"},
		frame.Option{Flag: "no-diffs", Kind: frame.Switch, Help: "the plugin shows no diffs: the CLIs ask in the terminal alone"},
		frame.Option{Flag: "editor-pid", Kind: frame.Number, Shown: "that of the program that started a2astdio", Takes: "PID", Help: "the editor's process"})
}

// runCompanion serves an editor and its agents until the input ends. A signal ends it the
// same way: editors send one.
func runCompanion(p *frame.Program, c *cli.Context) (err error) {
	if args := c.Args().Slice(); len(args) > 0 {
		return printPlugin(p, args)
	}
	opts := &companion.Options{DisplayName: c.String("name"), NoDiffs: c.Bool("no-diffs"), EditorPID: c.Int("editor-pid"), Version: p.Version}
	if opts.Workspaces, err = companionWorkspaces(c); err != nil {
		return err
	}
	l := &reach.Link{}
	defer l.Close()
	secrets := &trace.Options{Version: p.Version}
	if frame.IsSet(c, "log") || frame.IsSet(c, "log-level") {
		opts.Log, err = reach.OpenLog(p, c, l, secrets)
	} else {
		// A wrong notification has no answer, so the log has to say what is wrong.
		opts.Log = slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if err != nil {
		return err
	}
	if err := reach.OpenTrace(p, c, l, &transport.ClientOptions{}, secrets); err != nil {
		return err
	}
	if frame.IsTerminal(p.Stdin) {
		p.Say("an editor's plugin would speak to this on stdin now: see docs/companion.md (Ctrl-D ends this)")
	}
	err = serveCompanion(c.Context, p.Stdin, p.Stdout, l.Options.Tap, opts)
	if errors.Is(err, companion.ErrParams) {
		return frame.Usagef("%v", err) // the user named the workspaces
	}
	return err
}

func printPlugin(p *frame.Program, args []string) error {
	switch strings.Join(args, " ") {
	case "plugin nvim":
		_, err := fmt.Fprintf(p.Stdout, "-- a2astdio %s\n%s", p.Version, companion.NeovimPlugin)
		return err
	case "plugin emacs":
		_, err := fmt.Fprintf(p.Stdout, "%s;; a2astdio %s\n", companion.EmacsPlugin, p.Version)
		return err
	}
	return frame.Usagef("companion does not take %q: it takes plugin nvim or plugin emacs; docs/companion.md tells how to write another plugin", strings.Join(args, " "))
}

// companionWorkspaces returns the command's own --workspace, or else a2astdio's.
func companionWorkspaces(c *cli.Context) (dirs []string, err error) {
	given := frame.StringsOf(c, "workspace")
	if before := c.Lineage()[1].String("workspace"); len(given) == 0 && before != "" {
		given = []string{before}
	}
	for _, dir := range given {
		abs, err := reach.Directory(dir)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, abs)
	}
	return dirs, nil
}

// addCompanion applies --companion and --context to the bridge.
func addCompanion(p *frame.Program, c *cli.Context, l *reach.Link) error {
	if !c.Bool("companion") {
		if c.Bool("context") {
			return frame.Usagef("--context needs --companion, through which the editor says what the user looks at")
		}
		return nil
	}
	l.Options.CompanionContext = c.Bool("context")
	l.Options.Companion = func(editor bridge.CompanionEditor, info bridge.CompanionInfo) (bridge.Companion, error) {
		opts := &companion.Options{
			DisplayName: info.Name,
			NoDiffs:     info.NoDiffs,
			Version:     p.Version,
			Log:         l.Options.Log,
		}
		if info.Workspace != "" {
			opts.Workspaces = []string{info.Workspace}
		}
		server, err := companion.Start(editor, opts)
		if err != nil {
			p.Say("%v", err) // the bridge goes on without it
			return nil, err
		}
		return companionServer{server}, nil
	}
	return nil
}

// A companionServer is a companion for the bridge.
type companionServer struct{ *companion.Server }

func (b companionServer) OpenFiles() (files []bridge.OpenFile) {
	state := b.Context().WorkspaceState
	if state == nil {
		return nil
	}
	for _, f := range state.OpenFiles {
		file := bridge.OpenFile{Path: f.Path, Active: f.IsActive, Selection: f.SelectedText}
		if f.Cursor != nil {
			file.Line = int(f.Cursor.Line)
		}
		files = append(files, file)
	}
	return files
}

// serveCompanion runs a companion for the editor at in and out: a bridge without an agent. It
// returns nil at the end of input, and when ctx ends.
func serveCompanion(ctx context.Context, in io.Reader, out io.Writer, tap func(bool, []byte), opts *companion.Options) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	start := func(editor bridge.CompanionEditor, _ bridge.CompanionInfo) (bridge.Companion, error) {
		server, err := companion.Start(editor, opts)
		if failed = err; err != nil {
			stop()
			return nil, err
		}
		return companionServer{server}, nil
	}
	noAgent := func(context.Context) (*bridge.Options, error) {
		return nil, errors.New("editor: the companion alone has no agent: its methods begin with ide/ and companion/")
	}
	err := bridge.Serve(serving, in, out, &bridge.Options{Protocol: bridge.ProtocolA2A, Companion: start, Setup: noAgent, Tap: tap, Log: opts.Log})
	if serving.Err() != nil {
		return failed
	}
	return err
}
