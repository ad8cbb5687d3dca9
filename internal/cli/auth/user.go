package auth

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
)

func (u *TerminalUser) Confirm(ctx context.Context, q *oauth.Question) (yes bool, err error) {
	a := u.Asker
	if a == nil {
		var done func()
		a, done = u.P.NewAsker(ctx, false)
		defer done()
	}
	if !a.Asks() {
		return false, credentials.ErrCannot
	}
	const question = "Go there?"
	if u.Asker == nil {
		return a.Confirm(ProviderQuestion(q), question)
	}
	a.Say("%s", ProviderQuestion(q))
	return a.Yes(question, false)
}

func (u *TerminalUser) Visit(ctx context.Context, local, text string) error {
	if err := OpenBrowser(local, u.Workspaces); err != nil {
		u.tell("%s. Open this in a browser on this machine:\n\n  %s\n", text, local)
		return nil
	}
	u.tell("%s, in the browser that opens. If none does, open this on this machine:\n\n  %s\n", text, local)
	return nil
}

func (u *TerminalUser) Enter(_ context.Context, code, page, complete string, until time.Time) error {
	text := "To sign in, open this on any device:\n\n  " + page + "\n\nand enter the code  " + code
	if complete != "" {
		text += "\n\nThis has the code in it already:\n\n  " + complete
	}
	if !until.IsZero() {
		text += "\n\nIt is good until " + until.Local().Format("15:04") + "."
	}
	u.tell("%s\n", text)
	return nil
}

// Browser reports whether the user would see a browser that opens on this machine: not
// by SSH.
func (u *TerminalUser) Browser() bool { return HasBrowser(os.Getenv) }

// Secret reads a secret without echo.
func (u *TerminalUser) Secret(ctx context.Context, prompt string) (string, error) {
	tty, err := u.P.Terminal()
	if err != nil {
		return "", errors.New("there is no terminal to ask you on: auth login --with-token reads it from stdin")
	}
	defer tty.Close()
	fd, ok := frame.Descriptor(tty)
	if !ok {
		return "", errors.New("the terminal would show what you type: auth login --with-token reads it from stdin")
	}
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	// This also runs when an interrupt ends the question; otherwise the terminal would
	// stay without echo.
	defer func() { _ = term.Restore(fd, before) }()
	if _, err := io.WriteString(tty, safe.Plain("The "+prompt+" (it does not show): ")); err != nil {
		return "", err
	}
	secret, ended, err := frame.Await(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	_, _ = io.WriteString(tty, "\n") // the cursor stands behind the question
	if !ended {
		err = frame.ErrInterrupted
	}
	return string(secret), err
}

func (u *TerminalUser) tell(format string, args ...any) {
	if u.Asker != nil {
		u.Asker.Say(format, args...)
		return
	}
	u.P.Tell(format, args...)
}

// OpenBrowser opens a page of this machine in the user's browser, or in the one that
// BROWSER names, by no program of the workspaces. Others on the machine can read the command line: see oauth's loopback.
func OpenBrowser(page string, workspaces *agentproc.Workspaces) error {
	argv := []string{"xdg-open"}
	switch browser := os.Getenv("BROWSER"); {
	case browser != "":
		argv = []string{browser}
	case runtime.GOOS == "darwin":
		argv = []string{"open"}
	case runtime.GOOS == "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	cmd, err := agentproc.Command(context.Background(), nil, append(argv, page), workspaces)
	if err == nil {
		err = cmd.Start() // stdin and stdout are the editor's
	}
	if err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // a browser may run for days
	return nil
}

// HasBrowser reports whether the user would see a browser that opens here.
func HasBrowser(getenv func(string) string) bool {
	switch {
	case getenv("NO_BROWSER") != "":
		return false
	case getenv("BROWSER") != "": // that one exists, also in a CI or over SSH
		return true
	}
	for _, name := range []string{"CI", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"} {
		if getenv(name) != "" {
			return false
		}
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}
