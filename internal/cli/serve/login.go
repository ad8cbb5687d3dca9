package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/auth"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// IDs of the ways to sign in from an editor.
const (
	LoginMethod         = "a2astdio-login"
	TerminalLoginMethod = "a2astdio-login-terminal"
)

// loginWay are the options that a sign-in in another process needs, too: to reach the
// agent, to trust its card no more than this process does, and to find the provider.
var loginWay = []string{"ca-file", "client-cert", "client-key", "insecure", "card", "trust-origin", "signature-key", "require-signature",
	"oauth-client-secret-file", "oauth-client-id", "scheme", "oauth-issuer", "oauth-redirect", "oauth-scope", "oauth-param"}

// An editorLogin signs the user in from an editor.
type editorLogin struct{ link *reach.Link }

var _ bridge.Login = (*editorLogin)(nil)

// terminalLogin lets the editor start a2astdio auth login. Some editors add the
// arguments to those of a2astdio, others replace them; so the environment carries them,
// too.
func terminalLogin(l *reach.Link, host string) acp.AuthMethod {
	words := []string{"auth", "login"}
	agent := safe.Bare(l.SignInAs.Agent)
	variables, args := map[string]string{frame.Env("agent"): agent}, []string{"--agent", agent}
	for k := range config.Flags() {
		if !slices.Contains(loginWay, k.Flag) || !frame.IsSet(l.C, k.Flag) {
			continue
		}
		values := reach.Values(l.C, k)
		for i, v := range values {
			if k.Flag == "card" {
				values[i] = safe.Bare(v) // everybody can read options
			}
			args = append(args, "--"+k.Flag+"="+values[i])
		}
		variables[frame.Env(k.Flag)] = strings.Join(values, "\n")
	}
	return acp.AuthMethod{ID: TerminalLoginMethod, Name: "Sign in on a terminal", Description: "Sign in to the agent at " + host + ", by browser, by a code for another device, or with a token of yours",
		Type: acp.AuthTerminal, Args: words, Env: variables,
		Meta: &acp.AuthMeta{TerminalAuth: acp.TerminalAuth{Label: "a2astdio auth login", Command: reach.Self(), Args: append(args, words...)}}}
}

// Methods implements [bridge.Login]. A browser is offered where there is a provider to
// sign in at, named by the card or the user. An agent that wants a token, or is down, has
// none.
func (e *editorLogin) Methods(oauth bool) []acp.AuthMethod {
	host := strings.TrimPrefix(strings.TrimPrefix(credentials.Origin(e.link.SignInAs.Agent), "https://"), "http://")
	methods := []acp.AuthMethod{terminalLogin(e.link, host)}
	if oauth || e.link.SignInAs.OAuth.Issuer != "" {
		browser := acp.AuthMethod{ID: LoginMethod, Name: "Sign in", Description: "Sign in to the agent at " + host + ", in your browser"}
		methods = slices.Insert(methods, 0, browser)
	}
	return methods
}

// Needed implements [bridge.Login]. Without a card the agent was not asked, nor is a
// credential command.
func (e *editorLogin) Needed(ctx context.Context, card *a2a.Card) error {
	if card == nil {
		return nil
	}
	_, err := e.link.Credentials.Needed(ctx, card)
	return err
}

func (e *editorLogin) SignIn(ctx context.Context, user bridge.Asker) error {
	source := e.link.Credentials
	card, err := e.link.PublicCard(ctx)
	if err != nil {
		return err
	}
	if helps, err := source.Needed(ctx, card); err != nil && !helps {
		return err // what the options say goes before a sign-in
	}
	ctx, stop := context.WithCancelCause(ctx)
	u := &editorUser{user: user, stop: stop, cure: e.link.SignInAs.Cure, workspaces: e.link.SignInAs.Command.Workspaces}
	defer u.asked.Wait()
	defer stop(nil)
	if _, err := source.SignIn(ctx, &credentials.SignIn{Card: card}, u); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("bridge: not signed in: %w", err)
	}
	e.link.Client.ForgetCard()
	return nil
}

func (e *editorLogin) SignOut(ctx context.Context) error {
	source := e.link.Credentials
	_, warn, err := source.SignOut(ctx)
	if warn != nil {
		e.link.Options.Log.Warn("signed out here, but the identity provider was not told", "err", warn)
	}
	e.link.Client.ForgetCard()
	if given := source.Given(); err == nil && given != "" {
		return fmt.Errorf("bridge: the sign-in was deleted, but %s still identifies you: remove that, and start again", given)
	}
	return err
}

// An editorUser is a user without a terminal, behind an editor.
type editorUser struct {
	user       bridge.Asker
	stop       context.CancelCauseFunc
	cure       string
	workspaces *agentproc.Workspaces
	asked      sync.WaitGroup
}

var _ credentials.User = (*editorUser)(nil)

func (u *editorUser) Confirm(ctx context.Context, q *oauth.Question) (yes bool, err error) {
	yes, err = u.user.Confirm(ctx, strings.TrimSpace(safe.Plain(auth.ProviderQuestion(q)))+"\nGo there?")
	if errors.Is(err, bridge.ErrCannotAsk) {
		err = credentials.ErrCannot
	}
	return yes, err
}

// Visit implements [credentials.User]: the editor opens the page, or this machine's
// browser.
func (u *editorUser) Visit(ctx context.Context, local, text string) error {
	u.open(ctx, text, local, func() error {
		if err := auth.OpenBrowser(local, u.workspaces); err != nil {
			return fmt.Errorf("there is no browser to be found (%v): run %s in a terminal", err, u.cure)
		}
		return nil
	})
	return nil
}

func (u *editorUser) Enter(ctx context.Context, code, page, complete string, _ time.Time) error {
	text := "To sign in to the agent, enter the code " + code + " on the page that opens"
	if complete != "" {
		text, page = "To sign in to the agent, go on if the page that opens shows the code "+code, complete
	}
	u.open(ctx, text, page, func() error {
		return fmt.Errorf("there is no browser here, and the editor has no way to show a code: run %s in a terminal", u.cure)
	})
	return nil
}

// open has the editor open a page; otherwise replaces it where the editor cannot. The
// editor may answer at any time: the sign-in goes on meanwhile, and ends if the user
// refuses.
func (u *editorUser) open(ctx context.Context, text, url string, otherwise func() error) {
	u.asked.Go(func() { // ends with the sign-in, by ctx
		yes, err := u.user.Open(ctx, safe.Plain(text), url)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if err := otherwise(); err != nil {
				u.stop(err)
			}
		case !yes:
			u.stop(oauth.ErrDeclined)
		}
	})
}

// Browser implements [credentials.User]. A client that has said that it opens pages has a
// browser on this machine, but by SSH, though the environment that it gives us may not tell.
func (u *editorUser) Browser() bool {
	opener, ok := u.user.(bridge.Opener)
	return ok && opener.Opens() && os.Getenv("SSH_CONNECTION") == "" || auth.HasBrowser(os.Getenv)
}

// Secret implements [credentials.User]. It refuses: editors store what is typed.
func (u *editorUser) Secret(_ context.Context, prompt string) (string, error) {
	return "", fmt.Errorf("the %s is not for an editor's window: run %s in a terminal, or put it into A2ASTDIO_TOKEN", prompt, u.cure)
}

// addStore gives the bridge its name, its store of sessions and the sign-in: none where the
// agent has no place to sign in, or nothing can store a sign-in.
func addStore(l *reach.Link, sessions *store.Store) {
	l.Options.Name, l.Options.Store = l.Name, sessions
	if l.CanSignIn() == nil {
		l.Options.Login = &editorLogin{l}
	} else if l.Consent != nil { // who is started here is signed in to by its own means
		l.Options.Login = l.Consent
	}
}
