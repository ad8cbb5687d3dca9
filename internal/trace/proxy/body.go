package proxy

import (
	"io"
	"sync"
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
