package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/test/idp"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestMain lets the test be the commands that it runs: HELPER says which.
func TestMain(m *testing.M) {
	switch helper, args := os.Getenv("HELPER"), os.Args; helper {
	case "":
		os.Exit(m.Run())
	case "cat":
		b, _ := os.ReadFile(args[1])
		fmt.Printf("%s", b)
	case "print": // what it is told to, having noted its environment
		if file := os.Getenv("NOTES"); file != "" {
			f, _ := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			fmt.Fprintln(f, "run")
			for _, v := range os.Environ() {
				fmt.Fprintln(f, "env", v)
			}
			f.Close()
		}
		fmt.Print(strings.Join(args[1:], " "))
	case "fail":
		fmt.Fprintln(os.Stderr, "\x1b[31mnot logged in\nrun helper login")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	}
}

func helperCommand(mode string, args ...string) string {
	words := []string{"HELPER=" + mode, "'" + os.Args[0] + "'"}
	for _, a := range args {
		words = append(words, "'"+a+"'")
	}
	return strings.Join(words, " ")
}

// An agent takes the tokens of a provider, and tells a story of two events.
type agent struct {
	*httptest.Server
	idp       *signin.Server
	closed    bool                       // the card itself wants a token
	card      string                     // its security
	takes     func(r *http.Request) bool // decides instead of the provider, if it is set
	challenge string                     // what a 401 says
	between   func()                     // is called between the two events of a stream, if it is set
	mu        sync.Mutex
	calls     []string
}

func newAgent(t *testing.T, p *signin.Server) *agent {
	a := &agent{idp: p, challenge: `Bearer realm="agent"`}
	if p != nil {
		a.card = fmt.Sprintf(`"securitySchemes":{"login":{"type":"openIdConnect","openIdConnectUrl":"%s/.well-known/openid-configuration"}},"security":[{"login":["agent"]}]`, p.Issuer)
	}
	a.Server = httptest.NewUnstartedServer(a)
	a.Config.ErrorLog = log.New(io.Discard, "", 0)
	a.Start()
	t.Cleanup(a.Close)
	return a
}

func (a *agent) note(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, s)
}

// count counts the calls that begin so.
func (a *agent) count(prefix string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

// provided reports whether a request has a token of the provider's.
func (a *agent) provided(r *http.Request) (ok bool) {
	if token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); a.idp != nil {
		_, ok = a.idp.Provider.Check(token)
	}
	return ok
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isCard := strings.HasPrefix(r.URL.Path, "/.well-known/")
	body, _ := io.ReadAll(r.Body)
	var call struct{ Method string }
	_ = json.Unmarshal(body, &call)
	if isCard {
		call.Method = "card"
		if r.Header.Get("Authorization") != "" {
			a.note("shown for the card")
		}
	}
	if !isCard || a.closed {
		takes := a.takes
		if takes == nil {
			takes = a.provided
		}
		if !takes(r) {
			a.note("401 " + call.Method)
			w.Header().Set("WWW-Authenticate", a.challenge)
			w.WriteHeader(401)
			return
		}
	}
	a.note(call.Method)
	if isCard {
		fmt.Fprintf(w, `{"name":"Agent","url":"%s/rpc","protocolVersion":"0.3.0","capabilities":{"streaming":true},%s}`, a.URL, strings.TrimPrefix(a.card+`,"version":"1"`, ","))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(state, final string) {
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"%s"},"final":%s}}`+"\n\n", state, final)
		w.(http.Flusher).Flush()
	}
	if call.Method == "message/stream" {
		event("working", "false")
		if a.between != nil {
			a.between()
			return // cut
		}
	}
	event("completed", "true")
}

// client is a bridge's client, with a source; both are closed with the test.
func (a *agent) client(t *testing.T, opts *Options) (*transport.Client, *Source) {
	t.Helper()
	o := *opts
	o.Agent = a.URL
	if a.idp != nil {
		o.TLS = a.idp.TLS()
	}
	s := New(&o)
	c := must.Get(transport.NewClient(a.URL, &transport.ClientOptions{Credentials: s.Credential, Header: o.Header}))(t)
	t.Cleanup(func() { c.Close(); s.Close() })
	return c, s
}

// prompt sends a message and reads the stream to its end.
func prompt(ctx context.Context, c *transport.Client) error {
	s, err := c.Send(ctx, &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{Text: "hello"}}})
	if err != nil {
		return err
	}
	return drain(s)
}

// prompts sends a message that is answered.
func prompts(t *testing.T, c *transport.Client) {
	t.Helper()
	must.Do(t, prompt(t.Context(), c))
}

// refused sends one that is refused for want of credentials, in some words.
func refused(t *testing.T, c *transport.Client, words ...string) {
	t.Helper()
	err := prompt(t.Context(), c)
	if e := (*a2a.Error)(nil); !errors.As(err, &e) || !e.Unauthenticated() {
		t.Fatalf("got %v", err)
	}
	must.Has(t, err.Error(), words...)
}

func drain(s *transport.Stream) error {
	defer s.Close()
	for {
		events, err := s.Read()
		for i := range events {
			if events[i].State == a2a.StateCompleted {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

func testStore(t *testing.T) *Store {
	return must.Get(OpenStore(filepath.Join(t.TempDir(), "credentials")))(t)
}

// A tester is a user with a browser.
type tester struct {
	b                     signin.Browser
	no, noBrowser, cannot bool
	secret                string

	wg    *sync.WaitGroup
	asked []*oauth.Question
	err   error
}

func (u *tester) Confirm(_ context.Context, q *oauth.Question) (yes bool, err error) {
	u.asked = append(u.asked, q)
	if u.cannot {
		return false, ErrCannot
	}
	return !u.no, nil
}

func (u *tester) Visit(_ context.Context, local, _ string) error {
	u.wg.Go(func() { u.err = u.b.Open(local) })
	return nil
}

func (u *tester) Enter(_ context.Context, _, _, complete string, _ time.Time) error {
	return u.b.Enter(complete)
}

func (u *tester) Browser() bool { return !u.noBrowser }

func (u *tester) Secret(context.Context, string) (string, error) {
	if u.secret == "" {
		return "", ErrCannot
	}
	return u.secret, nil
}

// signIn signs in, and waits for the browser.
func signIn(t *testing.T, s *Source, how *SignIn, u *tester) (*Login, error) {
	t.Helper()
	u.wg = new(sync.WaitGroup)
	l, err := s.SignIn(t.Context(), how, u)
	u.wg.Wait()
	must.Fail(t, u.err, "", "the browser")
	return l, err
}

// signedIn is an agent, somebody who has signed in to it, and where that is stored.
func signedIn(t *testing.T) (*agent, *Store) {
	t.Helper()
	p := signin.Start(t, &idp.Options{Scopes: []string{"agent"}, Life: time.Hour})
	a, store := newAgent(t, p), testStore(t)
	c, s := a.client(t, &Options{Store: store})
	card := must.Get(c.Card(t.Context()))(t)
	must.Get(signIn(t, s, &SignIn{Card: card}, &tester{b: signin.Browser{TLS: p.TLS()}}))(t)
	return a, store
}

// A clock that can be turned.
type clock struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off)
}

func (c *clock) turn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}
