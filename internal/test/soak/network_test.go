package soak

import (
	"bytes"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
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
)

// A proxy is a bad connection to a TCP server. Each connection's faults are drawn when
// it is accepted.
type proxy struct {
	listener net.Listener
	server   string
	stall    time.Duration // the longest one

	mu     sync.Mutex
	random *rand.Rand // nil: no faults
	conns  map[net.Conn]bool
	faults map[string]int // how often each happened
	wg     sync.WaitGroup
	closed chan struct{}
}

func newProxy(t *testing.T, server string, stall time.Duration) *proxy {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &proxy{listener: l, server: server, stall: stall, conns: map[net.Conn]bool{}, faults: map[string]int{}, closed: make(chan struct{})}
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

// behave begins a seed's faults, or ends all faults, also of open connections.
func (p *proxy) behave(badly bool, seed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.random = nil; badly {
		p.random = rand.New(rand.NewPCG(seed, 0))
	}
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
	clear(p.conns)
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { // ends with its connections, which cut closes
			defer client.Close()
			server, err := net.Dial("tcp", p.server)
			if err != nil {
				return
			}
			defer server.Close()
			p.mu.Lock()
			p.conns[client], p.conns[server] = true, true
			toServer, toClient := p.draw(), p.draw()
			p.mu.Unlock()
			select {
			case <-p.closed:
				return
			default:
			}
			var both sync.WaitGroup
			both.Go(func() { p.pump(server.(*net.TCPConn), client.(*net.TCPConn), toServer) }) // each ends with its connections
			both.Go(func() { p.pump(client.(*net.TCPConn), server.(*net.TCPConn), toClient) })
			both.Wait()
		})
	}
}

// A fault is a fault of one direction of a connection.
type fault struct {
	kind  string        // "": none but the delay
	at    int           // after how many bytes
	stall time.Duration // before the rest
	delay time.Duration // of each piece
}

// draw draws a fault. The caller holds mu.
func (p *proxy) draw() (f fault) {
	r := p.random
	if r == nil {
		return f
	}
	most := near
	if r.IntN(8) == 0 {
		most = far
	}
	// Logarithmic: 10 to 100 bytes are as likely as a thousand to ten thousand.
	f.at = int(math.Exp(r.Float64()*math.Log(float64(most)))) - 1
	f.kind = []string{"reset", "half-close", "stall", ""}[r.IntN(4)]
	if f.stall = time.Duration(r.Int64N(int64(shortStall))); r.IntN(4) == 0 {
		f.stall = time.Duration(r.Int64N(int64(p.stall)))
	}
	if r.IntN(3) == 0 {
		f.delay = time.Duration(r.Int64N(int64(maxDelay)))
	}
	return f
}

// pump copies bytes in one direction until the end.
func (p *proxy) pump(to, from *net.TCPConn, f fault) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		piece := buf[:n]
		if !p.good() {
			p.wait(f.delay)
		}
		if f.kind != "" && f.at < n && !p.good() {
			_, _ = to.Write(piece[:f.at]) // an error comes again
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
				_, _ = io.Copy(io.Discard, from) // what comes is lost
				return
			}
			p.wait(f.stall)
			piece, f.kind = piece[f.at:], ""
		}
		f.at = max(0, f.at-n)
		if _, failed := to.Write(piece); failed != nil {
			from.Close() // nobody reads it, so its sender must stop, too
			return
		}
		if err != nil {
			_ = to.CloseWrite()
			return
		}
	}
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

// An agent is the demo agent, with a count of its messages and answers.
type agent struct {
	server *httptest.Server

	mu       sync.Mutex
	demo     *demo.Agent
	accepted map[string]int // by a message's ID, its text, and the call that it answers
}

func newAgent(t *testing.T) *agent {
	a := &agent{}
	a.renew()
	a.server = httptest.NewUnstartedServer(a)
	a.server.Config.ErrorLog = log.New(io.Discard, "", 0) // bad lines are no news
	a.server.Start()
	t.Cleanup(func() {
		a.demo.Close() // first, because it ends the streams
		a.server.Close()
	})
	return a
}

// renew replaces it by a new agent without memory: ten minutes of tasks would fill the
// memory.
func (a *agent) renew() {
	a.mu.Lock()
	old := a.demo
	a.demo, a.accepted = demo.New(&demo.Options{Version: "both"}), map[string]int{}
	a.mu.Unlock()
	if old != nil {
		old.Close()
	}
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	demo := a.demo
	a.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if message := gjson.GetBytes(body, "params.message"); message.Exists() {
		w = &accepting{w, func() { a.note(message) }}
	}
	demo.ServeHTTP(w, r)
}

func (a *agent) note(message gjson.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.accepted[message.Get("messageId").Str]++
	for _, path := range []string{"parts.#.text", "parts.#.data.tool_call_id"} {
		for _, v := range message.Get(path).Array() {
			a.accepted[v.Str]++
		}
	}
}

// times is how often a prompt was accepted; twice are what was more than once.
func (a *agent) times(prompt string) (n int, twice []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for what, n := range a.accepted {
		if n > 1 {
			twice = append(twice, what)
		}
	}
	return a.accepted[prompt], twice
}

// An accepting notes whether a stream answers a message, before its first byte is
// written.
type accepting struct {
	http.ResponseWriter
	accepted func()
}

func (a *accepting) WriteHeader(status int) {
	if strings.HasPrefix(a.Header().Get("Content-Type"), "text/event-stream") {
		a.accepted()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController, by which the demo flushes.
func (a *accepting) Unwrap() http.ResponseWriter { return a.ResponseWriter }
