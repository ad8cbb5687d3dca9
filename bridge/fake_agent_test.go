package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"

	"github.com/tidwall/gjson"
)

// fakeAgent is the agent's end as an [http.RoundTripper]: it answers what the
// transcript says.
type fakeAgent struct {
	mu       sync.Mutex
	card     string
	cardAt   string // "": wherever it is asked for
	commands string // the rest of the answer to commands/get
	process  *fakeProcess
	requests []*exchange
	wire
	tasks map[string]string // what a look at a task gets, by ID
	down  bool              // nobody accepts connections
}

// A wire is what has come out of one end since it was asked.
type wire struct {
	mu    sync.Mutex
	lines []string
}

func (w *wire) write(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

func (w *wire) take() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines, w.lines = w.lines, nil
	return lines
}

// fakeProcess is a [transport.Process].
type fakeProcess struct {
	mu    sync.Mutex
	done  chan struct{}
	err   error
	again bool          // it can be revived
	up    chan struct{} // closed when it has a card
}

func (p *fakeProcess) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

func (p *fakeProcess) Err() error { return p.err }

func (p *fakeProcess) Revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		if p.again {
			p.done = make(chan struct{})
		}
	default:
	}
}

func (p *fakeProcess) resolve(ctx context.Context) (string, error) {
	select {
	case <-p.up:
		return "http://agent.invalid/", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

type exchange struct {
	n         int
	id        json.RawMessage
	response  chan *http.Response
	answered  bool
	bare      bool // no JSON-RPC
	body      *io.PipeWriter
	finished  bool
	automatic bool // a look that the transcript does not answer
	fakeAgent *fakeAgent
}

const defaultCard = `{"name":"fake","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true,"extensions":[{"uri":"https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"}]},"defaultInputModes":["text"]}`

func newFakeAgent() *fakeAgent {
	return &fakeAgent{card: defaultCard, tasks: map[string]string{}, commands: `"error":{"code":-32601,"message":"method not found"}`}
}

func (a *fakeAgent) note(x *exchange, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !x.finished {
		x.finished = true
		a.write(fmt.Sprintf("A> #%d %s", x.n, what))
	}
}

// Put implements [bridge.MCPFile].
func (a *fakeAgent) Put(content []byte) (func() error, error) {
	a.write("A> file " + string(content))
	return func() error { a.write("A> file gone"); return nil }, nil
}

func respond(r *http.Request, status int, contentType, body string) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Request: r}
}

func respondJSON(r *http.Request, body string) *http.Response {
	return respond(r, 200, "application/json", body)
}

// spell puts a result, or an error, into the envelope of JSON-RPC, if the request has one.
func (x *exchange) spell(member, value string) string {
	if x.bare {
		return value
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"%s":%s}`, x.id, member, value)
}

// say does what an A< line says.
func (a *fakeAgent) say(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if text, ok := strings.CutPrefix(what, "died "); ok {
		a.process.err = errors.New(text)
		close(a.process.done)
		return nil
	}
	if what == "up" {
		close(a.process.up)
		return nil
	}
	if what == "down" {
		a.down = true
		for _, x := range a.requests {
			if x.finished = true; x.body != nil {
				x.body.CloseWithError(io.ErrUnexpectedEOF)
			}
		}
		return nil
	}
	if len(a.requests) == 0 {
		return errors.New("the agent has had no request")
	}
	x := a.requests[len(a.requests)-1]
	for i := len(a.requests) - 1; i >= 0 && x.automatic; i-- {
		x = a.requests[i]
	}
	if strings.HasPrefix(what, "#") {
		var n int
		number, rest, _ := strings.Cut(what, " ")
		if _, err := fmt.Sscanf(number, "#%d", &n); err != nil || n > len(a.requests) {
			return fmt.Errorf("no request %s", number)
		}
		x, what = a.requests[n-1], rest
	}
	verb, rest, _ := strings.Cut(what, " ")
	if x.answered && x.body == nil {
		return fmt.Errorf("request %d has had its answer", x.n)
	}
	switch verb {
	case "json":
		if !x.bare {
			rest = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s`, x.id, strings.TrimPrefix(rest, "{"))
		}
		x.answer(respondJSON(nil, rest))
		return nil
	case "status":
		var status int
		f := strings.SplitN(rest, " ", 3)
		fmt.Sscan(f[0], &status)
		x.answer(respond(nil, status, f[1], f[2]))
		return nil
	}
	if !x.answered && verb == "cut" {
		x.answer(nil)
		return nil
	}
	if x.body == nil {
		r, w := io.Pipe()
		x.body = w
		stream := respond(nil, 200, "text/event-stream", "")
		stream.Body = pipeBody{r, x}
		x.answer(stream)
	}
	w := x.body
	switch verb {
	case "end":
		x.finished = true
		go w.Close()
	case "cut":
		x.finished = true
		go w.CloseWithError(io.ErrUnexpectedEOF)
	case "raw":
		go io.WriteString(w, strings.NewReplacer(`\n`, "\n", "$MIB", strings.Repeat("x", 1<<20)).Replace(rest)+"\n\n")
	default:
		go io.WriteString(w, "data: "+x.spell("result", what)+"\n\n") // ends when the bridge has read it, or has closed
	}
	return nil
}

func (x *exchange) answer(r *http.Response) {
	x.answered = true
	x.response <- r
}

// close ends every stream, at the end of a transcript.
func (a *fakeAgent) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, x := range a.requests {
		x.finished = true
		if x.body != nil {
			x.body.Close()
		} else if !x.answered {
			x.answered = true
			close(x.response)
		}
	}
}

type pipeBody struct {
	*io.PipeReader
	x *exchange
}

func (b pipeBody) Close() error {
	b.x.fakeAgent.note(b.x, "closed")
	return b.PipeReader.Close()
}

// holds notes what a look at a task gets: the task, or, with its ID alone, an answer of the transcript's.
func (a *fakeAgent) holds(task string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id := gjson.Get(task, "id").Str; id != "" {
		a.tasks[id] = task
	} else {
		delete(a.tasks, task)
	}
}

// answerLook answers a request for a task.
func (a *fakeAgent) answerLook(x *exchange, id string) {
	if task := a.tasks[id]; task != "" {
		// It is answered: that the bridge gives it up in the same moment is no news.
		x.automatic, x.finished = true, true
		x.answer(respondJSON(nil, x.spell("result", task)))
	}
}

func (a *fakeAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	down := a.down
	a.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
	}
	if r.Method == http.MethodGet && !strings.Contains(r.URL.Path, "/tasks/") {
		if a.card == "held" {
			a.write("A> card")
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		if a.card == "none" || a.cardAt != "" && a.cardAt != r.URL.Path {
			return respond(r, 404, "text/plain", "not found"), nil
		}
		return respondJSON(r, a.card), nil
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	m := gjson.ParseBytes(body)
	bare := !m.Get("jsonrpc").Exists()
	what := m.Get("method").Str + " " + m.Get("params").Raw
	if bare {
		what = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
	}
	if m.Get("method").Str == "commands/get" {
		a.mu.Lock()
		told := a.commands
		if told != `"result":held` {
			a.commands = `"error":{"code":-32603,"message":"they were told"}` // who asks again takes a command for a prompt
		}
		a.mu.Unlock()
		if told == `"result":held` {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return respondJSON(r, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.Get("id").Raw, told)), nil
	}
	a.mu.Lock()
	x := &exchange{n: len(a.requests) + 1, id: json.RawMessage(m.Get("id").Raw), response: make(chan *http.Response, 1), bare: bare, fakeAgent: a}
	a.requests = append(a.requests, x)
	a.write(fmt.Sprintf("A> #%d %s", x.n, what))
	for _, name := range []string{"Traceparent", "Tracestate", "Baggage"} {
		if v := r.Header.Get(name); v != "" {
			a.write(fmt.Sprintf("A> #%d with %s: %s", x.n, name, v))
		}
	}
	if method := m.Get("method").Str; method == "tasks/get" || method == "GetTask" {
		a.answerLook(x, m.Get("params.id").Str)
	} else if bare && r.Method == http.MethodGet && !strings.Contains(r.URL.Path, ":") {
		a.answerLook(x, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
	}
	a.mu.Unlock()
	select {
	case resp := <-x.response:
		if resp == nil {
			return nil, errors.New("connection reset by peer")
		}
		resp.Request = r
		if body, ok := resp.Body.(pipeBody); ok {
			context.AfterFunc(r.Context(), func() {
				a.note(x, "closed")
				body.PipeReader.CloseWithError(r.Context().Err())
			})
		}
		return resp, nil
	case <-r.Context().Done():
		a.note(x, "closed")
		return nil, r.Context().Err()
	}
}
