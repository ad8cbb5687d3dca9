package bridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// A cutAgent is an A2A agent that always says the same, over a connection that is closed
// after a given number of bytes. It writes HTTP itself, so that the number counts status
// lines and chunk sizes, too. After the cut its task goes on, and keeps what its carrier
// says that it keeps.
//
// It speaks over [net.Pipe], where a write returns when it was read: what it has
// written, the bridge has got.
type cutAgent struct {
	version   string // 0.3 or 1.0
	behaviour behaviour
	carrier   carrier
	// legs are what it says after the prompt, and after the answer.
	// words are the chunks of text in it, in order.
	legs  [][]item
	words []string

	mu    sync.Mutex
	tasks map[string]*cutTask
	next  int // the budget of the next conversation
	last  *cutTask
	wg    sync.WaitGroup
	done  chan struct{}
}

const devtoolURI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

// carrier is how an agent says text, which decides what it holds of it.
type carrier string

const (
	// inArtifact: chunks are appended to an artifact, which the task keeps.
	inArtifact carrier = "artifact"
	// inHistory: each chunk is a status message of its own, and the task's
	// history keeps them (the SDKs' task stores).
	inHistory carrier = "history"
	// inStatus: the chunks of one text are status messages with one ID, and the
	// task holds the newest alone (Gemini's server).
	inStatus carrier = "status message"
)

// behaviour is what an agent answers to a subscription.
type behaviour string

const (
	// snapshotting: the task as it is, then later events. If the task is over, 0.3 sends
	// it and ends the stream, and 1.0 refuses.
	snapshotting behaviour = "snapshot"
	// echoing: the same, but the newest event comes again after the task, because these
	// servers attach the queue before they read the task (JS and Python).
	echoing behaviour = "echo"
	// liveOnly: later events only. A task that is over is not found (Go 0.3.15).
	liveOnly behaviour = "no snapshot"
	// refusing: an error; tasks/get works.
	refusing behaviour = "refused"
	// silent: the headers, and nothing ever (trpc, where the task is over).
	silent behaviour = "silent"
	// empty: the headers, and the end (Mastra).
	empty behaviour = "empty"
	// restarted: the agent was restarted at the cut, and does not know the task.
	restarted behaviour = "restarted"
)

// pace is the time between two events: two or three come during the wait before a
// subscription.
const pace = 400 * time.Millisecond

func newCutAgent(version string, b behaviour, c carrier) *cutAgent {
	a := &cutAgent{version: version, behaviour: b, carrier: c, tasks: map[string]*cutTask{}, done: make(chan struct{})}
	if c == recorded {
		a.legs, a.words = recording()
	} else {
		a.legs, a.words = story(c), storyWords()
	}
	return a
}

// dial is the agent's network.
func (a *cutAgent) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	a.wg.Go(func() { // ends with the connection, which the client closes
		defer server.Close()
		_ = a.serve(server)
	})
	return client, nil
}

// finish ends the stories, and the streams.
func (a *cutAgent) finish() { close(a.done) }

// close waits until the connections, which the client closes, have ended.
func (a *cutAgent) close() { a.wg.Wait() }

// takeFacts returns what is known of the newest conversation; nil: there was
// none.
func (a *cutAgent) takeFacts() *cutFacts {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.last
	if a.last = nil; t == nil {
		return nil
	}
	f := t.facts
	f.had = maps.Clone(f.had)
	return &f
}

var errCut = errors.New("the line is cut")

func (a *cutAgent) serve(conn net.Conn) error {
	r := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return err
		}
		if req.Method == http.MethodGet {
			err = answer(conn, a.card())
		} else {
			err = a.call(conn, gjson.ParseBytes(body))
		}
		if err != nil {
			return err
		}
	}
}

func answer(conn net.Conn, json string) error {
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(json), json)
	return err
}

func failure(code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, code, message)
}

func result(json string) string { return `{"jsonrpc":"2.0","id":1,"result":` + json + `}` }

func (a *cutAgent) card() string {
	if a.carrier == recorded {
		return geminiCard
	}
	if a.version == "1.0" {
		return `{"name":"cut","supportedInterfaces":[{"url":"http://agent.invalid/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true,"extensions":[{"uri":"` + devtoolURI + `"}]},"defaultInputModes":["text"]}`
	}
	return `{"name":"cut","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true,"extensions":[{"uri":"` + devtoolURI + `"}]},"defaultInputModes":["text"]}`
}

func (a *cutAgent) call(conn net.Conn, m gjson.Result) error {
	params := m.Get("params")
	a.mu.Lock()
	t := a.tasks[params.Get("id").Str]
	if id := params.Get("message.taskId").Str; id != "" {
		t = a.tasks[id]
	}
	if a.last != nil {
		a.last.facts.requests = append(a.last.facts.requests, m.Get("method").Str)
	}
	a.mu.Unlock()
	switch m.Get("method").Str {
	case "message/stream", "SendStreamingMessage":
		return a.send(conn, t, params)
	case "tasks/resubscribe", "SubscribeToTask":
		return a.subscribe(conn, t)
	case "tasks/get", "GetTask":
		if t == nil {
			return answer(conn, failure(-32001, "Task not found"))
		}
		// 0.3's SDK for JS leaves the history out unless it is told how much.
		task, had := t.snapshot(a.version == "1.0" || params.Get("historyLength").Int() > 0)
		err := answer(conn, result(task))
		a.mu.Lock()
		defer a.mu.Unlock()
		had()
		return err
	}
	return answer(conn, failure(-32601, "Method not found"))
}

// send begins the conversation, or goes on with it after the answer.
func (a *cutAgent) send(conn net.Conn, t *cutTask, params gjson.Result) error {
	id := params.Get("message.messageId").Str
	if params.Get("message.taskId").Exists() {
		a.mu.Lock()
		a.last.facts.sends[id]++
		if t != nil && a.carrier != recorded {
			t.heard = append(t.heard, id)
		}
		a.mu.Unlock()
		if t == nil {
			return answer(conn, failure(-32001, "Task not found"))
		}
		if !strings.Contains(params.Raw, "proceed_once") {
			return answer(conn, failure(-32602, "what is the answer?"))
		}
		<-t.quiet // so that the bytes of the two streams have an order
		s := t.attach(false)
		a.mu.Lock()
		t.asleep = false
		a.mu.Unlock()
		close(t.answered) // a second answer is a panic, and deserves it
		return a.stream(conn, t, s)
	}
	a.mu.Lock()
	t = &cutTask{agent: a, id: fmt.Sprintf("t%04d", len(a.tasks)), ctx: params.Get("message.contextId").Str, budget: a.next,
		state: "submitted", heard: []string{id}, answered: make(chan struct{}), quiet: make(chan struct{}),
		facts: cutFacts{had: map[string]bool{}, sends: map[string]int{id: 1}, requests: []string{"send"}}}
	a.tasks[t.id], a.last = t, t
	a.mu.Unlock()
	s := t.attach(true)
	a.wg.Go(t.tell) // ends with the story, or with the agent
	defer close(t.quiet)
	return a.stream(conn, t, s)
}

func (a *cutAgent) subscribe(conn net.Conn, t *cutTask) error {
	if t == nil {
		return a.refuse(conn, -32001, "Task not found")
	}
	a.mu.Lock()
	over, paused, newest := t.over, t.state == "input-required", t.newest
	a.mu.Unlock()
	switch a.behaviour {
	case refusing:
		return a.refuse(conn, -32004, "no subscriptions")
	case silent:
		if _, err := a.open(conn, nil); err != nil {
			return err
		}
		<-a.done
		return errCut
	case empty:
		return a.stream(conn, nil, nil)
	case liveOnly:
		if over || paused && a.version == "1.0" {
			return a.refuse(conn, -32001, "no active execution")
		}
		return a.stream(conn, nil, t.attach(false))
	}
	if over && a.version == "1.0" {
		return a.refuse(conn, -32004, "the task is over")
	}
	s := t.attach(true)
	if a.behaviour == echoing && newest != "" && !over && !paused {
		s.frames <- frame{newest, func() {}}
	}
	return a.stream(conn, nil, s)
}

// refuse: 0.3's SDK for JS reports errors in a stream, others in JSON.
func (a *cutAgent) refuse(conn net.Conn, code int, message string) error {
	if a.version == "1.0" {
		return answer(conn, failure(code, message))
	}
	body := "event: error\ndata: " + failure(code, message) + "\n\n"
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// open writes the head of a stream. 0.3 is chunked, where a cut is an error; 1.0
// lasts as long as its connection, where a cut looks like an end.
func (a *cutAgent) open(conn net.Conn, cut *cutTask) (bool, error) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	if a.version == "0.3" {
		head += "Transfer-Encoding: chunked\r\n"
	}
	return cut.write(conn, head+"\r\n")
}

// stream writes what a subscription brings; nil: nothing. It is cut where cut
// says; nil: nowhere.
func (a *cutAgent) stream(conn net.Conn, cut *cutTask, s *subscription) error {
	_, err := a.open(conn, cut)
	for s != nil && err == nil {
		var f frame
		more := false
		select {
		case f, more = <-s.frames:
		case <-a.done:
		}
		if !more {
			break
		}
		data := "data: " + result(f.json) + "\n\n"
		if a.version == "0.3" {
			data = fmt.Sprintf("%x\r\n%s", len(data), data)
		}
		var whole bool
		if whole, err = cut.write(conn, data); whole {
			a.mu.Lock()
			f.had()
			a.mu.Unlock()
		}
		if a.version == "0.3" && err == nil {
			_, err = cut.write(conn, "\r\n")
		}
	}
	if err == nil && a.version == "0.3" {
		_, err = cut.write(conn, "0\r\n\r\n")
		return err
	}
	return errors.Join(err, io.EOF) // which closes the connection
}
