package trace

import (
	"io"
	"mime"
	"net/http"
	"sync"
	"time"
)

// Wrap returns a RoundTripper that records what passes through next: it is
// transport.ClientOptions.Wrap.
func (w *Writer) Wrap(next http.RoundTripper) http.RoundTripper {
	return &roundTripper{w, next}
}

// A roundTripper has no CloseIdleConnections: go-retryablehttp would call it
// whenever it gives up on one request, and close the others' connections.
type roundTripper struct {
	w    *Writer
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	w := t.w
	x := &exchange{w: w, n: w.exchanges.Add(1), start: w.now()}
	sent := &requestBody{x: x, request: &record{Wire: "agent", Dir: "out", Exchange: x.n, Event: "request",
		Method: req.Method, URL: w.mask.url(req.URL), Header: w.mask.header(req.Header)}, seen: seen{limit: w.limit}}
	if req.Body == nil || req.Body == http.NoBody {
		sent.record()
	} else {
		// A copy: a RoundTripper must not change the request.
		sent.body = req.Body
		req = req.Clone(req.Context())
		req.Body = sent
	}
	resp, err := t.next.RoundTrip(req)
	sent.record() // an agent may answer before it has read everything
	if err != nil {
		w.write(&record{Wire: "agent", Dir: "in", Exchange: x.n, Event: "error", Millis: x.millis(), Error: w.mask.text(err.Error())})
		return resp, err
	}
	w.write(&record{Wire: "agent", Dir: "in", Exchange: x.n, Event: "response", Status: resp.StatusCode,
		Header: w.mask.header(resp.Header), Millis: x.millis()})
	body := &responseBody{ReadCloser: resp.Body, x: x, seen: seen{limit: w.limit}}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media == "text/event-stream" {
		body.sse = &sse{block: seen{limit: w.limit}, event: x.event}
	}
	resp.Body = body
	return resp, nil
}

// An exchange is a request and its response.
type exchange struct {
	w     *Writer
	n     uint64
	start time.Time
}

func (x *exchange) millis() int64 { return x.w.now().Sub(x.start).Milliseconds() }

// seen is what has passed: the first bytes of it, and the number of all.
type seen struct {
	limit int
	b     []byte
	n     int64
}

func (s *seen) add(p []byte) {
	s.n += int64(len(p))
	s.b = append(s.b, p[:min(len(p), s.limit-len(s.b))]...)
}

func (s *seen) cut() int64 { return s.n - int64(len(s.b)) }

// A requestBody is recorded, with its request, when it has been read.
type requestBody struct {
	body    io.ReadCloser
	x       *exchange
	request *record

	mu   sync.Mutex // the transport may read on after RoundTrip has returned
	done bool
	seen seen
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.mu.Lock()
	if !b.done {
		b.seen.add(p[:n])
	}
	b.mu.Unlock()
	if err != nil {
		b.record()
	}
	return n, err
}

func (b *requestBody) Close() error {
	b.record()
	return b.body.Close()
}

func (b *requestBody) record() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return
	}
	b.done = true
	b.x.w.content(b.request, b.seen.b, b.seen.cut())
	b.x.w.write(b.request)
}

// A responseBody is recorded as it passes (a stream) or when it has passed.
type responseBody struct {
	io.ReadCloser
	x   *exchange
	sse *sse // nil: no stream

	mu   sync.Mutex // Close may come while a Read is blocked
	done bool
	seen seen
}

func (b *responseBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return n, err
	}
	if b.sse != nil {
		b.sse.add(p[:n])
		b.seen.n += int64(n)
	} else {
		b.seen.add(p[:n])
	}
	switch {
	case err == io.EOF:
		b.end("")
	case err != nil:
		b.end(b.x.w.mask.text(err.Error()))
	}
	return n, err
}

func (b *responseBody) Close() error {
	// Not under the lock: it ends a Read that is blocked.
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		b.end("closed by the bridge")
	}
	return err
}

func (b *responseBody) end(why string) {
	b.done = true
	w := b.x.w
	if b.sse != nil {
		b.sse.end()
	} else if b.seen.n > 0 {
		r := &record{Wire: "agent", Dir: "in", Exchange: b.x.n, Event: "body"}
		w.content(r, b.seen.b, b.seen.cut())
		w.write(r)
	}
	b.seen.b = nil
	w.write(&record{Wire: "agent", Dir: "in", Exchange: b.x.n, Event: "end", Bytes: b.seen.n, Millis: b.x.millis(), Error: why})
}
