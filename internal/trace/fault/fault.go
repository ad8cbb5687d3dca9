// Package fault makes a server's answers fail on demand, like those of networks,
// proxies and crashing agents.
package fault

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kinds of faults.
const (
	cutAfter = "cut-after" // the connection ends after so many bytes, or events, of the body
	delay    = "delay"     // the answer and each event come later
	status   = "status"    // the answer is only this status
)

// Help tells how to write faults.
const Help = "cut-after=500 (bytes; or 3events), delay=200ms, status=503; with @METHOD for that method only, with *N for the first N requests; " +
	"cut-after and status are for the first one, unless *0 says all; the request for the card is none of them"

type fault struct {
	kind   string
	n      int  // bytes or events, or a status
	events bool // n counts events
	wait   time.Duration
	method string
	left   int // requests left; negative: all
}

// A Plan holds all faults of a server. It may be used from any goroutine.
type Plan struct {
	mu   sync.Mutex
	list []*fault
}

// Parse reads faults in the syntax of Help.
func Parse(list []string) (*Plan, error) {
	p := &Plan{}
	for _, s := range list {
		f, err := parse(s)
		if err != nil {
			return nil, fmt.Errorf("there is no fault %q: there are %s", s, Help)
		}
		p.list = append(p.list, f)
	}
	return p, nil
}

func parse(s string) (*fault, error) {
	f := &fault{left: 1}
	rest, times := s, ""
	for i := strings.LastIndexAny(rest, "@*"); i >= 0; i = strings.LastIndexAny(rest, "@*") {
		if rest[i] == '@' {
			f.method = rest[i+1:]
		} else {
			times = rest[i+1:]
		}
		rest = rest[:i]
	}
	var value string
	var err error
	switch f.kind, value, _ = strings.Cut(rest, "="); f.kind {
	case cutAfter:
		if value, f.events = strings.CutSuffix(value, "events"); !f.events {
			value, f.events = strings.CutSuffix(value, "event")
		}
		f.n, err = strconv.Atoi(value)
	case delay:
		f.wait, err = time.ParseDuration(value)
		f.left = -1
	case status:
		if f.n, err = strconv.Atoi(value); f.n < 200 || f.n > 599 {
			err = strconv.ErrRange
		}
	default:
		err = strconv.ErrSyntax
	}
	if times != "" && err == nil {
		if f.left, err = strconv.Atoi(times); f.left < 0 {
			err = strconv.ErrRange
		} else if f.left == 0 {
			f.left = -1
		}
	}
	if err == nil && (f.n < 0 || f.wait < 0) {
		err = strconv.ErrRange
	}
	return f, err
}

// of returns the faults of a request, and counts it against their limits. That of a card is not
// counted, and has only those that name its method: what a client does when a conversation breaks
// could not be tried otherwise.
func (p *Plan) of(method string) (list []fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.list {
		if f.left == 0 || f.method != method && (f.method != "" || strings.Contains(method, "/.well-known/")) {
			continue
		}
		if f.left > 0 {
			f.left--
		}
		list = append(list, *f)
	}
	return list
}

// Begin applies the faults of a request before it is answered: it waits, or answers with a
// status. ok: the caller has to answer, with the writer, which has the other faults. That
// ends the handler by [http.ErrAbortHandler] where the connection has to end.
func (p *Plan) Begin(w http.ResponseWriter, r *http.Request, method string) (answer http.ResponseWriter, ok bool) {
	if p == nil || len(p.list) == 0 {
		return w, true
	}
	b := &body{ResponseWriter: w, ctx: r.Context(), bytes: -1, events: -1}
	code := 0
	for _, f := range p.of(method) {
		switch b.wait += f.wait; {
		case f.kind == status && code == 0:
			code = f.n
		case f.kind != cutAfter:
		case f.events:
			b.events = f.n
		default:
			b.bytes = f.n
		}
	}
	if b.sleep() != nil {
		return nil, false
	}
	if code != 0 {
		w.WriteHeader(code)
	}
	return b, code == 0
}

// A body writes a response with its faults. Bytes reach the client at once. One goroutine
// uses it.
type body struct {
	http.ResponseWriter
	ctx           context.Context
	wait          time.Duration
	bytes, events int    // that are left before the connection ends; negative: no limit
	block         []byte // of an incomplete event
}

// Unwrap serves http.ResponseController.
func (b *body) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *body) WriteHeader(status int) {
	if status >= 200 {
		b.Header().Del("Content-Length") // the fault may change the length
	}
	b.ResponseWriter.WriteHeader(status)
}

// Write writes some of the body; of a stream whole events only.
func (b *body) Write(p []byte) (int, error) {
	b.Header().Del("Content-Length")
	if !strings.HasPrefix(b.Header().Get("Content-Type"), "text/event-stream") {
		return len(p), b.write(p)
	}
	b.block = append(b.block, p...)
	for end := blockEnd(b.block); end >= 0; end = blockEnd(b.block) {
		block := b.block[:end]
		b.block = b.block[end:]
		data := bytes.HasPrefix(block, []byte("data:")) || bytes.Contains(block, []byte("\ndata:"))
		if data {
			if err := b.sleep(); err != nil {
				return 0, err
			}
		}
		if err := b.write(block); err != nil {
			return 0, err
		}
		if data && b.events > 0 {
			if b.events--; b.events == 0 {
				b.abort()
			}
		}
	}
	return len(p), nil
}

// End writes the rest of an event without an end. w is from [Plan.Begin].
func End(w http.ResponseWriter) {
	if b, ok := w.(*body); ok && len(b.block) > 0 {
		_ = b.write(b.block) // the client may have left
	}
}

// blockEnd returns where the first event or comment of a stream ends.
func blockEnd(b []byte) int {
	first := -1
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		if i := bytes.Index(b, []byte(end)); i >= 0 && (first < 0 || i+len(end) < first) {
			first = i + len(end)
		}
	}
	return first
}

// write writes bytes, up to where the connection ends.
func (b *body) write(p []byte) error {
	last := b.events == 0 || b.bytes >= 0 && len(p) >= b.bytes
	switch {
	case b.events == 0:
		p = nil
	case last:
		p = p[:b.bytes]
	case b.bytes >= 0:
		b.bytes -= len(p)
	}
	_, err := b.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(b.ResponseWriter).Flush()
	}
	if last {
		b.abort()
	}
	return err
}

// abort ends the connection like a crash: without the end of the body.
func (b *body) abort() {
	_ = http.NewResponseController(b.ResponseWriter).Flush() // the client may have left
	panic(http.ErrAbortHandler)
}

func (b *body) sleep() error {
	if b.wait == 0 {
		return nil
	}
	timer := time.NewTimer(b.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}
