// Package replay plays the agent of a recorded conversation as an A2A server, for any
// client. It answers as the agent did then, in the recorded order.
//
// It matches requests by their meaning, because IDs differ from run to run: it replaces
// the recorded IDs of messages and contexts by the client's current ones.
//
// It starts no goroutine. Requests that come at once share, under a mutex, which exchanges were played.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
)

const maxBody = 64 << 20

type Options struct {
	// Speed multiplies the recorded speed; 0: no pauses.
	Speed float64
	// Note is called with each deviation from the recording. It may be called
	// concurrently.
	Note func(string)
}

// An Agent plays the agent's side of a trace. It is an [http.Handler].
type Agent struct {
	opts      Options
	file      *trace.File
	exchanges []*exchange
	recCard   []byte // the recorded card; nil: none was
	base      string

	mu  sync.Mutex // also of which exchanges were played
	ids ids
}

// NewAgent reads a trace: it keeps requests to the agent, and the positions of answers. The caller
// closes the Agent.
func NewAgent(path string, opts *Options) (*Agent, error) {
	r, err := trace.Open(path, nil)
	if err != nil {
		return nil, err
	}
	a := &Agent{opts: *opts, file: r.File(), ids: ids{current: map[string]string{}, recorded: map[string]string{}}}
	if err := a.read(r); err != nil {
		a.file.Close()
		return nil, err
	}
	for _, n := range r.Notes() {
		a.opts.Note(n)
	}
	return a, nil
}

// Close closes the file. No request may be running.
func (a *Agent) Close() error { return a.file.Close() }

// At sets the URL of the server, to which its card leads. Call it before the first request.
func (a *Agent) At(url string) { a.base = url }

func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := newRequest(r.Method, r.URL.Path, "", body)
	p := &playing{a: a, q: &q, w: w, ctx: r.Context(), began: time.Now()}
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/.well-known/agent") {
		p.card()
		return
	}
	p.play()
}

// A playing is one request that is being answered.
type playing struct {
	a     *Agent
	q     *request
	w     http.ResponseWriter
	ctx   context.Context
	began time.Time
}

// card answers with the card, whose URLs lead here.
func (p *playing) card() {
	doc := p.a.recCard
	if doc == nil {
		doc = p.a.inventedCard()
	} else if moved, _, _, err := card.Move(doc, p.a.base, card.Mover(card.URL(doc), p.a.base)); err == nil {
		doc = moved
	}
	p.begin(http.StatusOK, "application/json", nil)
	_, _ = p.w.Write(doc) // a client that has gone needs none
}

// inventedCard is for a trace without a card: it names the recorded protocol.
func (a *Agent) inventedCard() []byte {
	place := `"protocolVersion":"0.3.0","url":%s`
	for _, x := range a.exchanges {
		if x.method != "" && 'A' <= x.method[0] && x.method[0] <= 'Z' {
			place = `"supportedInterfaces":[{"url":%s,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]`
		}
	}
	return fmt.Appendf(nil, `{"name":"replay","version":"1",`+place+`,"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`, quoted(a.base))
}

// play answers a request with its recorded answer.
func (p *playing) play() {
	a := p.a
	a.mu.Lock()
	x, differs := a.match(p.q)
	if x != nil {
		x.played = true
		a.ids.learn(x.params, p.q.params)
	}
	a.mu.Unlock()
	if x == nil {
		a.opts.Note(fmt.Sprintf("%s: nothing more of that kind was recorded", p.q.shown))
		p.begin(http.StatusOK, "application/json", nil)
		fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the trace has no answer to this request: nothing more of that kind was recorded"}}`, cmp.Or(p.q.id, "null"))
		return
	}
	if differs != "" {
		a.opts.Note(differs)
	}
	p.exchange(x)
}

// begin writes the head of an answer, with some fields of a recorded one.
func (p *playing) begin(status int, contentType string, header map[string][]string) {
	h := p.w.Header()
	for _, name := range []string{"A2a-Extensions", "X-A2a-Extensions", "Www-Authenticate", "Retry-After", "Cache-Control"} {
		for _, v := range header[name] {
			h.Add(name, v)
		}
	}
	h.Set("Content-Type", contentType)
	p.w.WriteHeader(status)
}

func (p *playing) exchange(x *exchange) {
	if !p.waitFor(x, x.responded) {
		return
	}
	if x.status < 200 || x.status > 999 { // no response was recorded, or none that can be sent
		p.abort()
	}
	p.begin(x.status, cmp.Or(http.Header(x.header).Get("Content-Type"), "application/json"), x.header)
	if len(x.events) > 0 {
		p.stream(x)
		return
	}
	if x.body != nil {
		p.whole(x)
	}
	if x.reason == trace.EndCut {
		p.abort()
	}
}

// waitFor waits until the recorded time at is due. It reports whether the client is still there.
func (p *playing) waitFor(x *exchange, at int64) bool {
	wait := time.Duration(0)
	if speed := p.a.opts.Speed; speed > 0 {
		wait = time.Until(p.began.Add(time.Duration(float64(at-x.began)/speed) * time.Microsecond))
	}
	select {
	case <-time.After(wait):
	case <-p.ctx.Done():
	}
	return p.ctx.Err() == nil
}

// stream plays an exchange's events, and ends as recorded.
func (p *playing) stream(x *exchange) {
	for i, at := range x.events {
		r := p.record(at)
		if !p.waitFor(x, r.Micros) {
			return
		}
		data, whole := r.Payload()
		if !whole {
			p.fail(fmt.Errorf("event %d of %s was too large to be recorded: the stream is cut there", i+1, x))
		}
		_, err := p.w.Write(r.Block(p.withCurrentIDs(data)))
		if err == nil {
			err = http.NewResponseController(p.w).Flush()
		}
		if err != nil {
			return // the client has gone
		}
	}
	switch x.reason {
	case trace.EndCut, trace.EndFailed:
		p.abort()
	case trace.EndClosed, trace.EndCanceled, trace.EndOpen, "":
		// The stream was open when the recorded client left; this client may stay.
		<-p.ctx.Done()
	}
}

// abort breaks the connection off, behind what was written. It does not return.
func (p *playing) abort() {
	_ = http.NewResponseController(p.w).Flush() // what cannot be flushed is lost with the connection
	panic(http.ErrAbortHandler)
}

// fail notes why the answer ends early, and aborts.
func (p *playing) fail(err error) {
	p.a.opts.Note(err.Error())
	p.abort()
}

// record reads a record, or fails.
func (p *playing) record(at trace.Position) *trace.Record {
	r, _, err := p.a.file.Read(at)
	if err != nil {
		p.fail(err)
	}
	return r
}

// whole writes an answer that is no stream.
func (p *playing) whole(x *exchange) {
	b, whole := p.record(*x.body).Payload()
	if !whole {
		p.fail(fmt.Errorf("the answer to %s was too large to be recorded", x))
	}
	if _, err := p.w.Write(p.withCurrentIDs(b)); err != nil {
		p.fail(err)
	}
}

// withCurrentIDs returns a recorded payload with the IDs of the client's conversation.
func (p *playing) withCurrentIDs(b []byte) []byte {
	p.a.mu.Lock()
	defer p.a.mu.Unlock()
	b = p.a.ids.apply(b)
	if p.q.method != "" {
		b = withID(b, p.q.id)
	}
	return b
}
