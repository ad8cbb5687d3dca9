package fault

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"
)

// A Body writes a response's body with what is to go wrong with it. What is written
// reaches the client at once. It is used by one goroutine.
type Body struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	ctx    context.Context
	f      *Faults
	stream bool
	bytes  int
	events int
	block  []byte // of an event that has not come whole
}

// NewBody returns a Body for a response whose header has been written. stream says
// that it is an event stream.
func NewBody(ctx context.Context, w http.ResponseWriter, f *Faults, stream bool) *Body {
	return &Body{w: w, rc: http.NewResponseController(w), ctx: ctx, f: f, stream: stream}
}

// Write writes some of the body. It panics with [http.ErrAbortHandler] where the
// connection is to end.
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

// Close writes what is left of an event that has no end.
func (b *Body) Close() error {
	if len(b.block) == 0 {
		return nil
	}
	return b.write(b.block)
}

// Abort ends the connection as a crash does: without the end of the body.
func (b *Body) Abort() {
	_ = b.rc.Flush() // the client is gone, at worst
	panic(http.ErrAbortHandler)
}

// blockEnd returns where the first event, or comment, of a stream ends.
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

// Reset ends a connection by a reset, and with it the handler.
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

// Begin is what comes before the response: it waits, and answers with a status or a
// reset if that is to go wrong. It reports whether there is an answer to be written.
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
