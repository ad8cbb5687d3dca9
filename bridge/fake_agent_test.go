package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

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
	log      []string
	tasks    fakeTasks
	next     string // what the transcript has the agent say next
	down     bool   // nobody accepts connections
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
	return &fakeAgent{card: defaultCard, tasks: fakeTasks{}, commands: `"error":{"code":-32601,"message":"method not found"}`}
}

func (a *fakeAgent) note(x *exchange, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !x.finished {
		x.finished = true
		a.log = append(a.log, fmt.Sprintf("A> #%d %s", x.n, what))
	}
}

// Put implements [bridge.MCPFile].
func (a *fakeAgent) Put(content []byte) (func() error, error) {
	a.write("A> file " + string(content))
	return func() error { a.write("A> file gone"); return nil }, nil
}

func (a *fakeAgent) write(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log = append(a.log, line)
}

func respond(r *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r}
}

func (a *fakeAgent) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	log := a.log
	a.log = nil
	return log
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
	case "held":
		return nil
	case "json":
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s`, x.id, strings.TrimPrefix(rest, "{"))
		if x.bare {
			body = rest
		}
		if result := gjson.Get(rest, "result"); result.IsObject() {
			a.tasks.event(result.Raw)
		} else {
			a.tasks.event(rest)
		}
		x.answer(respond(nil, 200, "application/json", io.NopCloser(strings.NewReader(body))))
		return nil
	case "status":
		var status int
		f := strings.SplitN(rest, " ", 3)
		fmt.Sscan(f[0], &status)
		x.answer(respond(nil, status, f[1], io.NopCloser(strings.NewReader(f[2]))))
		return nil
	}
	if !x.answered && verb == "cut" {
		x.answer(nil)
		return nil
	}
	if x.body == nil {
		r, w := io.Pipe()
		x.body = w
		x.answer(respond(nil, 200, "text/event-stream", pipeBody{r, x}))
	}
	w := x.body
	a.tasks.event(what)
	switch verb {
	case "end":
		x.finished = true
		go w.Close()
	case "cut":
		x.finished = true
		go w.CloseWithError(io.ErrUnexpectedEOF)
	case "raw":
		go io.WriteString(w, strings.ReplaceAll(rest, `\n`, "\n")+"\n\n")
	default:
		event := fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"result":%s}`+"\n\n", x.id, what)
		if x.bare {
			event = "data: " + what + "\n\n"
		}
		go io.WriteString(w, event) // ends when the bridge has read it, or has closed
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
