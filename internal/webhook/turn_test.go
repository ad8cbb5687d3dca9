package webhook

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/pusher"
	"github.com/a2astdio/a2astdio/internal/test/shapes"
	"github.com/a2astdio/a2astdio/transport"
)

// A cutter is the way to an agent whose first stream ends after its first event, and who takes
// no subscription. It counts what the agent is asked.
type cutter struct {
	noGet  bool // and that has no tasks/get
	cut    bool
	mu     sync.Mutex
	called map[string]int
	push   atomic.Bool // the message had a webhook
}

func (c *cutter) pass(r *http.Request, body []byte) (*http.Response, error) {
	method := gjson.GetBytes(body, "method").Str
	c.mu.Lock()
	c.called[method]++
	c.mu.Unlock()
	switch method {
	case "message/stream", "SendStreamingMessage":
		c.push.Store(bytes.Contains(body, []byte("ushNotificationConfig")))
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && c.cut {
			resp.Body = &oneEvent{bufio.NewScanner(resp.Body), resp.Body, nil, false}
		}
		return resp, err
	case "tasks/resubscribe", "SubscribeToTask":
		return refusal(body, -32004), nil
	case "tasks/get", "GetTask":
		if c.noGet {
			return refusal(body, -32601), nil
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// refusal is an error's response.
func refusal(call []byte, code int) *http.Response {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, gjson.GetBytes(call, "id").Raw, code)
	return w.Result()
}

// oneEvent is the beginning of a stream, up to a line without anything.
type oneEvent struct {
	lines *bufio.Scanner
	io.Closer
	rest []byte
	over bool
}

func (o *oneEvent) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		if o.over || !o.lines.Scan() {
			return 0, io.ErrUnexpectedEOF
		}
		o.over = len(o.lines.Bytes()) == 0
		o.rest = append(bytes.Clone(o.lines.Bytes()), '\n')
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// pushed is a client of an agent that pushes, and what takes its pushes, until the test ends.
func pushed(t *testing.T, way http.RoundTripper, version string) (*transport.Client, *Receiver) {
	t.Helper()
	agent := demo.New(&demo.Options{Version: "both"})
	server := httptest.NewServer(pusher.Handler{Agent: agent})
	t.Cleanup(func() { server.Close(); agent.Close() })
	client := must.Get(transport.NewClient(server.URL, &transport.ClientOptions{Version: version, RoundTripper: way}))(t)
	t.Cleanup(func() { client.Close() })
	receiver := NewReceiver(Options{})
	hooks := must.Get(Listen("127.0.0.1:0", receiver))(t)
	t.Cleanup(func() { hooks.Close() })
	receiver.SetBase(hooks.URL())
	return client, receiver
}

// turn has one prompt answered, and returns what was shown, and how many gaps.
func turn(t *testing.T, version string, c *cutter) (text string, gaps int) {
	t.Helper()
	c.called = map[string]int{}
	client, receiver := pushed(t, seen(c.pass), version)
	e := must.Get(editor.Start(&editor.Options{Protocol: editor.Lines, Serve: func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
		return bridge.Serve(ctx, in, out, &bridge.Options{Client: client, Webhooks: receiver})
	}}))(t)
	turn := e.Prompt("hello")
	<-turn.Done
	must.Do(t, e.Close())
	if turn.Err != "" || turn.Stop != "completed" {
		t.Fatalf("A2A %s: %s, %s; called %v", version, turn.Stop, turn.Err, c.called)
	}
	must.Equal(t, c.push.Load(), true, "the message carried no webhook")
	_, text, gaps = shapes.View(turn.Shown)
	return text, gaps
}

// A turn whose stream is cut for good after its first event is finished by what is pushed: the same text as uncut, each
// word once, and no more requests than pushes. At an agent that cannot be asked for its tasks, what is pushed is shown
// itself, and that something may be missing is said.
func TestTurn(t *testing.T) {
	for _, version := range []string{"1.0", "0.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			want, _ := turn(t, version, &cutter{})
			c := &cutter{cut: true}
			got, gaps := turn(t, version, c)
			if got != want || got == "" || gaps > 0 {
				t.Errorf("uncut\n%q\ncut\n%q, %d gaps", want, got, gaps)
			}
			if n := c.called["tasks/resubscribe"] + c.called["SubscribeToTask"]; n > 1 {
				t.Errorf("the reconnect was hurried: %v", c.called)
			}
			must.Equal(t, c.called["tasks/pushNotificationConfig/delete"]+c.called["DeleteTaskPushNotificationConfig"], 1)
			if got, gaps = turn(t, version, &cutter{cut: true, noGet: true}); !strings.HasSuffix(want, got) || got == "" || gaps != 1 {
				t.Errorf("without tasks/get: uncut\n%q\ncut\n%q, %d gaps", want, got, gaps)
			}
		})
	}
}

// seen is a way to an agent that sees the bodies of requests.
type seen func(r *http.Request, body []byte) (*http.Response, error)

func (s seen) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return s(r, body)
}
