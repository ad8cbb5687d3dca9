package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// front stands before an agent, also in its card, which describe changes if there is one. answer
// gets each other request, with what it calls, the path and the body, and may pass it on. Each of
// its connections has its own to the agent, which is closed with it and not before: agents tie
// work to connections.
func front(t *testing.T, agent string, describe func(card object), answer func(w http.ResponseWriter, r *http.Request, call string, pass http.Handler)) string {
	t.Helper()
	agent = strings.TrimSuffix(agent, "/")
	target := mustGet(url.Parse(agent))(t)
	pass := &httputil.ReverseProxy{FlushInterval: -1, Transport: ownTransport{}, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.URL.Path != "/.well-known/agent-card.json" {
			answer(w, r, r.URL.Path+" "+string(body), pass)
			return
		}
		recorded := httptest.NewRecorder()
		pass.ServeHTTP(recorded, r)
		var card object
		if err := json.Unmarshal([]byte(strings.ReplaceAll(recorded.Body.String(), agent, server.URL)), &card); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if describe != nil {
			describe(card)
		}
		answerJSON(w, card)
	})
	var own sync.Map // of connections
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		transport := &http.Transport{}
		own.Store(c, transport)
		return context.WithValue(ctx, ownTransport{}, transport)
	}
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if transport, ok := own.Load(c); ok && state == http.StateClosed {
			transport.(*http.Transport).CloseIdleConnections()
		}
	}
	server.Start()
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

// ownTransport is that of the connection on which a request came.
type ownTransport struct{}

func (o ownTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return r.Context().Value(o).(*http.Transport).RoundTrip(r)
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// calls reports whether what is called is one of some methods of JSON-RPC, or paths.
func calls(call string, any ...string) bool {
	for _, method := range any {
		if strings.Contains(call, `"method":"`+method+`"`) || strings.HasPrefix(method, "/") && strings.Contains(call, method) {
			return true
		}
	}
	return false
}

// streams reports whether it sends a message, and wants a stream.
func streams(call string) bool {
	return calls(call, "message/stream", "SendStreamingMessage", "/message:stream")
}

// cutting hangs up after some events of a stream.
type cutting struct {
	http.ResponseWriter
	left int
	last byte
}

func (c *cutting) Write(b []byte) (int, error) {
	for i, now := range b {
		if now == '\n' && c.last == '\n' {
			if c.left--; c.left == 0 {
				_, _ = c.ResponseWriter.Write(b[:i+1])
				_ = http.NewResponseController(c.ResponseWriter).Flush()
				return i + 1, io.ErrClosedPipe
			}
		}
		c.last = now
	}
	return c.ResponseWriter.Write(b)
}

func (c *cutting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// A cutter is a front that breaks the first stream after some events.
type cutter struct {
	url     string
	cuts    atomic.Int32
	follows atomic.Int32 // how often a task was asked for, or subscribed to
}

func startCutter(t *testing.T, agent string, after int) *cutter {
	t.Helper()
	c := &cutter{}
	c.url = front(t, agent, nil, func(w http.ResponseWriter, r *http.Request, call string, pass http.Handler) {
		switch {
		case !streams(call):
			c.follows.Add(1)
		case c.cuts.CompareAndSwap(0, 1):
			w = &cutting{ResponseWriter: w, left: after}
		}
		pass.ServeHTTP(w, r)
	})
	return c
}
