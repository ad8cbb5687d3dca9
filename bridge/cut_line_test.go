package bridge_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

var errCut = errors.New("the line is cut")

// A cutLine is a network whose connections are cut after given numbers of bytes,
// counted over all of them, in both directions. A cut comes in the middle of a read or a
// write: the bytes before it have arrived. After it, connecting fails for a while.
type cutLine struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu   sync.Mutex
	cuts []int
	n    int
	read func(n int, b []byte) // if not nil, gets what is read, and the number behind it
	away time.Duration
	back time.Time // when somebody gets through again
}

// start counts from here.
func (l *cutLine) start(cuts []int, away time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts, l.n, l.away = cuts, 0, away
}

func (l *cutLine) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	l.mu.Lock()
	wait := time.NewTimer(time.Until(l.back))
	l.mu.Unlock()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	conn, err := l.dial(ctx, network, addr)
	return &cutConn{conn, l}, err
}

// travel counts bytes, and returns how many of them arrive.
func (l *cutLine) travel(b []byte, read bool) (arrive int, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	if len(l.cuts) > 0 && l.n+n > l.cuts[0] {
		n, cut = max(0, l.cuts[0]-l.n), true
		l.cuts, l.back = l.cuts[1:], time.Now().Add(l.away)
	}
	if l.n += n; read && l.read != nil {
		l.read(l.n, b[:n])
	}
	return n, cut
}

type cutConn struct {
	net.Conn
	line *cutLine
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	n, cut := c.line.travel(b[:n], true)
	if cut {
		c.Close()
		return n, errCut
	}
	return n, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	n, cut := c.line.travel(b, false)
	n, err := c.Conn.Write(b[:n])
	if cut && err == nil {
		c.Close()
		err = errCut
	}
	return n, err
}
