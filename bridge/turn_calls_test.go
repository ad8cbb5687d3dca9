package bridge_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
)

// TestTurnCalls holds what a turn of n texts, of which each comes alone, asks the system for: how often
// the editor's pipe and the agent's connection are written and read, how many connections are made, and
// what is written to the disk. For a text there is one read, one write for the journal and one for the
// editor. What only the runtime does (waits and wake-ups) depends on luck, and is not counted.
func TestTurnCalls(t *testing.T) {
	for _, n := range []int{1, 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { countTurn(t, n) }) })
	}
}

func countTurn(t *testing.T, texts int) {
	script := &agent.Script{V1: true}
	for range 3 {
		steps := []*agent.Step{{Kind: agent.TaskEvent, State: agent.Working}}
		for i := range texts {
			steps = append(steps, &agent.Step{Kind: agent.ArtifactUpdate, Append: i > 0, Artifact: &agent.Artifact{ID: "a", Parts: agent.Text(fmt.Sprintf("text %d ", i))}})
		}
		script.Turns = append(script.Turns, &agent.Turn{Steps: append(steps, agent.Done(agent.Completed))})
	}
	fake := agent.New(script)
	defer fake.Close()
	listener, sever := pipenet.Serve(fake)
	defer sever()
	line := &cutLine{dial: listener.Dial, at: -1}
	network := &http.Transport{DialContext: line.DialContext}
	defer network.CloseIdleConnections()
	client := must.Get(transport.NewClient(agent.URL, &transport.ClientOptions{RoundTripper: network}))(t)
	defer client.Close()
	var stored atomic.Int64
	s := openStore(t, t.TempDir())
	s.Now = func() time.Time { // asked once for each record, and for each write to a journal
		stored.Add(1)
		return time.Now()
	}
	c, end := serve(t, &bridge.Options{Client: client, Store: s, Name: agent.URL})
	defer end()
	session := c.opens("")
	for i := range 3 {
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, i, session))
		if m := c.next(fmt.Sprint(i)); m.Get("result.stopReason").Str != "end_turn" {
			t.Fatal(m)
		}
		synctest.Wait()
		line.mu.Lock()
		got := fmt.Sprintf("connections %d, writes to the agent %d, reads %d, writes to the editor %d", line.dialled, line.writes, line.reads, c.writes.Swap(0))
		line.dialled, line.writes, line.reads = 0, 0, 0
		line.mu.Unlock()
		// The first turn makes the session. To the agent go a head and a body, at once. The response's
		// head, each event and the end are read; the editor gets each text and the answer.
		want := fmt.Sprintf("connections 0, writes to the agent 1, reads %d, writes to the editor %d", 4+texts, 1+texts)
		if i > 0 && got != want {
			t.Errorf("a turn of %d texts: %s; not: %s", texts, got, want)
		}
		// To the disk go the prompt, the task before its first words and the record behind them,
		// the texts, the end, and the record. What waits for the disk at one time is written together: the least is luck.
		if n := int(stored.Swap(0)); i > 0 && (n == 0 || n > 5+texts) {
			t.Errorf("a turn of %d texts: %d writes to the disk; at most %d", texts, n, 5+texts)
		}
	}
}
