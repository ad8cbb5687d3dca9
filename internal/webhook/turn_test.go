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
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
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

// A reader is an editor that collects text.
type reader struct{ text, notices strings.Builder }

func (r *reader) Show(_ context.Context, steps []mapping.Step) error {
	for i := range steps {
		switch steps[i].Kind {
		case mapping.StepText:
			r.text.WriteString(steps[i].Text)
		case mapping.StepNotice:
			r.notices.WriteString(steps[i].Text)
		}
		if steps[i].Kind == mapping.StepConnection && steps[i].Connection.Gap {
			r.notices.WriteString("gap")
		}
	}
	return nil
}

func (r *reader) Ask(_ context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	return make([]mapping.Answer, len(questions)), nil
}

// pushed is a client of an agent that pushes, and what takes its pushes, until the test ends.
func pushed(t *testing.T, way http.RoundTripper, version string) (*transport.Client, *Boxes) {
	t.Helper()
	agent := demo.New(&demo.Options{Version: "both", Push: &demo.PushOptions{}})
	server := httptest.NewServer(agent)
	t.Cleanup(func() { server.Close(); agent.Close() })
	client := must.Get(transport.NewClient(server.URL, &transport.ClientOptions{Version: version, RoundTripper: way}))(t)
	t.Cleanup(func() { client.Close() })
	boxes := NewBoxes("", false)
	hooks := must.Get(Listen("127.0.0.1:0", NewReceiver(boxes, nil)))(t)
	t.Cleanup(func() { hooks.Close() })
	boxes.SetBase(hooks.URL())
	return client, boxes
}

// turn has one prompt answered, and returns what was shown.
func turn(t *testing.T, version string, c *cutter) *reader {
	t.Helper()
	c.called = map[string]int{}
	client, boxes := pushed(t, seen(c.pass), version)
	b := bridge.NewAgent(&bridge.Options{Client: client, Webhooks: boxes})
	defer b.Close()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	r := new(reader)
	result, err := b.NewSession(t.TempDir()).Prompt(ctx, []acp.ContentBlock{{Type: "text", Text: "hello"}}, r)
	if err != nil || result.StopReason != acp.StopEndTurn {
		t.Fatalf("A2A %s: %v, %v; called %v", version, result, err, c.called)
	}
	if !c.push.Load() {
		t.Errorf("A2A %s: the message carried no webhook", version)
	}
	return r
}

// A turn whose stream is cut for good after its first event is finished by what is
// pushed: the same text as uncut, each word once, and no more requests than pushes.
func TestTurn(t *testing.T) {
	for _, version := range []string{"1.0", "0.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			want := turn(t, version, &cutter{})
			c := &cutter{cut: true}
			got := turn(t, version, c)
			if got.text.String() != want.text.String() || got.text.Len() == 0 || got.notices.Len() > 0 {
				t.Errorf("uncut\n%q\ncut\n%q %q", want.text.String(), got.text.String(), got.notices.String())
			}
			if n := c.called["tasks/resubscribe"] + c.called["SubscribeToTask"]; n > 1 {
				t.Errorf("the reconnect was hurried: %v", c.called)
			}
			if n := c.called["tasks/pushNotificationConfig/delete"] + c.called["DeleteTaskPushNotificationConfig"]; n != 1 {
				t.Errorf("the webhook was deleted %d times: %v", n, c.called)
			}
		})
	}
}

// At an agent that cannot be asked for its tasks, what is pushed is shown itself, and
// that something may be missing is said.
func TestTurnWithoutGet(t *testing.T) {
	for _, version := range []string{"1.0", "0.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			want := turn(t, version, &cutter{})
			got := turn(t, version, &cutter{cut: true, noGet: true})
			if !strings.HasSuffix(want.text.String(), got.text.String()) || got.text.Len() == 0 || got.notices.String() != "gap" {
				t.Errorf("uncut\n%q\ncut\n%q %q", want.text.String(), got.text.String(), got.notices.String())
			}
		})
	}
}
