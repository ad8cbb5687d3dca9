package webhook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// A cutter is an agent whose first stream ends after its first event, and who takes no
// subscription. It counts what it is asked.
type cutter struct {
	agent  http.Handler
	noGet  bool // and that has no tasks/get
	cut    bool
	mu     sync.Mutex
	called map[string]int
	push   atomic.Bool // the message had a webhook
}

func (c *cutter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &call)
	c.mu.Lock()
	c.called[call.Method]++
	c.mu.Unlock()
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(call.ID)+`,"error":{"code":`+code+`,"message":"no"}}`)
	}
	switch call.Method {
	case "message/stream", "SendStreamingMessage":
		c.push.Store(bytes.Contains(body, []byte("ushNotificationConfig")))
		if c.cut {
			c.oneEvent(w, r)
			return
		}
	case "tasks/resubscribe", "SubscribeToTask":
		refuse("-32004")
		return
	case "tasks/get", "GetTask":
		if c.noGet {
			refuse("-32601")
			return
		}
	}
	c.agent.ServeHTTP(w, r)
}

// oneEvent passes the beginning of a stream on, and then hangs up. The agent does not
// notice.
func (c *cutter) oneEvent(w http.ResponseWriter, r *http.Request) {
	pr, pw := io.Pipe()
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	go func() { // ends with the request
		c.agent.ServeHTTP(&pipeWriter{header: http.Header{}, w: pw}, r.WithContext(ctx))
		pw.Close()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	lines := bufio.NewReader(pr)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(w, line)
		if err != nil || line == "\n" {
			break
		}
	}
	_ = http.NewResponseController(w).Flush()
	pr.Close()
	panic(http.ErrAbortHandler)
}

type pipeWriter struct {
	header http.Header
	w      *io.PipeWriter
}

func (p *pipeWriter) Header() http.Header         { return p.header }
func (p *pipeWriter) WriteHeader(int)             {}
func (p *pipeWriter) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *pipeWriter) Flush()                      {}

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

// pushed is a client of an agent, and what takes its pushes, until the test ends.
func pushed(t *testing.T, agent http.Handler, version string) (*transport.Client, *Boxes) {
	t.Helper()
	server := httptest.NewServer(agent)
	t.Cleanup(server.Close)
	client, err := transport.NewClient(server.URL, &transport.ClientOptions{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	boxes := NewBoxes("", false)
	hooks, err := Listen("127.0.0.1:0", NewReceiver(boxes, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hooks.Close() })
	boxes.SetBase(hooks.URL())
	return client, boxes
}

// turn has one prompt answered, and returns what was shown.
func turn(t *testing.T, version string, c *cutter) *reader {
	t.Helper()
	agent := demo.New(&demo.Options{Version: "both", Push: &demo.PushOptions{}})
	t.Cleanup(func() { agent.Close() })
	c.agent, c.called = agent, map[string]int{}
	client, boxes := pushed(t, c, version)
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
