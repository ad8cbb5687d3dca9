package proxy

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/trace/fault"
)

// A noted body remembers its read error.
type noted struct {
	io.ReadCloser
	mu  sync.Mutex
	err error
}

func (n *noted) Read(b []byte) (int, error) {
	m, err := n.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		n.mu.Lock()
		n.err = err
		n.mu.Unlock()
	}
	return m, err
}

// fault returns why a client's request could not be read; nil: it could.
func (n *noted) fault() error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// faulty writes a response with faults.
type faulty struct {
	http.ResponseWriter
	r      *http.Request
	faults *fault.Faults
	body   *fault.Body
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.body == nil {
		f.Header().Del("Content-Length") // the fault may change the length
		stream := strings.HasPrefix(f.Header().Get("Content-Type"), "text/event-stream")
		f.body = fault.NewBody(f.r.Context(), f.ResponseWriter, f.faults, stream)
	}
	return f.body.Write(b)
}

func (f *faulty) WriteHeader(status int) {
	if status >= 200 {
		f.Header().Del("Content-Length")
	}
	f.ResponseWriter.WriteHeader(status)
}

// Unwrap serves http.ResponseController.
func (f *faulty) Unwrap() http.ResponseWriter { return f.ResponseWriter }
