package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// An agent is the server on loopback TCP that answers each message with its script. It
// writes below net/http: a baseline of half a million writes a second leaves no time
// for a response writer. The wire has the same bytes.
type agent struct {
	URL    string
	server *http.Server
	ready  chan struct{} // closed when each session's message has come

	mu     sync.Mutex
	script *script
	waits  int    // messages that must come before the first is answered
	said   string // the newest message, of a script with a task
	// start is when the first event was written, in Unix nanoseconds.
	start atomic.Int64
	// asked is when the newest message came, likewise.
	asked atomic.Int64
}

// newAgent starts an agent, which serves until close.
func newAgent() (*agent, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &agent{URL: "http://" + l.Addr().String() + "/"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/", a.card)
	mux.HandleFunc("POST /", a.message)
	a.server = &http.Server{Handler: mux}
	go func() { _ = a.server.Serve(l) }() // ends with close
	return a, nil
}

func (a *agent) close() { _ = a.server.Close() }

// play sets the answer to the next messages. It begins once as many messages as
// sessions have come.
func (a *agent) play(s *script, sessions int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.script, a.waits, a.ready = s, sessions, make(chan struct{})
	a.start.Store(0)
}

func (a *agent) card(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	card := a.script.card
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, card, a.URL)
}

func (a *agent) message(w http.ResponseWriter, r *http.Request) {
	a.asked.Store(time.Now().UnixNano())
	a.mu.Lock()
	held := a.script.task != nil
	a.mu.Unlock()
	if held {
		body, _ := io.ReadAll(r.Body)
		if a.look(w, gjson.ParseBytes(body)) {
			return
		}
	}
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	a.mu.Lock()
	s, ready := a.script, a.ready
	if a.waits--; a.waits == 0 {
		close(ready)
	}
	a.mu.Unlock()
	select {
	case <-ready:
	case <-r.Context().Done():
		return
	}
	_ = a.say(r.Context(), conn, s) // a client that has left is found missing elsewhere
}

// look answers a request that is no message with the script's task; false: it is one, which the task's
// history begins with.
func (a *agent) look(w http.ResponseWriter, request gjson.Result) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if message := request.Get("params.message"); message.Exists() {
		a.said = message.Raw
		return false
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.Get("id").Raw, a.script.task(a.said))
	return true
}

func (a *agent) say(ctx context.Context, conn net.Conn, s *script) error {
	out := bufio.NewWriter(conn)
	fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
	_, _ = out.Write(chunk(fmt.Appendf(nil, "data: %s\n\n", s.begin)))
	if err := out.Flush(); err != nil {
		return err
	}
	a.start.CompareAndSwap(0, time.Now().UnixNano())
	next := time.Now()
	for range s.rounds {
		for _, w := range s.ring {
			if s.pace > 0 {
				next = next.Add(s.pace)
				rest(time.Until(next))
			}
			if s.pace > 0 || s.fresh {
				stamp(w, time.Now())
			}
			if _, err := conn.Write(w); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if s.task == nil {
		_, _ = out.Write(chunk(fmt.Appendf(nil, "data: %s\n\n", s.end)))
	}
	_, _ = out.WriteString("0\r\n\r\n")
	return out.Flush()
}
