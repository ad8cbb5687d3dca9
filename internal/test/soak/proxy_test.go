package soak

import (
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

const (
	// near and far bound the distance of a fault in bytes: within a conversation or two,
	// or beyond the longest story.
	near, far = 16 << 10, 4 << 20
	// shortStall is shorter than any time-out of the bridge; longStall is longer than the
	// silence after which it asks for a task.
	shortStall = 300 * time.Millisecond
	longStall  = 6 * time.Second
	// maxDelay bounds the delay of a piece.
	maxDelay = 20 * time.Millisecond
	// slicedBytes is how much of a piece is cut into slices of a few bytes.
	slicedBytes = 256
)

// A proxy is a bad connection to a TCP server. Each connection's faults are drawn when
// it is accepted.
type proxy struct {
	listener net.Listener
	server   string
	stall    time.Duration // the longest one

	mu     sync.Mutex
	random *rand.Rand // nil: no faults
	conns  map[*net.TCPConn]bool
	faults map[string]int // how often each happened
	wg     sync.WaitGroup
	closed chan struct{}
}

func newProxy(t *testing.T, server string, stall time.Duration) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, stall: stall, conns: map[*net.TCPConn]bool{}, faults: map[string]int{}, closed: make(chan struct{})}
	p.wg.Go(p.accept) // ends with the listener
	t.Cleanup(func() {
		close(p.closed)
		l.Close()
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() + "/" }

// misbehave begins a seed's faults; be good ends all faults, also of open connections.
func (p *proxy) misbehave(seed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.random = rand.New(rand.NewPCG(seed, 0))
}

func (p *proxy) beGood() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.random = nil
}

func (p *proxy) good() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random == nil
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		client, toServer, toClient := conn.(*net.TCPConn), fault{}, fault{}
		p.mu.Lock()
		if p.random != nil {
			toServer, toClient = p.draw(), p.draw()
		}
		p.mu.Unlock()
		p.wg.Go(func() { p.connect(client, toServer, toClient) }) // ends with its connections, which cut closes
	}
}

// A fault is a fault of one direction of a connection.
type fault struct {
	kind    string // "": only the following
	at      int    // after how many bytes
	stall   time.Duration
	latency time.Duration // at most, of each piece
	sliced  bool
	random  *rand.Rand // its own, since the order of pieces varies
}

// draw draws a fault; the caller holds mu.
func (p *proxy) draw() fault {
	f := fault{random: rand.New(rand.NewPCG(p.random.Uint64(), 0))}
	most := near
	if f.random.IntN(8) == 0 {
		most = far
	}
	// Logarithmic: 10 to 100 bytes are as likely as a thousand to ten thousand.
	f.at = int(math.Exp(f.random.Float64()*math.Log(float64(most)))) - 1
	switch f.random.IntN(4) {
	case 0:
		f.kind = "reset"
	case 1:
		f.kind = "half-close"
	case 2:
		f.kind, f.stall = "stall", time.Duration(f.random.Int64N(int64(shortStall)))
		if p.stall > shortStall && f.random.IntN(4) == 0 {
			f.stall = time.Duration(f.random.Int64N(int64(p.stall)))
		}
	}
	if f.random.IntN(3) == 0 {
		f.latency = time.Duration(f.random.Int64N(int64(maxDelay)))
	}
	f.sliced = f.random.IntN(3) == 0
	return f
}

func (p *proxy) connect(client *net.TCPConn, toServer, toClient fault) {
	defer client.Close()
	conn, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	server := conn.(*net.TCPConn)
	defer server.Close()
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
		delete(p.conns, server)
	}()
	select {
	case <-p.closed:
		return
	default:
	}
	var both sync.WaitGroup
	both.Go(func() { p.pump(server, client, toServer) }) // each ends with its connections
	both.Go(func() { p.pump(client, server, toClient) })
	both.Wait()
}

// pump copies bytes in one direction until the end.
func (p *proxy) pump(to, from *net.TCPConn, f fault) {
	buf := make([]byte, 16<<10)
	for passed := 0; ; {
		n, err := from.Read(buf)
		piece := buf[:n]
		if at := f.at - passed; f.kind != "" && at < n && !p.good() {
			at = max(at, 0)
			if p.write(to, piece[:at], f) != nil {
				break
			}
			p.note(f.kind)
			switch f.kind {
			case "reset":
				for _, c := range []*net.TCPConn{to, from} {
					_ = c.SetLinger(0) // which makes the close a reset
					c.Close()
				}
				return
			case "half-close":
				_ = to.CloseWrite()
				for err == nil { // what comes is lost
					_, err = from.Read(buf)
				}
				return
			}
			if p.wait(f.stall); p.write(to, piece[at:], f) != nil {
				break
			}
			f.kind = ""
		} else if p.write(to, piece, f) != nil {
			break
		}
		if passed += n; err != nil {
			_ = to.CloseWrite()
			return
		}
	}
	// Nobody reads it, so its sender must stop, too.
	from.Close()
}

func (p *proxy) write(to *net.TCPConn, piece []byte, f fault) error {
	if p.good() {
		_, err := to.Write(piece)
		return err
	}
	if f.latency > 0 && len(piece) > 0 {
		p.wait(time.Duration(f.random.Int64N(int64(f.latency))))
	}
	for cut := 0; f.sliced && cut < slicedBytes && len(piece) > 0; {
		n := min(1+f.random.IntN(16), len(piece))
		if _, err := to.Write(piece[:n]); err != nil {
			return err
		}
		piece, cut = piece[n:], cut+n
	}
	_, err := to.Write(piece)
	return err
}

func (p *proxy) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.closed:
	}
}

func (p *proxy) note(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[kind]++
}
