package fault

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"
)

// A Body writes a response's body with its faults. Bytes reach the client at once. One
// goroutine uses it.
type Body struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	ctx    context.Context
	f      *Faults
	stream bool
	bytes  int
	events int
	block  []byte // of an incomplete event
}

// NewBody returns a Body for a response whose header has been written. stream: it is an
// event stream.
func NewBody(ctx context.Context, w http.ResponseWriter, f *Faults, stream bool) *Body {
	return &Body{w: w, rc: http.NewResponseController(w), ctx: ctx, f: f, stream: stream}
}

// Write writes some of the body. It panics with [http.ErrAbortHandler] where the
// connection has to end.
func (b *Body) Write(p []byte) (int, error) {
	if !b.stream || len(b.f.list) == 0 {
		return len(p), b.write(p)
	}
	b.block = append(b.block, p...)
	for {
		end := blockEnd(b.block)
		if end < 0 {
			return len(p), nil
		}
		if err := b.event(b.block[:end]); err != nil {
			return 0, err
		}
		b.block = b.block[end:]
	}
}

// Close writes the rest of an event without an end.
func (b *Body) Close() error {
	if len(b.block) == 0 {
		return nil
	}
	return b.write(b.block)
}

// Abort ends the connection like a crash: without the end of the body.
func (b *Body) Abort() {
	_ = b.rc.Flush() // the client may have left
	panic(http.ErrAbortHandler)
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

func (b *Body) event(block []byte) error {
	data := bytes.HasPrefix(block, []byte("data:")) || bytes.Contains(block, []byte("\ndata:"))
	copies := 1
	if data {
		b.events++
		copies = b.f.copies(b.events)
		if err := b.wait(); err != nil {
			return err
		}
	}
	for range copies {
		if err := b.write(block); err != nil {
			return err
		}
	}
	if n, byReset := b.f.limit(true); data && n >= 0 && b.events >= n {
		b.end(byReset)
	}
	return nil
}

func (b *Body) wait() error {
	d := b.f.Delay()
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

func (b *Body) write(p []byte) error {
	limit, byReset := b.f.limit(false)
	last := limit >= 0 && b.bytes+len(p) >= limit
	if last {
		p = p[:limit-b.bytes]
	}
	b.bytes += len(p)
	_, err := b.w.Write(p)
	if err == nil {
		err = b.rc.Flush()
	}
	if last {
		b.end(byReset)
	}
	return err
}

func (b *Body) end(byReset bool) {
	if byReset {
		Reset(b.w)
	}
	b.Abort()
}

// Reset resets the connection, and ends the handler.
func Reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// Begin applies the faults before a response: it waits, and answers with a status or a
// reset. It reports whether the caller has to answer.
func (f *Faults) Begin(ctx context.Context, w http.ResponseWriter) bool {
	b := Body{ctx: ctx, f: f}
	if b.wait() != nil {
		return false
	}
	if code := f.Status(); code != 0 {
		w.WriteHeader(code)
		return false
	}
	if n, byReset := f.limit(false); n == 0 && byReset {
		Reset(w)
	}
	return true
}
