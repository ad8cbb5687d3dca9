package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/a2astdio/a2astdio/internal/test/idp"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// wide is a provider with two clients: one of people, one of programs.
func wide() *idp.Options {
	return &idp.Options{Issuer: "/tenant", Scopes: []string{"agent", "admin"}, Interval: 1, Clients: map[string]idp.Client{
		"app":     {Redirects: []string{"http://127.0.0.1/callback"}},
		"service": {Secret: "hunter2-client", Redirects: []string{"http://127.0.0.1/callback"}},
	}}
}

func discovered(t *testing.T, s *signin.Server) (*Provider, *Client) {
	t.Helper()
	hc := NewHTTP(s.TLS())
	p, _, err := Discover(t.Context(), hc, s.Issuer)
	must.Do(t, err)
	return p, &Client{ID: "app", HTTP: hc, Now: time.Now}
}

// signIn signs in by a browser.
func signIn(t *testing.T, p *Provider, c *Client, b *signin.Browser, scopes ...string) (*Token, string, error) {
	t.Helper()
	visited := make(chan error, 1)
	l := &Login{Client: c, Provider: p, Scopes: scopes, Visit: func(ctx context.Context, local string) error {
		go func() { visited <- b.Open(local) }()
		return nil
	}}
	token, account, err := l.ByBrowser(t.Context())
	must.Fail(t, <-visited, "", "the browser")
	return token, account, err
}

// A sign-in by browser gives a token that the agent takes, a refresh token and the
// account; each renewal gives others, and giving it back ends it.
func TestCodeLogin(t *testing.T) {
	s := signin.Start(t, wide())
	p, c := discovered(t, s)
	b := &signin.Browser{TLS: s.TLS(), Again: true}
	token, account, err := signIn(t, p, c, b, "openid", "agent")
	if err != nil || account != idp.User {
		t.Fatalf("%v, %q", err, account)
	}
	grant, ok := s.Provider.Check(token.Access)
	if !ok || !slices.Equal(grant.Scopes, []string{"openid", "agent"}) || token.Refresh == "" || time.Until(token.Expiry) < 50*time.Second {
		t.Errorf("%+v of %+v", grant, token)
	}
	// The user has reloaded the page: the code goes out once.
	if n := s.Calls("token"); n != 1 || !strings.Contains(b.Text(), "Answered") {
		t.Errorf("%d requests for the token; the page says %s", n, b.Text())
	}
	next, err := c.Renew(t.Context(), p, token.Refresh)
	if err != nil || next.Access == token.Access || next.Refresh == token.Refresh {
		t.Fatalf("%v: %+v", err, next)
	}
	must.Do(t, c.Revoke(t.Context(), p, next))
	_, ok = s.Provider.Check(next.Access)
	must.Equal(t, ok, false, "the token is good after it was given back")
}

// Whatever goes wrong on the way is one error that says what, and a code goes to
// the provider once at most.
func TestCodeLoginFails(t *testing.T) {
	reply := func(name string, values ...string) func(*url.URL) {
		return func(u *url.URL) {
			q := u.Query()
			q[name] = values
			u.RawQuery = q.Encode()
		}
	}
	for _, test := range []struct {
		name    string
		browser signin.Browser
		fail    string
		by      http.HandlerFunc
		clock   time.Duration
		want    string
		tokens  int
	}{
		{name: "denied", browser: signin.Browser{Deny: true}, want: "refuses the sign-in (access_denied: the user said no)"},
		{name: "another issuer", browser: signin.Browser{Change: reply("iss", "https://evil.example")}, want: "the answer is from https://evil.example, and is not used"},
		{name: "no issuer", browser: signin.Browser{Change: reply("iss")}, want: "this one has none"},
		{name: "wrong code", browser: signin.Browser{Change: reply("code", "hunter2-code")}, want: "refuses the code of the sign-in (invalid_grant: the code is unknown, or too old)", tokens: 1},
		{name: "no code", browser: signin.Browser{Change: reply("code", "")}, want: "sends you back without a code"},
		{name: "down", fail: "token", by: signin.Answer(503, "<html>"), want: "refuses the code of the sign-in (HTTP 503)", tokens: 1},
		{name: "closed", fail: "token", by: func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, want: "is not reached for the code of the sign-in: the connection was closed", tokens: 1},
		{name: "quotes the code", fail: "token", by: func(w http.ResponseWriter, r *http.Request) {
			signin.Answer(400, fmt.Sprintf(`{"error":"invalid_grant","error_description":"bad %s\u001b[31m %s"}`, r.PostForm.Get("code"), r.PostForm.Get("code_verifier")))(w, r)
		}, want: "(invalid_grant: bad ***␛[31m ***)", tokens: 1},
		{name: "redirects", fail: "token", by: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/token", http.StatusTemporaryRedirect)
		}, want: "refuses the code of the sign-in (HTTP 307)", tokens: 1},
		{name: "no token", fail: "token", by: signin.Answer(200, `{"token_type":"Bearer"}`), want: "gives an answer that cannot be used: server response missing access_token", tokens: 1},
		{name: "another type", fail: "token", by: signin.Answer(200, `{"access_token":"x","token_type":"DPoP"}`), want: `tokens of the type "DPoP"`, tokens: 1},
		{name: "a token with a newline", fail: "token", by: signin.Answer(200, `{"access_token":"x\r\nX-Evil: 1","token_type":"Bearer"}`), want: "cannot stand in a header", tokens: 1},
		{name: "keys are down", fail: "jwks", by: signin.Answer(503, ""), want: "an ID token that is not to be trusted: failed to verify", tokens: 1},
		{name: "keys of somebody else", fail: "jwks", by: signin.Answer(200, `{"keys":[{"kty":"EC","crv":"P-256","kid":"1","alg":"ES256","x":"gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0","y":"SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps"}]}`), want: "failed to verify", tokens: 1},
		{name: "a clock that is minutes behind", clock: -7 * time.Minute, want: "it is not good at this time", tokens: 1},
		{name: "a clock that is minutes ahead", clock: 7 * time.Minute, want: "it is not good at this time", tokens: 1},
		{name: "a clock that is a little behind", clock: -4 * time.Minute, tokens: 1},
		{name: "a clock that is a little ahead", clock: 4 * time.Minute, tokens: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := signin.Start(t, wide())
			p, c := discovered(t, s)
			c.Now = func() time.Time { return time.Now().Add(test.clock).Round(time.Second) }
			if test.fail != "" {
				s.Fail(test.fail, test.by)
			}
			b := test.browser
			b.TLS = s.TLS()
			token, _, err := signIn(t, p, c, &b, "openid", "agent")
			must.Fail(t, err, test.want)
			switch {
			case err != nil && (strings.Contains(err.Error(), "\x1b") || strings.Contains(err.Error(), "hunter2")):
				t.Errorf("it says too much: %v", err)
			case test.want == "" && time.Until(token.Expiry.Add(-test.clock)) > time.Minute+time.Second:
				t.Errorf("expires %v", token.Expiry)
			}
			must.Equal(t, errors.Is(err, ErrDeclined), test.browser.Deny)
			must.Equal(t, s.Calls("token"), test.tokens)
		})
	}
}

// An ID token for another client, or for another sign-in, is refused.
func TestIDTokenOfAnother(t *testing.T) {
	s := signin.Start(t, wide())
	p, c := discovered(t, s)
	token, _, err := signIn(t, p, c, &signin.Browser{TLS: s.TLS()}, "openid")
	must.Do(t, err)
	_, err = c.Account(t.Context(), p, token, "another nonce")
	must.Fail(t, err, "it answers another sign-in")
	other := &Client{ID: "service", HTTP: c.HTTP, Now: time.Now}
	_, err = other.Account(t.Context(), p, token, "")
	must.Fail(t, err, "audience")
	must.Equal(t, signatureAlgorithms([]string{"none", "HS256", "RS256"}), []string{"RS256"})
}

// A device's code is entered elsewhere; what the user says there is what counts.
func TestDeviceLogin(t *testing.T) {
	for _, test := range []struct {
		name string
		b    signin.Browser
		fail http.HandlerFunc
		want string
	}{
		{name: "allowed"},
		{name: "denied", b: signin.Browser{Deny: true}, want: "access_denied"},
		{name: "too late", fail: signin.Answer(400, `{"error":"expired_token"}`), want: "nobody has entered the code at"},
		{name: "refused", fail: signin.Answer(401, `{"error":"invalid_client"}`), want: "(invalid_client): --oauth-client-id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := signin.Start(t, wide())
			p, c := discovered(t, s)
			s.Fail("token", test.fail)
			test.b.TLS = s.TLS()
			l := &Login{Client: c, Provider: p, Scopes: []string{"openid", "agent"}, Show: func(_ context.Context, code, page, complete string, until time.Time) error {
				if len(code) != 9 || page != s.Issuer+"/device" || time.Until(until) < time.Minute {
					t.Errorf("shown %s %s until %v", code, page, until)
				}
				return test.b.Enter(complete)
			}}
			token, account, err := l.ByDevice(t.Context())
			must.Equal(t, errors.Is(err, ErrDeclined), test.b.Deny)
			if must.Fail(t, err, test.want); err != nil {
				return
			}
			_, ok := s.Provider.Check(token.Access)
			must.True(t, ok && account == idp.User, account)
		})
	}
}

// A page with the code in it is one of the page's own origin.
func TestDevicePageElsewhere(t *testing.T) {
	s := signin.Start(t, wide())
	p, c := discovered(t, s)
	for origin, shown := range map[string]bool{"https://idp.example": true, "https://evil.example": false} {
		s.Fail("device_authorization", signin.Answer(200, `{"device_code":"d","user_code":"u","verification_uri":"https://idp.example/device","verification_uri_complete":"`+origin+`/device?u","expires_in":60}`))
		l := &Login{Client: c, Provider: p, Show: func(_ context.Context, _, page, complete string, _ time.Time) error {
			if page != "https://idp.example/device" || (complete != "") != shown {
				t.Errorf("%s: shown %q and %q", origin, page, complete)
			}
			return ErrDeclined
		}}
		_, _, err := l.ByDevice(t.Context())
		must.Equal(t, errors.Is(err, ErrDeclined), true, origin, err)
	}
}

// What a provider says of times may be nonsense: an interval below nothing would panic in the
// library.
func TestDeviceTimes(t *testing.T) {
	now := time.Now()
	usual := oauth2.DeviceAuthResponse{Interval: 5, Expiry: now.Add(loginTime)}
	for given, want := range map[oauth2.DeviceAuthResponse]oauth2.DeviceAuthResponse{
		{Interval: 7, Expiry: now.Add(time.Minute)}:        {Interval: 7, Expiry: now.Add(time.Minute)},
		{Interval: -1, Expiry: now.Add(-time.Second)}:      usual,
		{Interval: 9223372037, Expiry: now.Add(time.Hour)}: usual,
		{}: usual,
	} {
		limitTimes(&given, now)
		must.Equal(t, given, want)
	}
	c := &Client{ID: "a", Secret: "hunter2"}
	must.Equal(t, quoted("you said YTpodW50ZXIy, hunter2", c.secrets()), "you said ***, ***")
}

// A program gets a token for itself, and shows its secret in the way that the
// provider takes.
func TestClientCredentials(t *testing.T) {
	s := signin.Start(t, wide())
	p, c := discovered(t, s)
	c.ID, c.Secret = "service", "hunter2-client"
	for _, auth := range [][]string{nil, {"client_secret_post"}, {"client_secret_basic", "client_secret_post"}} {
		p.ClientAuth = auth
		token := must.Get(c.ClientCredentials(t.Context(), p, []string{"admin"}))(t)
		grant, ok := s.Provider.Check(token.Access)
		must.True(t, ok && grant.Subject == "service" && fmt.Sprint(token.Scopes) == "[admin]", grant)
		must.Equal(t, s.Forms()[len(s.Forms())-1].Has("client_secret"), len(auth) == 1, auth)
	}
	c.Secret = "hunter2-wrong"
	_, err := c.ClientCredentials(t.Context(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "invalid_client") || strings.Contains(err.Error(), "hunter2") || s.Calls("token") != 4 {
		t.Errorf("%v, %d requests", err, s.Calls("token"))
	}
}

// A client registers itself where the provider takes that.
func TestRegister(t *testing.T) {
	s := signin.Start(t, wide())
	p, c := discovered(t, s)
	l := &Login{}
	redirect := must.Get(l.Listen())(t)
	l.Close()
	id, _, err := Register(t.Context(), c.HTTP, p, []string{redirect}, []string{"agent"})
	must.Do(t, err)
	c.ID = id
	_, _, err = signIn(t, p, c, &signin.Browser{TLS: s.TLS()}, "agent")
	must.Do(t, err)
	s.Fail("register", signin.Answer(403, `{"error":"access_denied"}`))
	_, _, err = Register(t.Context(), c.HTTP, p, nil, nil)
	must.Fail(t, err, "--oauth-client-id")
	p.Registration = ""
	_, _, err = Register(t.Context(), c.HTTP, p, nil, nil)
	must.Fail(t, err, "--oauth-client-id")
}

// A refresh token is used once. The second use, by whoever comes late, ends what
// both have: the store's lock is there for that.
func TestRenewTwice(t *testing.T) {
	s := signin.Start(t, wide())
	p, c := discovered(t, s)
	token, _, err := signIn(t, p, c, &signin.Browser{TLS: s.TLS()}, "agent")
	must.Do(t, err)
	next := must.Get(c.Renew(t.Context(), p, token.Refresh))(t)
	_, err = c.Renew(t.Context(), p, token.Refresh)
	e := (*Error)(nil)
	must.True(t, errors.As(err, &e) && e.Code == "invalid_grant" && !e.Passing, err)
	_, ok := s.Provider.Check(next.Access)
	must.Equal(t, ok, false, "the family goes on")
	s.Fail("token", signin.Answer(503, ""))
	_, err = c.Renew(t.Context(), p, next.Refresh)
	e = (*Error)(nil)
	must.True(t, errors.As(err, &e) && e.Passing, err)
	s.Fail("token", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err = c.Renew(t.Context(), p, next.Refresh)
	must.Fail(t, err, "is not reached to renew the sign-in: the connection was closed")
}
