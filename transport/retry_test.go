package transport

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func send(c *Client, ctx context.Context) error {
	s, err := c.Send(ctx, hello())
	if err == nil {
		_, err = wireReadAll(s)
	}
	return err
}

// What TLS says of the two ends is said at once.
func TestTLSIsNotTriedAgain(t *testing.T) {
	plain, secure := httptest.NewServer(http.NotFoundHandler()), httptest.NewUnstartedServer(http.NotFoundHandler())
	defer plain.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of the handshake
	secure.StartTLS()
	defer secure.Close()
	for at, want := range map[string]string{secure.URL: "its certificate is not trusted", "https" + strings.TrimPrefix(plain.URL, "http"): "it does not speak TLS"} {
		file, attempts := filepath.Join(t.TempDir(), "card.json"), 0
		must.Do(t, os.WriteFile(file, []byte(`{"name":"a","url":"`+at+`/","protocolVersion":"0.3.0"}`), 0o600))
		c := wireClient(t, file, &ClientOptions{Wrap: func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				attempts++
				return next.RoundTrip(r)
			})
		}})
		must.Fail(t, send(c, t.Context()), want)
		must.Equal(t, attempts, 1, at)
	}
}

// A message is sent once, even on a connection that was used before (where net/http
// would try again by itself). The error says that it may have been delivered.
func TestSendIsDeliveredOnce(t *testing.T) {
	t.Parallel() // it waits between attempts
	for _, reset := range []bool{false, true} {
		for name, rt := range map[string]http.RoundTripper{"own transport": nil, "other transport": &http.Transport{}} {
			agent := newWireAgent(t, func(w http.ResponseWriter, _ *http.Request) {
				if reset {
					conn, _, _ := http.NewResponseController(w).Hijack()
					conn.(*net.TCPConn).SetLinger(0)
					conn.Close()
					return
				}
				panic(http.ErrAbortHandler)
			})
			c := wireClient(t, agent.URL, &ClientOptions{RoundTripper: rt})
			err := send(c, t.Context())
			if n := len(agent.seen()); n != 1 || !errors.Is(err, ErrPossiblyDelivered) || errors.Is(err, ErrUnreachable) {
				t.Errorf("%s, reset %v: delivered %d times: %v", name, reset, n, err)
			}
			if !strings.Contains(err.Error(), "it was possibly delivered, so it is not sent again") {
				t.Errorf("the error does not say so: %v", err)
			}
			// Calls that only read are tried again.
			_, err = c.Get(t.Context(), "t", -1)
			if n := len(agent.seen()) - 1; n != 1+maxRetries || !errors.Is(err, ErrInterrupted) || errors.Is(err, ErrPossiblyDelivered) {
				t.Errorf("%s, reset %v: asked %d times: %v", name, reset, n, err)
			}
		}
	}
}

// The client's own transport knows from the connection whether the message was sent: a
// tap that reads the body first makes no difference.
func TestSendAgainAfterRefusal(t *testing.T) {
	t.Parallel() // it waits between attempts
	agent := newWireAgent(t, wireSSE(sseCompleted))
	var posts atomic.Int32
	c := wireClient(t, agent.URL, &ClientOptions{Wrap: func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost {
				return next.RoundTrip(r)
			}
			posts.Add(1)
			b, _ := io.ReadAll(r.Body)
			r = r.Clone(r.Context())
			r.Body = io.NopCloser(strings.NewReader(string(b)))
			return next.RoundTrip(r)
		})
	}})
	must.Get(c.Card(t.Context()))(t)
	agent.Server.Close()
	c.own.CloseIdleConnections() // as it does itself, a little later
	if err := send(c, t.Context()); !errors.Is(err, ErrUnreachable) || posts.Load() != 1+maxRetries ||
		!strings.HasSuffix(err.Error(), "connection refused: is the agent running, and is that its URL?") {
		t.Errorf("%d attempts, %v", posts.Load(), err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// served is a network in which a handler answers.
func served(handler http.HandlerFunc) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handler(w, r)
		resp := w.Result()
		resp.Request = r
		return resp, nil
	}
}

// Over HTTP/2, with the client's own transport.
func TestHTTP2(t *testing.T) {
	var agent *httptest.Server
	agent = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			io.WriteString(w, `{"name":"Two","url":"`+agent.URL+`/"}`)
		case r.ProtoMajor != 2:
			http.Error(w, r.Proto, http.StatusBadRequest)
		default:
			io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
	}))
	agent.EnableHTTP2 = true
	agent.StartTLS()
	defer agent.Close()
	c := wireClient(t, agent.URL, nil)
	c.own.TLSClientConfig = agent.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	if err := send(c, t.Context()); !errors.Is(err, ErrPossiblyDelivered) {
		t.Errorf("got %v", err)
	}
}

// Giving up on a request does not close the connections of the others.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel() // it waits between attempts
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-A2A-Extensions") != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		wireSSE(sseCompleted)(w, r)
	})
	c := wireClient(t, agent.URL, nil)
	for range 3 {
		if err := send(c, t.Context()); err != io.EOF {
			t.Fatal(err)
		}
		c.Activate([]string{"x"})
		if _, err := c.Get(t.Context(), "t", -1); err == nil {
			t.Fatal("no error")
		}
		c.Activate(nil)
	}
	must.Equal(t, agent.closed.Load(), 0, "connections were closed")
	must.Equal(t, agent.seen()[0].Get("Accept-Encoding"), "", "a stream is not compressed")
	must.Do(t, c.Close())
}
