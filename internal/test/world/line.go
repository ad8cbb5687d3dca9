package world

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// A line is the network between one bridge and the agent: an [http.RoundTripper].
// When the bridge is killed its line is severed.
type line struct {
	agent *agent

	mu      sync.Mutex
	severed bool
	cut     context.CancelFunc // ends all that is under way
	ctx     context.Context
}

func newLine(a *agent) *line {
	l := &line{agent: a}
	l.ctx, l.cut = context.WithCancel(context.Background())
	return l
}

// sever ends the line: the bridge is dead.
func (l *line) sever() {
	l.mu.Lock()
	l.severed = true
	l.mu.Unlock()
	l.cut()
}

func (l *line) dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.severed
}

// A request is one of the bridge's.
type request struct {
	line   *line
	ctx    context.Context
	id     string // as JSON
	method string
	params gjson.Result
	header http.Header
}

// A reply is an answer: a stream, a JSON body, or an error of the network.
type reply struct {
	stream   *stream
	status   int // 0: 200
	json     string
	err      error
	asStream bool // json is the one event of a stream
	// short cuts the body off, hang answers so late; for ever if hung.
	short bool
	hang  time.Duration
	hung  bool
}

// RoundTrip implements [http.RoundTripper].
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.dead() || !l.agent.reachable(r.Method) {
		if r.Body != nil {
			r.Body.Close() // unread: nothing of it was written
		}
		return nil, fmt.Errorf("dial: connection refused")
	}
	if r.Method == http.MethodGet {
		return respond(r, 200, "application/json", io.NopCloser(strings.NewReader(l.agent.plan.Agent.card()))), nil
	}
	raw, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(r.Context())
	context.AfterFunc(l.ctx, stop)
	m := gjson.ParseBytes(raw)
	q := &request{l, ctx, m.Get("id").Raw, m.Get("method").Str, m.Get("params"), r.Header}
	answer := l.agent.handle(q, string(raw))
	if answer.hang > 0 || answer.hung {
		if !l.wait(ctx, answer) {
			return nil, ctx.Err()
		}
	}
	switch {
	case answer.err != nil:
		return nil, answer.err
	case answer.stream != nil:
		answer.stream.body.watch(ctx)
		return respond(r, 200, "text/event-stream", &answer.stream.body), nil
	}
	if answer.asStream {
		return respond(r, 200, "text/event-stream", io.NopCloser(strings.NewReader("data: "+answer.json+"\n\n"))), nil
	}
	var body io.Reader = strings.NewReader(answer.json)
	if answer.short {
		body = io.MultiReader(strings.NewReader(answer.json[:len(answer.json)/2]), brokenReader{})
	}
	return respond(r, max(answer.status, 200), "application/json", io.NopCloser(body)), nil
}

// wait is for an answer that comes late, or never.
func (l *line) wait(ctx context.Context, answer *reply) bool {
	var late <-chan time.Time
	if !answer.hung {
		timer := time.NewTimer(answer.hang)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-late:
		return true
	case <-ctx.Done():
	case <-l.agent.done:
	}
	return false
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errReset }

func respond(r *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r}
}

// reachable reports whether a connection can be made.
func (a *agent) reachable(method string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if method == http.MethodPost && a.refuse > 0 {
		a.refuse--
		a.tell("world", "a connection is refused")
		r := a.runs[a.current]
		for _, f := range r.turn.Faults {
			if f.Kind == Refused {
				a.happened(r, f)
			}
		}
		return false
	}
	return !time.Now().Before(a.downTill)
}

// errorReply is a JSON-RPC error. The agent's lock is held.
func errorReply(q *request, code int, message string) *reply {
	q.line.agent.tell("agent<", "error %d: %s", code, message)
	return &reply{json: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, q.id, code, message)}
}

func result(q *request, json []byte) *reply {
	return &reply{json: `{"jsonrpc":"2.0","id":` + q.id + `,"result":` + string(json) + `}`}
}
