package peers

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A gateway stands before an agent, also in its card, and answers one method with
// status 503. Each of its connections has its own to the agent, which is closed with it
// and not before: agents tie work to connections.
type gateway struct {
	url     string
	agent   string
	refuse  string
	refused atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
}

func startGateway(t *testing.T, agentURL, method string) *gateway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{url: "http://" + l.Addr().String(), agent: strings.TrimPrefix(agentURL, "http://"), refuse: method}
	var wg sync.WaitGroup
	wg.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { g.serve(conn) }) // ends with the connection
		}
	})
	t.Cleanup(func() {
		l.Close()
		g.mu.Lock()
		for _, c := range g.conns {
			c.Close()
		}
		g.mu.Unlock()
		wg.Wait()
	})
	return g
}

func (g *gateway) refusals() int64 { return g.refused.Load() }

func (g *gateway) serve(client net.Conn) {
	defer client.Close()
	agent, err := net.Dial("tcp", g.agent)
	if err != nil {
		return
	}
	defer agent.Close()
	g.mu.Lock()
	g.conns = append(g.conns, client, agent)
	g.mu.Unlock()
	go func() { // ends when the agent closes, or this connection has
		_, _ = io.Copy(client, agent)
		client.Close()
	}()
	r := bufio.NewReader(client)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if req.Method == http.MethodGet {
			if g.card(client) != nil {
				return
			}
			continue
		}
		if bytes.Contains(body, []byte(`"`+g.refuse+`"`)) {
			g.refused.Add(1)
			if _, err := io.WriteString(client, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"); err != nil {
				return
			}
			continue
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if req.Write(agent) != nil {
			return
		}
	}
}

// card answers with the agent's card, which names the gateway.
func (g *gateway) card(client net.Conn) error {
	r, err := http.Get("http://" + g.agent + "/.well-known/agent-card.json")
	if err != nil {
		return err
	}
	defer r.Body.Close()
	card, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	card = bytes.ReplaceAll(card, []byte("http://"+g.agent), []byte(g.url))
	_, err = fmt.Fprintf(client, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(card), card)
	return err
}
