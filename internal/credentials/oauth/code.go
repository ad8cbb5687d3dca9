package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// A Question is asked before a sign-in at a provider that only the agent has named, and
// before anything is sent there.
type Question struct {
	Agent, Provider string
	// Others are the origins of its endpoints that are not Provider's.
	Others []string
	Scopes []string
	// Unencrypted: the agent is reached without TLS.
	Unencrypted bool
}

// loginTime is how long a user may take to sign in: to find the password, and the phone
// for the second factor.
const loginTime = 10 * time.Minute

// A Login signs a user in: by a browser of this machine, or on another device. The caller
// has seen that the provider has an endpoint for that.
type Login struct {
	Client   *Client
	Provider *Provider
	Scopes   []string
	// Redirect is the URL to come back to, "" for a free port of this machine. Some
	// providers accept only the exact URL that was registered with them.
	Redirect string
	// Visit opens a URL of this machine in the user's browser, and returns at once. That
	// leads to the provider, and ties the sign-in to this browser.
	Visit func(ctx context.Context, local string) error
	// Show tells the user to open a URL on any device and enter the code, and returns at
	// once. complete is a URL with the code in it, "" if there is none.
	Show func(ctx context.Context, code, page, complete string, until time.Time) error

	server *loopback
}

// Listen opens the redirect's port, and returns its URL. Call it before ByBrowser where that
// URL has to be registered first. Close ends it.
func (l *Login) Listen() (redirect string, err error) {
	if l.server == nil {
		if l.server, err = listen(l.Redirect); err != nil {
			return "", err
		}
	}
	return l.server.redirect, nil
}

// Close ends what Listen began.
func (l *Login) Close() {
	if l.server != nil {
		l.server.close()
		l.server = nil
	}
}

// withLimit returns a context that ends at the latest after loginTime.
func (l *Login) withLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("nobody has signed in at %s within %v: begin again", Name(l.Provider.Issuer), loginTime))
}

// ByBrowser signs the user in by the authorization code flow with PKCE and a redirect to
// this machine (RFC 8252). account is the user's account, if the provider tells.
func (l *Login) ByBrowser(ctx context.Context) (t *Token, account string, err error) {
	if _, err := l.Listen(); err != nil {
		return nil, "", err
	}
	defer l.Close()
	ctx, cancel := l.withLimit(ctx)
	defer cancel()

	state, nonce, verifier := rand.Text(), "", oauth2.GenerateVerifier()
	options := append(l.Client.options(), oauth2.S256ChallengeOption(verifier))
	if slices.Contains(l.Scopes, "openid") {
		nonce = rand.Text()
		options = append(options, oauth2.SetAuthURLParam("nonce", nonce))
	}
	config := l.Client.config(l.Provider, l.Scopes, l.server.redirect)
	page := config.AuthCodeURL(state, options...)
	local, answers := l.server.serve(page, state)
	if err := l.Visit(ctx, local); err != nil {
		return nil, "", err
	}
	var answer url.Values
	select {
	case answer = <-answers:
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
	code, err := l.code(answer)
	if err != nil {
		return nil, "", err
	}
	options = append(l.Client.options(), oauth2.VerifierOption(verifier))
	began := l.Client.Now()
	tok, err := config.Exchange(l.Client.context(ctx), code, options...)
	if err != nil {
		return nil, "", l.Client.explain(ctx, l.Provider, "the code of the sign-in", err, code, verifier)
	}
	if t, err = l.Client.token(l.Provider, tok, began); err != nil {
		return nil, "", err
	}
	account, err = l.Client.Account(ctx, l.Provider, t, nonce)
	return t, account, err
}

// ErrDeclined: the user refused to sign in, or to go to this provider.
var ErrDeclined = errors.New("you said no")

// code checks what the provider sent with the browser, and returns the code.
func (l *Login) code(answer url.Values) (string, error) {
	name := Name(l.Provider.Issuer)
	one := func(key string) string { // of a repeated parameter nobody knows which one counts
		if len(answer[key]) != 1 {
			return ""
		}
		return answer[key][0]
	}
	switch {
	case answer.Has("iss") && !l.Provider.is(one("iss")):
		return "", &Error{Provider: name, text: fmt.Sprintf("did not answer: the answer is from %s, and is not used", plain(answer.Get("iss")))}
	case l.Provider.SaysIssuer && !answer.Has("iss"):
		return "", &Error{Provider: name, text: "says that it signs its answers with its name, and this one has none, so it is not used"}
	case answer.Has("error"):
		e := refused(name, "the sign-in", nil, answer.Get("error"), answer.Get("error_description"))
		if answer.Get("error") == "access_denied" {
			return "", fmt.Errorf("%w: %w", ErrDeclined, e)
		}
		return "", e
	case one("code") == "":
		return "", &Error{Provider: name, text: "sends you back without a code"}
	}
	return one("code"), nil
}

// listen opens the port that the browser comes back to.
func listen(redirect string) (*loopback, error) {
	u := &url.URL{Scheme: "http", Host: "127.0.0.1:0", Path: "/callback"}
	if redirect != "" {
		given, err := url.Parse(redirect)
		if err != nil || given.Scheme != "http" || given.RawQuery != "" || given.Fragment != "" || given.User != nil || !safe.ThisMachine(given.Host) {
			return nil, fmt.Errorf("--oauth-redirect %q does not lead back to this machine: it is like http://127.0.0.1:8400/callback", plain(redirect))
		}
		u = given
	}
	if u.Port() == "" { // any, as RFC 8252 allows
		u.Host = net.JoinHostPort(u.Hostname(), "0")
	}
	listener, err := net.Listen("tcp", u.Host)
	if err != nil {
		return nil, fmt.Errorf("the sign-in cannot come back to this machine: %v", err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	u.Host = net.JoinHostPort(u.Hostname(), port)
	return newLoopback(listener, u), nil
}

// ByDevice signs the user in on another device, where there is no browser: the device
// authorization grant (RFC 8628). account is as for ByBrowser.
func (l *Login) ByDevice(ctx context.Context) (t *Token, account string, err error) {
	ctx, cancel := l.withLimit(ctx)
	defer cancel()
	config := l.Client.config(l.Provider, l.Scopes, "")
	given, err := config.DeviceAuth(l.Client.context(ctx), l.Client.options()...)
	if err != nil {
		return nil, "", l.Client.explain(ctx, l.Provider, "a code for a device", err)
	}
	page, err := parseURL(given.VerificationURI)
	if err != nil {
		return nil, "", &Error{Provider: Name(l.Provider.Issuer), text: "gives a page for the code that is none"}
	}
	complete := ""
	if u, err := url.Parse(given.VerificationURIComplete); err == nil && safe.SameOrigin(u, page) {
		complete = u.String()
	}
	limitTimes(given, time.Now())
	if err := l.Show(ctx, plain(given.UserCode), page.String(), complete, given.Expiry); err != nil {
		return nil, "", err
	}
	if t, err = l.poll(ctx, config, given); err != nil {
		return nil, "", err
	}
	// There is no nonce in this flow.
	account, err = l.Client.Account(ctx, l.Provider, t, "")
	return t, account, err
}

// defaultInterval is how many seconds there are between two questions (RFC 8628, §3.5).
const defaultInterval = 5

// limitTimes makes sense of the times that a provider gives: the library panics at an interval
// below nothing, and a code that is good for longer than a sign-in may take is not.
func limitTimes(given *oauth2.DeviceAuthResponse, now time.Time) {
	if most := int64(loginTime / time.Second); given.Interval <= 0 || given.Interval > most {
		given.Interval = defaultInterval
	}
	if last := now.Add(loginTime); !given.Expiry.After(now) || given.Expiry.After(last) {
		given.Expiry = last
	}
}

func (l *Login) poll(ctx context.Context, config *oauth2.Config, given *oauth2.DeviceAuthResponse) (*Token, error) {
	tok, err := config.DeviceAccessToken(l.Client.context(ctx), given)
	switch {
	case err == nil:
		return l.Client.token(l.Provider, tok, l.Client.Now())
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded): // the library's, for the code
		return nil, codeExpired(l.Provider)
	}
	said := l.Client.explain(ctx, l.Provider, "the code of the device", err, given.DeviceCode)
	if e, ok := errors.AsType[*Error](said); ok && e.Code == "access_denied" {
		return nil, fmt.Errorf("%w: %w", ErrDeclined, said)
	} else if e != nil && e.Code == "expired_token" {
		return nil, codeExpired(l.Provider)
	}
	return nil, said
}

func codeExpired(p *Provider) error {
	return fmt.Errorf("nobody has entered the code at %s in time: begin again", Name(p.Issuer))
}
