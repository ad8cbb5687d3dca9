package bridge_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
)

var (
	anyAgents = flag.Int("agents", 300, "how many agents TestAnyAgent has")
	firstAny  = flag.Uint64("agent", 0, "the first of them")
)

// TestAnyAgent: an agent answers each request with anything, legal or not, and at last with
// nothing. Nothing panics. A turn ends within a minute when its user cancels. A message
// reaches the agent once, unless the answer refused it. The user allows a call only as it was
// first described: the agent never hears that another one is allowed. Editors get JSON.
//
// The generated conversations (internal/test/seeds) are of legal agents, and know what their users must see.
func TestAnyAgent(t *testing.T) {
	for seed := range uint64(*anyAgents) {
		seed += *firstAny
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playAnyAgent(t, seed) })
		}) {
			return
		}
	}
}

func playAnyAgent(t *testing.T, seed uint64) {
	agent := &anyAgent{t: t, seed: seed, messages: map[string]bool{}, harmful: map[string]bool{}}
	client := must.Get(transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: agent}))(t)
	defer client.Close()
	a := bridge.NewAgent(&bridge.Options{Client: client})
	defer a.Close()
	s, user := a.NewSession("/"), &carefulUser{t: t, agent: agent}
	for range 3 {
		const turnLimit, endLimit = 5 * time.Minute, time.Minute
		ctx, stop := context.WithTimeout(t.Context(), turnLimit)
		began := time.Now()
		_, err := s.Prompt(ctx, []acp.ContentBlock{{Type: "text", Text: "go"}}, user)
		agent.log("ended: %v", err)
		stop()
		if took := time.Since(began); took > turnLimit+endLimit {
			t.Errorf("the turn took %v", took)
		}
	}
}

// A carefulUser allows a call if it is described as harmless.
type carefulUser struct {
	t     *testing.T
	agent *anyAgent
	acp   spell.ACP
}

// Show implements [bridge.Editor].
func (u *carefulUser) Show(_ context.Context, steps []mapping.Step) error {
	for line := range strings.Lines(string(u.acp.Append(nil, steps))) {
		if !gjson.Valid(line) {
			u.t.Errorf("an editor gets %s", line)
		}
	}
	return nil
}

// Ask implements [bridge.Editor].
func (u *carefulUser) Ask(ctx context.Context, questions []mapping.Question) (answers []mapping.Answer, err error) {
	for _, q := range questions {
		u.agent.log("asked: %s, %s, %s", q.Call.Shown, q.Call.Description, q.Call.Status)
	}
	timer := time.NewTimer(1900 * time.Microsecond) // an odd time: nothing else happens then
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for _, q := range questions {
		option := "no"
		if q.Call.Description == "harmless" {
			option = "yes"
		}
		answers = append(answers, mapping.Answer{Call: q.Call, OptionID: option})
	}
	return answers, nil
}

// An anyAgent does what chance says.
type anyAgent struct {
	t        *testing.T
	mu       sync.Mutex
	seed     uint64
	requests uint64
	messages map[string]bool // that have come, and were not refused
	harmful  map[string]bool // how it has described the call of a task last
}

// log tells what happens, with -v.
func (a *anyAgent) log(format string, args ...any) {
	if testing.Verbose() && *anyAgents == 1 {
		a.t.Logf("%s "+format, append([]any{time.Now().Format("04:05.0000")}, args...)...)
	}
}

const maxAnyRequests = 30

// RoundTrip implements [http.RoundTripper].
func (a *anyAgent) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		return respond(req, 200, "application/json", io.NopCloser(strings.NewReader(defaultCard))), nil
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	m := gjson.ParseBytes(raw)
	if m.Get("method").Str == "commands/get" {
		return a.json(req, `{"error":{"code":-32601,"message":"no"}}`), nil
	}
	a.log("agent< %s", raw)
	a.mu.Lock()
	defer a.mu.Unlock()
	id := m.Get("params.message.messageId").Str
	if id != "" && a.messages[id] {
		a.t.Errorf("message %s comes again", id)
	}
	if a.harmful[m.Get("params.message.taskId").Str] && strings.Contains(m.Get("params").Raw, `"yes"`) {
		a.t.Errorf("allowed, though it is described as harmful now: %s", raw)
	}
	a.messages[id] = true
	a.requests++
	if a.requests > maxAnyRequests {
		return nil, errors.New("nobody there")
	}
	chance := rand.New(rand.NewPCG(a.seed, a.requests))
	switch chance.IntN(10) {
	default:
		// Some answer other methods with streams, too: nobody reads those.
		return respond(req, 200, "text/event-stream", &anyStream{agent: a, ctx: req.Context(), chance: chance, n: a.requests, over: m.Get("method").Str == "tasks/get"}), nil
	case 0, 1:
		return a.json(req, a.result(chance, false)), nil
	case 2:
		delete(a.messages, id)
		return a.json(req, fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":%d,"message":"no"}}`, pick(chance, -32001, -32601, -32603, -32002, -32004, 7))), nil
	case 3:
		delete(a.messages, id)
		return respond(req, pick(chance, 400, 404, 429, 500, 502, 503, 405, 204), "text/plain", io.NopCloser(strings.NewReader("no"))), nil
	case 4:
		return nil, io.ErrUnexpectedEOF
	}
}

func pick[T any](chance *rand.Rand, list ...T) T { return list[chance.IntN(len(list))] }

func (a *anyAgent) json(req *http.Request, body string) *http.Response {
	a.log("agent> %s", body)
	return respond(req, 200, "application/json", io.NopCloser(strings.NewReader(body)))
}

// An anyStream is an answer in events.
type anyStream struct {
	agent  *anyAgent
	ctx    context.Context
	chance *rand.Rand
	n      uint64 // the number of its request
	left   string
	over   bool // what follows need not be read
}

// Read implements [io.Reader].
func (s *anyStream) Read(b []byte) (int, error) {
	if s.left == "" {
		var err error
		s.left, err = s.next()
		s.agent.log("agent> %s%v", s.left, err)
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, s.left)
	s.left = s.left[n:]
	return n, nil
}

// next is what comes next: an event, mostly in a millisecond, or an end.
func (s *anyStream) next() (string, error) {
	wait := time.Millisecond
	switch s.chance.IntN(40) {
	case 0:
		wait = time.Hour
	case 1, 2:
		wait = time.Minute
	case 3, 4, 5:
		return "", io.EOF
	case 6, 7:
		return "", io.ErrUnexpectedEOF
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
		return "", s.ctx.Err()
	}
	s.agent.mu.Lock()
	defer s.agent.mu.Unlock()
	switch s.chance.IntN(16) {
	case 0:
		s.over = true
		return pick(s.chance, ": alive\n\n", "data:\n\n", "event: error\ndata: no\n\n", "data: {\n\n", "data: "+strings.Repeat("[", 2000)+"\n\n",
			"data: {}\ndata: {}\n\n", "id: 1\nretry: 5\n\n", "data: null\n\n"), nil
	case 1:
		s.over = true
		return `data: {"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}` + "\n\n", nil
	}
	result := s.agent.result(s.chance, s.n == s.agent.requests && !s.over)
	for _, end := range []string{`"final":true`, `"completed"`, `"failed"`, `"rejected"`, `"result":{"kind":"message"`} {
		s.over = s.over || strings.Contains(result, end)
	}
	return "data: " + result + "\n\n", nil
}

// Close implements [io.Closer].
func (s *anyStream) Close() error { return nil }

// result is an event, or a task. calls: it is certain to be read.
func (a *anyAgent) result(chance *rand.Rand, calls bool) string {
	task := pick(chance, "t1", "t1", "t1", "t2")
	state := pick(chance, "working", "working", "input-required", "completed", "failed", "submitted", "rejected", "nonsense")
	text := pick(chance, "ha", "haha", "yo", "ha yo", "", "haha yo ha", "a", "\\u001b[2J")
	message := fmt.Sprintf(`{"kind":"message","role":"agent","messageId":"m%d","parts":[{"kind":"text","text":"%s"}]}`, chance.IntN(3), text)
	artifact := fmt.Sprintf(`{"artifactId":"a%d","parts":[{"kind":"text","text":"%s"}]}`, chance.IntN(2), text)
	result := ""
	switch chance.IntN(16) {
	case 0, 1:
		result = fmt.Sprintf(`{"kind":"status-update","taskId":"%s","contextId":"c","status":{"state":"working","message":%s},"final":false}`, task, message)
	case 2:
		result = fmt.Sprintf(`{"kind":"status-update","taskId":"%s","contextId":"c","status":{"state":"%s"},"final":%t}`, task, state, chance.IntN(2) > 0)
	case 3, 4:
		result = fmt.Sprintf(`{"kind":"artifact-update","taskId":"%s","artifact":%s,"append":%t,"lastChunk":%t}`, task, artifact, chance.IntN(3) > 0, chance.IntN(3) > 1)
	case 5, 6:
		result = fmt.Sprintf(`{"kind":"task","id":"%s","contextId":"c","status":{"state":"%s","message":%s},"artifacts":[%s],"history":[%[3]s]}`, task, state, message, artifact)
	case 7:
		result = fmt.Sprintf(`{"kind":"task","id":"%s","contextId":"c","status":{"state":"%s"}}`, task, state)
	case 8:
		result = message
	case 9, 10, 11, 12:
		if !calls {
			return a.result(chance, false)
		}
		result = a.call(chance, task)
	default:
		result = pick(chance, "null", "{}", "[]", `"x"`, "7", `{"kind":"task"}`, `{"kind":"status-update","status":7}`, `{"kind":"artifact-update","taskId":"t1"}`,
			`{"kind":7,"parts":{}}`, `{"kind":"message","parts":[null,{},{"kind":"data"}]}`, `{"kind":"task","id":"t1","history":7,"artifacts":{"a":1}}`, `{"status":{"state":[]}}`,
			`{"kind":"task","id":"","status":{"state":"completed"}}`, `{"kind":"message","messageId":"m0"}`, `true`, `{"kind":"file"}`)
	}
	return `{"jsonrpc":"2.0","id":1,"result":` + result + `}`
}

// call tells of the agent's only call, that is harmless or harmful.
func (a *anyAgent) call(chance *rand.Rand, task string) string {
	how := pick(chance, "harmless", "harmless", "harmful")
	a.harmful[task] = how == "harmful"
	call := pick(chance, `"status":"PENDING","confirmation_request":{"options":[{"id":"yes","name":"Allow"},{"id":"no","name":"Reject"}],"generic_details":{"description":"?"}}`,
		`"status":"PENDING","confirmation_request":{"options":[{"id":"yes","name":"Allow"},{"id":"no","name":"Reject"}],"generic_details":{"description":"?"}}`,
		`"status":"EXECUTING"`, `"status":"SUCCEEDED","output":{"text":"x"}`, `"status":"CANCELLED"`)
	return fmt.Sprintf(`{"kind":"status-update","taskId":"%s","contextId":"c","status":{"state":"%s","message":{"kind":"message","role":"agent","messageId":"k%d",`+
		`"parts":[{"kind":"data","data":{"tool_call_id":"one","tool_name":"db","description":"%s",%s}}]}},"final":false}`, task, pick(chance, "working", "input-required"), chance.IntN(4), how, call)
}
