package soak

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/demo"
)

// An agent is the demo agent, with a count of its messages and answers.
type agent struct {
	server *httptest.Server

	mu       sync.Mutex
	demo     *demo.Agent
	messages map[string]int // by message ID: how often it was accepted
	prompts  map[string]int // by text
	answers  map[string]int // by call
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

func (a *agent) address() string { return a.server.Listener.Addr().String() }

// renew replaces it by a new agent without memory: ten minutes of tasks would fill the
// memory.
func (a *agent) renew() {
	a.mu.Lock()
	old := a.demo
	a.demo = demo.New(&demo.Options{Version: "both"})
	a.messages, a.prompts, a.answers = map[string]int{}, map[string]int{}, map[string]int{}
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
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		demo.ServeHTTP(w, r)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	message := gjson.GetBytes(body, "params.message")
	if !message.Exists() {
		demo.ServeHTTP(w, r)
		return
	}
	demo.ServeHTTP(&accepting{ResponseWriter: w, accepted: func() { a.note(message) }}, r)
}

func (a *agent) note(message gjson.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.messages[message.Get("messageId").Str]++
	for _, part := range message.Get("parts").Array() {
		if text := part.Get("text").Str; text != "" {
			a.prompts[text]++
		}
		if call := part.Get("data.tool_call_id").Str; call != "" {
			a.answers[call]++
		}
	}
}

// twice names what was accepted more than once.
func (a *agent) twice() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, tally := range []map[string]int{a.messages, a.prompts, a.answers} {
		for what, n := range tally {
			if n > 1 {
				all = append(all, what)
			}
		}
	}
	return all
}

func (a *agent) accepted(prompt string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prompts[prompt]
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

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
