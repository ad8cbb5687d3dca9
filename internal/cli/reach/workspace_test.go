package reach

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A typist answers at a terminal.
type typist struct {
	io.Reader
	strings.Builder // what was shown
}

func (*typist) Close() error { return nil }

// A user at a terminal is asked once for each workspace, by its real path, whatever it is
// called; a no, or nobody who could answer, is a no.
func TestAllowAtTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of Unix")
	}
	root, store := t.TempDir(), t.TempDir()
	dir, link := filepath.Join(root, "a\x1b[2J\nAll is well"), filepath.Join(root, "link")
	must.Do(t, errors.Join(os.Mkdir(dir, 0o700), os.Symlink(dir, link)))
	for _, test := range []struct {
		command, dir, typed string
		asked, allowed      bool
	}{
		{"./agent", dir, "", true, false}, {"./agent", dir, "n\n", true, false}, {"./agent", dir, "y\n", true, true},
		{"./agent", dir, "", false, true}, {"./agent", link, "", false, true}, {"./other", dir, "n\n", true, false}, {"./agent", root, "n\n", true, false},
	} {
		tty := &typist{Reader: strings.NewReader(test.typed)}
		p := &frame.Program{Stdout: io.Discard, Terminal: func() (io.ReadWriteCloser, error) { return tty, nil }}
		err := allowAtTerminal(t.Context(), p, newConsent(store, test.command, test.dir))
		shown := tty.String()
		if (err == nil) != test.allowed || strings.Contains(shown, "Do you trust what is in it?") != test.asked || strings.ContainsAny(strings.TrimSpace(shown), "\x1b\n") {
			t.Errorf("%+v: %v, %q", test, err, shown)
		}
	}
	nobody := &frame.Program{Terminal: func() (io.ReadWriteCloser, error) { return nil, errors.New("none") }}
	if err := allowAtTerminal(t.Context(), nobody, newConsent(store, "./agent", root)); err == nil {
		t.Error("nobody was asked, and it runs")
	}
}

// The agent runs in the directory that the user has allowed, also if the link to it leads
// elsewhere when the agent is started again.
func TestRunsWhereItIsAllowed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	link := filepath.Join(root, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	l, opts := &Link{Options: bridge.Options{Workspace: link}}, &agentproc.Options{Command: "./agent"}
	app := &cli.App{Flags: []cli.Flag{&cli.StringFlag{Name: "working-directory"}}, Action: func(c *cli.Context) error {
		return whereAgentRuns(nil, c, l, opts)
	}}
	must.Do(t, app.Run([]string{"a2astdio", "--working-directory", "workspace"}))
	if opts.Dir != root || opts.Base != root || l.Consent.dir != root {
		t.Errorf("it runs in %s, from %s; %s is allowed", opts.Dir, opts.Base, l.Consent.dir)
	}
}

// A mute is an editor that cannot show a question.
type mute struct{ bridge.Asker }

func (mute) Confirm(context.Context, string) (bool, error) { return false, bridge.ErrCannotAsk }

// An editor that cannot ask is told where else the user can allow it.
func TestAllowWithoutQuestion(t *testing.T) {
	w := newConsent(t.TempDir(), "./agent", t.TempDir())
	if err := w.SignIn(t.Context(), mute{}); err == nil || !strings.Contains(err.Error(), "run a2astdio doctor") {
		t.Errorf("%v; want that a2astdio doctor asks, too", err)
	}
}
