package bridge_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
)

// turnCalls counts what a turn asks the system for: how often the editor's pipe and the
// agent's connection are written and read, how many connections are made, and what is
// written to the disk. What only the runtime does (waits and wake-ups) depends on luck,
// and is not counted.
type turnCalls struct{ dialled, sent, received, shown, stored atomic.Int64 }

func (c *turnCalls) take() (calls string, stored int) {
	return fmt.Sprintf("connections %d, writes to the agent %d, reads %d, writes to the editor %d",
		c.dialled.Swap(0), c.sent.Swap(0), c.received.Swap(0), c.shown.Swap(0)), int(c.stored.Swap(0))
}

// A countedConn is the bridge's end of a connection.
type countedConn struct {
	net.Conn
	calls *turnCalls
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.calls.sent.Add(1)
	return c.Conn.Write(b)
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.calls.received.Add(1)
	}
	return n, err
}

// TestTurnCalls holds what a turn of n texts, of which each comes alone, costs in calls:
// none is for a text but one read, one write for the journal and one for the editor.
func TestTurnCalls(t *testing.T) {
	for _, n := range []int{1, 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { countTurn(t, n) }) })
	}
}

func countTurn(t *testing.T, texts int) {
	calls := new(turnCalls)
	script := &agent.Script{V1: true}
	for range 3 {
		steps := []*agent.Step{{Kind: agent.TaskEvent, State: agent.Working}}
		for i := range texts {
			steps = append(steps, &agent.Step{Kind: agent.ArtifactUpdate, Append: i > 0, Artifact: &agent.Artifact{ID: "a", Parts: agent.Text(fmt.Sprintf("text %d ", i))}})
		}
		script.Turns = append(script.Turns, &agent.Turn{Steps: append(steps, agent.Done(agent.Completed))})
	}
	fake := agent.New(script)
	listener := pipenet.Listen()
	server := &http.Server{Handler: fake}
	go server.Serve(listener) // ends with the server
	rt := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		calls.dialled.Add(1)
		conn, err := listener.Dial(ctx, network, addr)
		return &countedConn{conn, calls}, err
	}}
	client := must.Get(transport.NewClient(agent.URL, &transport.ClientOptions{RoundTripper: rt}))(t)
	s := must.Get(store.Open(t.TempDir()))(t)
	s.Now = func() time.Time { // asked once for each record, and for each write to a journal
		calls.stored.Add(1)
		return time.Now()
	}
	in, editor := io.Pipe()
	shown, out := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends with its input
		done <- bridge.Serve(t.Context(), in, writerFunc(func(b []byte) (int, error) {
			calls.shown.Add(1)
			return out.Write(b)
		}), &bridge.Options{Client: client, Store: s, Name: agent.URL})
	}()
	lines := bufio.NewScanner(shown)
	ask := func(id int, method, params string) gjson.Result {
		_, _ = fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for lines.Scan() {
			if r := gjson.ParseBytes(lines.Bytes()); r.Get("id").Int() == int64(id) {
				return r.Get("result")
			}
		}
		t.Fatal(lines.Err())
		return gjson.Result{}
	}
	ask(1, "initialize", `{"protocolVersion":1}`)
	id := ask(2, "session/new", `{"cwd":"/","mcpServers":[]}`).Get("sessionId").Str
	prompt := fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}`, id)
	for i := range 3 {
		if got := ask(3+i, "session/prompt", prompt).Get("stopReason").Str; got != "end_turn" {
			t.Fatal(got)
		}
		synctest.Wait()
		got, stored := calls.take()
		// The first turn makes the session. To the agent go a head and a body. The response's
		// head, each event and the end are read; the editor gets each text and the answer.
		want := fmt.Sprintf("connections 0, writes to the agent 2, reads %d, writes to the editor %d", 4+texts, 1+texts)
		if i > 0 && got != want {
			t.Errorf("a turn of %d texts: %s; not: %s", texts, got, want)
		}
		// To the disk go the prompt, the task before its first words and the record behind them,
		// the texts, some of them together, the end, and the record.
		if i > 0 && (stored < 5 || stored > 5+texts) {
			t.Errorf("a turn of %d texts: %d writes to the disk; at most %d", texts, stored, 5+texts)
		}
	}
	editor.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	client.Close()
	rt.CloseIdleConnections()
	server.Close()
	fake.Close()
	s.Wait()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
