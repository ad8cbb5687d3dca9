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
