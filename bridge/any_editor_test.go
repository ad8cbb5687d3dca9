package bridge_test

import (
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
	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
)

// TestAnyEditor: an editor says anything, in any order, and answers what it is asked with
// anything, or not at all. Nothing panics. Each request has one answer, a notification none.
// What the editor gets is JSON-RPC. The bridge ends within a minute when its input ends.
func TestAnyEditor(t *testing.T) {
	for seed := range uint64(*anyAgents / 4) {
		seed += *firstAny
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			sessions := t.TempDir()
			synctest.Test(t, func(t *testing.T) { playAnyEditor(t, seed, sessions) })
		}) {
			return
		}
	}
}

func playAnyEditor(t *testing.T, seed uint64, sessions string) {
	e := &anyEditor{mcpClient: &mcpClient{T: t, lines: make(chan gjson.Result)}, chance: rand.New(rand.NewPCG(seed, 1)), owed: map[string]int{}, sessions: []string{"nobody"}}
	protocol := "acp"
	if e.speaksLines = e.chance.IntN(3) == 0; e.speaksLines {
		protocol = "a2a"
	}
	opts := &bridge.Options{Client: demoClient(t, "0.3"), Workspace: "/", Protocol: pick(e.chance, "auto", protocol), Store: openStore(t, sessions)}
	end := e.serve(opts, e.heard)
	if !e.speaksLines && e.chance.IntN(5) > 0 {
		hello := pick(e.chance, `{"protocolVersion":1,"clientCapabilities":{}}`, hello2)
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
		if n != 0 {
			t.Errorf("request %s has had %d answers", id, 1-n)
		}
	}
}

// demoClient is a client of the demo agent, in memory, that speaks a version of A2A.
func demoClient(t *testing.T, version string) *transport.Client {
	t.Helper()
	agent := demo.New(&demo.Options{})
	t.Cleanup(func() { agent.Close() })
	listener, end := pipenet.Serve(agent)
	t.Cleanup(func() { end() })
	network := &http.Transport{DialContext: listener.Dial}
	t.Cleanup(network.CloseIdleConnections)
	client := must.Get(transport.NewClient(demo.URL, &transport.ClientOptions{RoundTripper: network, Version: version}))(t)
	t.Cleanup(func() { client.Close() })
	return client
}

// hello2 asks for ACP's version 2.
const hello2 = `{"protocolVersion":2,"info":{"name":"any","version":"1"},"capabilities":{"elicitation":{"form":{}}}}`

// An anyEditor says what chance says.
type anyEditor struct {
	*mcpClient
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
	if m.Get("jsonrpc").Str != "2.0" {
		e.Errorf("the editor gets %q", m.Raw)
	}
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
		line = pick(e.chance, "", "{", "null", "[]", "7", `"x"`, `{"jsonrpc":"2.0"}`, `{"id":"junk"}`, `{"method":7}`, `[{"jsonrpc":"2.0","id":"junk","method":"x"}]`, "\x00", strings.Repeat("[", 3000), `{"jsonrpc":"2.0","id":{},"method":"x"}`)
	case what < 5 && len(e.asked) > 0:
		result := pick(e.chance, `"result":{"outcome":{"outcome":"selected","optionId":"proceed_once"}}`, `"result":{"outcome":{"outcome":"cancelled"}}`, `"error":{"code":-32601,"message":"no"}`,
			`"result":null`, `"result":{"outcome":7}`, `"result":{"outcome":{"outcome":"selected","optionId":"nonsense"}}`, `"result":{"action":"accept","content":{"answer":"red"}}`)
		line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, pick(e.chance, e.asked...), result)
	default:
		line = e.request()
	}
	e.mu.Unlock()
	e.write(line)
}

// request makes a request, or a notification. e.mu is held.
func (e *anyEditor) request() string {
	session, task := e.sessions[len(e.sessions)-1], "nothing"
	if e.chance.IntN(4) == 0 {
		session = pick(e.chance, e.sessions...)
	}
	if len(e.tasks) > 0 {
		task = pick(e.chance, e.tasks...)
	}
	text := pick(e.chance, "hello", "shell", "shell", "ask", "slow", "/help", "")
	prompt := fmt.Sprintf(`[{"type":"text","text":%q}]`, text)
	message := fmt.Sprintf(`{"message":{"messageId":"m%d","role":"user","parts":[{"kind":"text","text":%q}]}}`, e.n, text)
	method := pick(e.chance, "session/prompt", "session/prompt", "session/prompt", "session/prompt", "session/prompt", "session/new", "session/cancel", "session/load", "session/resume",
		"session/list", "session/set_mode", "session/set_config_option", "session/close", "session/delete", "authenticate", "logout", "auth/login", "auth/logout", "$/cancel_request", "initialize", "nonsense", "")
	if e.speaksLines != (e.chance.IntN(20) == 0) {
		method = pick(e.chance, "message/send", "message/stream", "message/stream", "message/stream", "message/stream", "toolCall/confirm", "tasks/resubscribe", "tasks/get", "tasks/list",
			"tasks/cancel", "command/execute", "commands/get", "agent/getCard", "bridge/status", "$/cancel_request", "tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/list")
	}
	params := pick(e.chance, `{"sessionId":"`+session+`"}`, `{"id":"`+task+`"}`, "null", "7", `{}`, `{"sessionId":7,"prompt":{}}`)
	if e.chance.IntN(5) > 0 {
		switch {
		case method == "initialize":
			params = pick(e.chance, `{"protocolVersion":1,"clientCapabilities":{}}`, `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}},"terminal":true}}`, `{"protocolVersion":"x"}`, `{"protocolVersion":99}`, hello2)
		case method == "session/new":
			params = pick(e.chance, `{"cwd":"/","mcpServers":[]}`, `{"cwd":"/","mcpServers":[]}`, `{"cwd":"/","mcpServers":[]}`, `{"cwd":"relative","mcpServers":[]}`, `{"cwd":"/","mcpServers":7}`)
		case method == "session/prompt":
			params = `{"sessionId":"` + session + `","prompt":` + prompt + `}`
		case method == "session/load" || method == "session/resume":
			params = `{"sessionId":"` + session + `","cwd":"/","mcpServers":[]` + pick(e.chance, "", `,"replayFrom":{"type":"start"}`, `,"replayFrom":{"type":"x"}`) + `}`
		case method == "session/set_mode":
			params = `{"sessionId":"` + session + `","modeId":"` + pick(e.chance, "default", "yolo", "accept-edits", "x") + `"}`
		case method == "$/cancel_request":
			params = fmt.Sprintf(`{"requestId":%d}`, e.chance.IntN(e.n+1))
		case strings.HasPrefix(method, "message/"):
			params = message
		case method == "toolCall/confirm":
			params = `{"taskId":"` + task + `","answers":[{"toolCallId":"x","optionId":"proceed_once"}]}`
		case method == "command/execute":
			params = `{"command":"x"}`
		}
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
