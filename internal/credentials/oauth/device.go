package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// ByDevice signs the user in on another device, where there is no browser: the device
// authorization grant (RFC 8628). account is as for ByBrowser.
func (l *Login) ByDevice(ctx context.Context) (t *Token, account string, err error) {
	ctx, cancel := l.inTime(ctx)
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
	bound(given, time.Now())
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

// bound makes sense of the times that a provider gives: the library panics at an interval below
// nothing, and a code that is good for longer than a sign-in may take is not.
func bound(given *oauth2.DeviceAuthResponse, now time.Time) {
	if most := int64(loginTime / time.Second); given.Interval <= 0 || given.Interval > most {
		given.Interval = defaultInterval
	}
	if last := now.Add(loginTime); !given.Expiry.After(now) || given.Expiry.After(last) {
		given.Expiry = last
	}
}

// poll waits for the user.
func (l *Login) poll(ctx context.Context, config *oauth2.Config, given *oauth2.DeviceAuthResponse) (*Token, error) {
	tok, err := config.DeviceAccessToken(l.Client.context(ctx), given)
	switch {
	case err == nil:
		return l.Client.token(l.Provider, tok, l.Client.now())
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded): // the library's, for the code
		return nil, codeExpired(l.Provider)
	}
	said := l.Client.explain(ctx, l.Provider, "the code of the device", err, given.DeviceCode)
	if e := (*Error)(nil); errors.As(said, &e) && e.Code == "access_denied" {
		return nil, fmt.Errorf("%w: %w", ErrDeclined, said)
	} else if e != nil && e.Code == "expired_token" {
		return nil, codeExpired(l.Provider)
	}
	return nil, said
}

func codeExpired(p *Provider) error {
	return fmt.Errorf("nobody has entered the code at %s in time: begin again", Name(p.Issuer))
}
