package bridge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestAnyEditor: an editor says anything, in any order, and answers what it is asked with
// anything, or not at all. Nothing panics. Each request has one answer, a notification none.
// What the editor gets is JSON-RPC. The bridge ends within a minute when its input ends.
func TestAnyEditor(t *testing.T) {
	any := readAnything(t)
	for seed := range uint64(*anyAgents / 4) {
		seed += *firstAny
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			sessions := t.TempDir()
			synctest.Test(t, func(t *testing.T) { playAnyEditor(t, seed, any, sessions) })
		}) {
			return
		}
	}
}

func playAnyEditor(t *testing.T, seed uint64, any anything, sessions string) {
	e := &anyEditor{any: any, mcpClient: &mcpClient{T: t, lines: make(chan gjson.Result)}, chance: rand.New(rand.NewPCG(seed, 1)), owed: map[string]int{}, sessions: []string{"nobody"}}
	protocol := "acp"
	if e.speaksLines = e.chance.IntN(3) == 0; e.speaksLines {
		protocol = "a2a"
	}
	opts := &bridge.Options{Client: demoClient(t, "0.3"), Workspace: "/", Protocol: pick(e.chance, "auto", protocol), Store: openStore(t, sessions)}
	end := e.serve(opts, e.heard)
	if !e.speaksLines && e.chance.IntN(5) > 0 {
		hello := any.say(e.chance, "$GREETING", nil)
		for _, begin := range []string{`"initialize","params":` + hello, `"session/new","params":{"cwd":"/","mcpServers":[]}`} {
			e.write(`{"jsonrpc":"2.0","id":"junk","method":` + begin + `}`)
			synctest.Wait()
		}
	}
	for range 3 + e.chance.IntN(25) {
		e.say()
	}
	began := time.Now()
	if end(); time.Since(began) > time.Minute {
		t.Error("the bridge goes on, though its input has ended")
	}
	for id, n := range e.owed {
		must.Equal(t, n, 0, "answers are owed to request", id)
	}
}

// demoClient is a client of the demo agent, in memory, that speaks a version of A2A.
func demoClient(t *testing.T, version string) *transport.Client {
	t.Helper()
	agent := demo.New(&demo.Options{})
	t.Cleanup(func() { agent.Close() })
	return clientOf(t, agent, &transport.ClientOptions{Version: version})
}

// clientOf is a client of an agent in memory.
func clientOf(t *testing.T, handler http.Handler, opts *transport.ClientOptions) *transport.Client {
	t.Helper()
	network := &memnet.Network{Handler: handler}
	t.Cleanup(network.Sever)
	opts.RoundTripper = network
	client := must.Get(transport.NewClient(agent.URL, opts))(t)
	t.Cleanup(func() { client.Close() })
	return client
}

// An anyEditor says what chance says.
type anyEditor struct {
	*mcpClient
	any         anything
	chance      *rand.Rand
	n           int
	speaksLines bool // A2A lines, mostly

	mu       sync.Mutex
	owed     map[string]int // answers to requests, by their IDs
	sessions []string
	tasks    []string
	asked    []string // IDs of the bridge's requests
}

// heard takes a line of the bridge's.
func (e *anyEditor) heard(m gjson.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	must.Equal(e, m.Get("jsonrpc").Str, "2.0", "the editor gets", m.Raw)
	if id := m.Get("result.sessionId").Str; id != "" {
		e.sessions = append(e.sessions, id)
	}
	if id := m.Get("params.event.taskId").Str; id != "" {
		e.tasks = append(e.tasks, id)
	}
	switch id := m.Get("id"); {
	case m.Get("method").Exists() && id.Exists():
		e.asked = append(e.asked, id.Raw)
	case m.Get("method").Exists() || id.Type == gjson.Null || id.Str == "junk":
	default:
		e.owed[id.Raw]--
	}
}

// say is one thing that the editor does.
func (e *anyEditor) say() {
	timer := time.NewTimer(pick(e.chance, 0, time.Microsecond, 300*time.Millisecond, 300*time.Millisecond, 3*time.Second))
	<-timer.C
	synctest.Wait()
	e.mu.Lock()
	line := ""
	switch what := e.chance.IntN(12); {
	case what == 0:
		line = e.any.say(e.chance, "$ODDLINE", nil)
	case what < 5 && len(e.asked) > 0:
		line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, pick(e.chance, e.asked...), e.any.say(e.chance, "$ANSWER", nil))
	default:
		line = e.request()
	}
	e.mu.Unlock()
	e.write(line)
}

// request makes a request, or a notification. e.mu is held.
func (e *anyEditor) request() string {
	known := map[string]string{"$SESSION": e.sessions[len(e.sessions)-1], "$KNOWN": "nothing", "$N": fmt.Sprint(e.n), "$OLD": fmt.Sprint(e.chance.IntN(e.n + 1))}
	if e.chance.IntN(4) == 0 {
		known["$SESSION"] = pick(e.chance, e.sessions...)
	}
	if len(e.tasks) > 0 {
		known["$KNOWN"] = pick(e.chance, e.tasks...)
	}
	protocol := "$ACP"
	if e.speaksLines != (e.chance.IntN(20) == 0) {
		protocol = "$LINES"
	}
	method, params, _ := strings.Cut(e.any.say(e.chance, protocol, known), " ")
	if e.chance.IntN(5) == 0 {
		params = e.any.say(e.chance, "$ANY", known)
	}
	e.n++
	head := `{"jsonrpc":"2.0",`
	if e.chance.IntN(8) > 0 && method != "session/cancel" && method != "$/cancel_request" {
		id := pick(e.chance, fmt.Sprint(e.n), fmt.Sprint(e.n), fmt.Sprintf(`"s%d"`, e.n))
		e.owed[id]++
		head += `"id":` + id + `,`
	}
	return head + `"method":"` + method + `","params":` + params + `}`
}

// lookedFor runs a bridge whose agent is looked for until found is closed.
func lookedFor(t *testing.T, protocol string) (c *mcpClient, found chan struct{}, end func()) {
	client, found := demoClient(t, "0.3"), make(chan struct{})
	c, end = serve(t, &bridge.Options{Protocol: protocol, Setup: func(context.Context) (*bridge.Options, error) {
		<-found
		return &bridge.Options{Client: client}, nil
	}})
	return c, found, end
}

// Requests are refused while an agent is looked for, whose options take the place of the ones before.
func TestRefusedMeanwhile(t *testing.T) {
	c, found, end := lookedFor(t, "")
	defer end()
	c.write(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	c.next("i")
	c.write(`{"jsonrpc":"2.0","id":"s","method":"authenticate","params":{"methodId":"stored"}}`)
	for i := range 200 {
		if i == 10 {
			close(found)
		}
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x/y"}`, i))
	}
	if m := c.next("199"); m.Get("error.code").Int() != acp.CodeMethodNotFound {
		t.Errorf("%s", m)
	}
}

// A prompt and its cancel wait for an agent that is looked for, and stay in their order.
func TestOrderMeanwhile(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			c, found, end := lookedFor(t, bridge.ProtocolA2A)
			defer end()
			time.AfterFunc(time.Second, func() { close(found) })
			c.write(`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"slow"}}`)
			c.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
			c.write(`{"jsonrpc":"2.0","method":"$/nothing"}`)
			if m := c.next("1"); m.Get("result.state").Str != string(a2a.StateCanceled) {
				t.Errorf("%s", m)
			}
		})
	}
}

// What the editor has announced first stays, also for its companion.
func TestInitializeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var editor bridge.CompanionEditor
		companion := func(e bridge.CompanionEditor, _ bridge.CompanionInfo) (bridge.Companion, error) {
			editor = e
			return fakeCompanion{"/"}, nil
		}
		c, end := serve(t, &bridge.Options{Client: demoClient(t, "0.3"), Companion: companion})
		defer end()
		c.opens(`"_meta":{"a2astdio":{"companion":{}}}`)
		c.write(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":1}}`)
		c.next("3")
		must.Do(t, editor.Notify(t.Context(), "ide/diffShown", struct{}{}))
	})
}
