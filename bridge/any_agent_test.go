package bridge_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
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
// The generated conversations (internal/test/shapes) are of legal agents, and know what their users must see.
func TestAnyAgent(t *testing.T) {
	any := readAnything(t)
	for seed := range uint64(*anyAgents) {
		seed += *firstAny
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playAnyAgent(t, seed, any) })
		}) {
			return
		}
	}
}

func playAnyAgent(t *testing.T, seed uint64, any anything) {
	agent := &anyAgent{t: t, any: any, seed: seed, messages: map[string]bool{}, harmful: map[string]bool{}}
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
	any      anything
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
		return respondJSON(req, defaultCard), nil
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
		stream := respond(req, 200, "text/event-stream", "")
		stream.Body = &anyStream{agent: a, ctx: req.Context(), chance: chance, n: a.requests, over: slices.Contains([]string{"tasks/get", "GetTask"}, m.Get("method").Str)}
		return stream, nil
	case 0, 1:
		return a.json(req, `{"jsonrpc":"2.0","id":1,"result":`+a.says(chance, "$RESULT", false)+`}`), nil
	case 2:
		delete(a.messages, id)
		return a.json(req, `{"jsonrpc":"2.0","error":`+a.says(chance, "$ERROR", false)+`}`), nil
	case 3:
		delete(a.messages, id)
		return respond(req, pick(chance, 400, 404, 429, 500, 502, 503, 405, 204), "text/plain", "no"), nil
	case 4:
		return nil, io.ErrUnexpectedEOF
	}
}

func pick[T any](chance *rand.Rand, list ...T) T { return list[chance.IntN(len(list))] }

func (a *anyAgent) json(req *http.Request, body string) *http.Response {
	a.log("agent> %s", body)
	return respondJSON(req, body)
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
	frame := s.agent.says(s.chance, "$FRAME", s.n == s.agent.requests && !s.over)
	s.over = s.over || !strings.Contains(frame, `"result"`)
	for _, end := range []string{`"final":true`, `"completed"`, `"failed"`, `"rejected"`, `"result":{"kind":"message"`} {
		s.over = s.over || strings.Contains(frame, end)
	}
	return frame, nil
}

// Close implements [io.Closer].
func (s *anyStream) Close() error { return nil }

// says is anything that agents say. calls: it is certain to be read, so it may tell of the agent's only call,
// that is harmless or harmful.
func (a *anyAgent) says(chance *rand.Rand, what string, calls bool) string {
	task, how := pick(chance, "t1", "t1", "t1", "t2"), pick(chance, "harmless", "harmless", "harmful")
	said := a.any.say(chance, what, map[string]string{"$CALLER": task, "$HOW": how})
	if !strings.Contains(said, "tool_call_id") {
		return said
	} else if !calls {
		return a.says(chance, what, false)
	}
	a.harmful[task] = how == "harmful"
	return said
}

// anything is what testdata/any.txt has: the words of each name.
type anything map[string][]string

func readAnything(t *testing.T) anything {
	all, name := anything{}, ""
	for _, line := range dataLines(t, "any.txt") {
		if word, ok := strings.CutPrefix(line, "\t"); ok {
			all[name] = append(all[name], strings.ReplaceAll(word, `\n`, "\n"))
		} else {
			name = line
		}
	}
	return all
}

var anyName = regexp.MustCompile(`\$[A-Z]+`)

// say puts words in the place of names; known are those that do not come of chance.
func (all anything) say(chance *rand.Rand, what string, known map[string]string) string {
	return anyName.ReplaceAllStringFunc(what, func(name string) string {
		word, ok := known[name]
		switch {
		case ok:
			return word
		case name == "$NOTHING":
			return ""
		case name == "$ZERO":
			return "\x00"
		case name == "$DEEP":
			return strings.Repeat("[", 3000)
		}
		return all.say(chance, pick(chance, all[name]...), known)
	})
}
