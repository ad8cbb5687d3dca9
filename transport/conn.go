package transport

import (
	"net"
	"sync"
	"sync/atomic"
)

// sharedReads say how much one read may take: each connection, and each stream, has a buffer of that
// size. With 256 streams at once those of mostRead took half a gigabyte, and an event four times as long.
type sharedReads struct {
	conns atomic.Int32 // that are open
}

// allReads is what the reads of all connections take together, but for leastRead each.
const (
	allReads  = 16 * mostRead
	leastRead = 16 << 10
)

// most is how many bytes a read of one more connection, or of its stream, may take.
func (r *sharedReads) most() int {
	return max(leastRead, min(mostRead, allReads/max(1, int(r.conns.Load()))))
}

// Connections returns how many connections to the agent are open, idle ones too; 0 with
// [ClientOptions.RoundTripper].
func (c *Client) Connections() int { return int(c.reads.conns.Load()) }

// A plainConn is a connection whose half the client can end: see [Stream.HangUp].
type plainConn struct {
	net.Conn
	shared *sharedReads
	most   int // bytes of a read
	closed sync.Once
	// owner is the context of the messages that the connection has carried, "" if it has carried
	// those of several: Gemini's server ties each to it, also after the response has ended.
	owner atomic.Pointer[string]
}

func (c *plainConn) Read(b []byte) (int, error) { return c.Conn.Read(b[:min(len(b), c.most)]) }

func (c *plainConn) Close() error {
	c.closed.Do(func() { c.shared.conns.Add(-1) })
	return c.Conn.Close()
}

// carry notes that a message of a context goes over the connection.
func (c *plainConn) carry(owner string) {
	if !c.owner.CompareAndSwap(nil, &owner) && *c.owner.Load() != owner {
		c.owner.Store(new(string))
	}
}

// endWriting ends our half of the connection (a FIN), if that has carried messages of the owner
// alone, which is not "", and reports whether it has. A request that net/http would send over it
// afterwards takes another: nothing of it can be written.
func (c *plainConn) endWriting(owner string) bool {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	is := c.owner.Load()
	return ok && owner != "" && is != nil && *is == owner && half.CloseWrite() == nil
}
