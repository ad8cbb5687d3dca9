package transport

import (
	"net"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestSharedReads shows that many connections take less each, and that one that is closed twice gives its
// part back once.
func TestSharedReads(t *testing.T) {
	var shared sharedReads
	near, far := net.Pipe()
	defer far.Close()
	conn := &plainConn{Conn: near, shared: &shared, most: shared.most()}
	for _, c := range []struct {
		conns int32
		most  int
	}{{0, mostRead}, {16, mostRead}, {64, mostRead / 4}, {10000, leastRead}} {
		shared.conns.Store(c.conns)
		must.Equal(t, shared.most(), c.most, c.conns, "connections")
	}
	must.Do(t, conn.Close())
	must.Do(t, conn.Close())
	must.Equal(t, shared.conns.Load(), 9999)
}
