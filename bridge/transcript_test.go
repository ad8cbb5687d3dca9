package bridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/transport"
)

var update = flag.Bool("update", false, "rewrite what the transcripts expect")

// TestTranscripts plays whole conversations: testdata/transcript/*.txt, in
// virtual time. A transcript is both wires in order. Inputs are
//
//	E> LINE        the editor writes a line; "E> EOF" ends its input; "E> KILL"
//	               kills the bridge and starts another one on the same store
//	A< EVENT       the agent sends an event (the JSON-RPC result) on its newest
//	               stream; "A< #2 …" on the stream of request 2
//	A< end         … ends the stream; "A< cut" breaks the connection
//	A< json BODY   … answers with JSON instead; "A< status 503 text/plain TEXT"
//	A< died TEXT   the agent's process ends, of which TEXT is what is known
//	T+ 250ms       time passes
//	card JSON      (at the top) the agent's card
//	commands JSON  (at the top) its answer to commands/get; without it there are none
//	options JSON   (at the top) the bridge's options
//	store          (at the top) sessions are stored
//	journal LINE   (at the top) a line of the session "old", whose beginning is not stored
//	process        (at the top) the agent is a process that was started for the bridge
//
// and what the bridge does must be, in between,
//
//	E< LINE        the editor reads a line
//	A> #N METHOD PARAMS   the agent gets request N
//	A> #N closed   the bridge closes the connection of request N
//	exit ERROR     the bridge has ended
//
// Lines that begin with # are comments. -update rewrites the expectations.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../testdata/transcript/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			synctest.Test(t, func(t *testing.T) { got = playTranscript(t, string(want)) })
			if got == string(want) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s: the conversation went differently (-update rewrites it):\n%s", file, diffLines(string(want), got))
		})
	}
}

// diffLines shows the first difference, with what led to it.
func diffLines(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; ; i++ {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b || i >= len(w) {
			return fmt.Sprintf("line %d\n want %s\n  got %s\n then %s", i+1, a, b, strings.Join(g[min(i+1, len(g)):min(i+6, len(g))], "\n      "))
		}
	}
}

const cwd = "/" // exists everywhere

func playTranscript(t *testing.T, script string) string {
	agent := newFakeAgent()
	options := bridge.Options{Version: "test", Workspace: cwd, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
	var n int
	var mu sync.Mutex
	options.NewID = func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprintf("id-%d", n) }

	storeDir := ""
	reach := &transport.ClientOptions{RoundTripper: agent, Poison: true}
	var out strings.Builder
	inputs := strings.SplitAfter(script, "\n")
	for len(inputs) > 0 {
		word, rest, _ := strings.Cut(strings.TrimSpace(inputs[0]), " ")
		switch {
		case word == "card":
			agent.card = rest
		case word == "commands":
			agent.commands = `"result":` + rest
		case word == "store":
			storeDir = t.TempDir()
			options.Store = openStore(t, storeDir)
		case word == "journal":
			addToJournal(t, options.Store, storeDir, rest)
		case word == "process":
			agent.process = &fakeProcess{done: make(chan struct{})}
			reach.Process = agent.process
		case word == "options":
			if err := json.Unmarshal([]byte(rest), &options); err != nil {
				t.Fatal(err)
			}
		case word == "" || strings.HasPrefix(word, "#"):
		default:
			word = "go"
		}
		if word == "go" {
			break
		}
		out.WriteString(inputs[0])
		inputs = inputs[1:]
	}

	client, err := transport.NewClient("http://agent.invalid/", reach)
	if err != nil {
		t.Fatal(err)
	}
	options.Client = client
	type lines struct {
		sync.Mutex
		got []string
	}
	var editor lines
	var editorIn *io.PipeWriter
	var editorOut *io.PipeReader
	var wg sync.WaitGroup
	ended := make(chan error, 1)
	start := func() {
		var toBridge *io.PipeReader
		var fromBridge *io.PipeWriter
		toBridge, editorIn = io.Pipe()
		editorOut, fromBridge = io.Pipe()
		wg.Go(func() {
			r := bufio.NewReader(editorOut)
			for {
				line, err := r.ReadString('\n')
				if line != "" {
					if !gjson.Valid(line) {
						t.Errorf("the bridge wrote a line that is not JSON: %q", line)
					}
					editor.Lock()
					editor.got = append(editor.got, "E< "+strings.TrimSuffix(line, "\n"))
					editor.Unlock()
				}
				if err != nil {
					return
				}
			}
		})
		wg.Go(func() {
			ended <- bridge.Serve(context.Background(), toBridge, fromBridge, &options)
			fromBridge.Close()
		})
	}
	start()
	exited := false
	settle := func() {
		synctest.Wait()
		for _, l := range agent.take() {
			out.WriteString(l + "\n")
		}
		editor.Lock()
		for _, l := range editor.got {
			out.WriteString(l + "\n")
		}
		editor.got = nil
		editor.Unlock()
		select {
		case err := <-ended:
			exited = true
			fmt.Fprintf(&out, "exit %v\n", err)
		default:
		}
	}
	for _, l := range inputs {
		text := strings.TrimSuffix(l, "\n")
		word, rest, _ := strings.Cut(text, " ")
		switch word {
		case "E<", "A>", "exit":
			continue // what is expected
		}
		out.WriteString(l)
		switch {
		case word == "E>" && rest == "EOF":
			editorIn.Close()
		case word == "E>" && rest == "KILL":
			// What a process has left behind when it is killed is what is on the
			// disk now: the next one gets a copy, and this one is ended unheard.
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(storeDir)); err != nil {
				t.Fatal(err)
			}
			storeDir, options.Store = dir, openStore(t, dir)
			editorIn.Close()
			if !exited {
				<-ended
			}
			synctest.Wait()
			agent.take()
			editor.Lock()
			editor.got = nil
			editor.Unlock()
			start()
		case word == "E>":
			go func() { // ends when the bridge has read the line, or with its input
				io.WriteString(editorIn, rest+"\n")
			}()
		case word == "A<":
			if err := agent.say(rest); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		case word == "T+":
			d, err := time.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		case text == "" || strings.HasPrefix(text, "#"):
		default:
			t.Fatalf("transcript: what is %q?", text)
		}
		settle()
	}
	editorIn.Close()
	agent.close()
	if !exited {
		<-ended
	}
	client.Close()
	editorOut.Close()
	wg.Wait()
	return out.String()
}

// addToJournal writes a line to the second generation of the journal of a session
// that has no first one.
func addToJournal(t *testing.T, store *bridge.Store, dir, line string) {
	journal, err := store.Journal("old")
	if err == nil {
		err = store.Put(bridge.Record{ID: "old", Cwd: cwd})
	}
	if err == nil {
		err = journal.Append([]byte(line + "\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
	journal.Close()
	first, err := filepath.Glob(filepath.Join(dir, "*", "*", "1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range first {
		if err := os.Rename(name, filepath.Join(filepath.Dir(name), "2.jsonl")); err != nil {
			t.Fatal(err)
		}
	}
}

func openStore(t *testing.T, dir string) *bridge.Store {
	store, err := bridge.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// fakeAgent is the agent's end as an [http.RoundTripper]: it answers what the
// transcript says.
type fakeAgent struct {
	mu       sync.Mutex
	card     string
	commands string // the rest of the answer to commands/get
	process  *fakeProcess
	requests []*exchange
	log      []string
}

// fakeProcess is a [transport.Process].
type fakeProcess struct {
	done chan struct{}
	err  error
}

func (p *fakeProcess) Done() <-chan struct{} { return p.done }
func (p *fakeProcess) Err() error            { return p.err }

type exchange struct {
	n         int
	id        json.RawMessage
	response  chan *http.Response
	answered  bool
	body      *io.PipeWriter
	finished  bool
	fakeAgent *fakeAgent
}

const defaultCard = `{"name":"fake","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true,"extensions":[{"uri":"https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"}]},"defaultInputModes":["text"]}`

func newFakeAgent() *fakeAgent {
	return &fakeAgent{card: defaultCard, commands: `"error":{"code":-32601,"message":"method not found"}`}
}

func (a *fakeAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return respond(r, 200, "application/json", io.NopCloser(strings.NewReader(a.card))), nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m := gjson.ParseBytes(body)
	var params bytes.Buffer
	if err := json.Compact(&params, []byte(m.Get("params").Raw)); err != nil {
		params.WriteString(m.Get("params").Raw)
	}
	if m.Get("method").Str == "commands/get" {
		return respond(r, 200, "application/json", io.NopCloser(strings.NewReader(
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.Get("id").Raw, a.commands)))), nil
	}
	a.mu.Lock()
	x := &exchange{n: len(a.requests) + 1, id: json.RawMessage(m.Get("id").Raw), response: make(chan *http.Response, 1), fakeAgent: a}
	a.requests = append(a.requests, x)
	a.log = append(a.log, fmt.Sprintf("A> #%d %s %s", x.n, m.Get("method").Str, params.String()))
	a.mu.Unlock()
	select {
	case resp := <-x.response:
		if resp == nil {
			return nil, errors.New("connection reset by peer")
		}
		resp.Request = r
		if body, ok := resp.Body.(pipeBody); ok {
			context.AfterFunc(r.Context(), func() {
				a.note(x, "closed")
				body.PipeReader.CloseWithError(r.Context().Err())
			})
		}
		return resp, nil
	case <-r.Context().Done():
		a.note(x, "closed")
		return nil, r.Context().Err()
	}
}

func (a *fakeAgent) note(x *exchange, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !x.finished {
		x.finished = true
		a.log = append(a.log, fmt.Sprintf("A> #%d %s", x.n, what))
	}
}

func respond(r *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r}
}

func (a *fakeAgent) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	log := a.log
	a.log = nil
	return log
}

// say does what an A< line says.
func (a *fakeAgent) say(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if text, ok := strings.CutPrefix(what, "died "); ok {
		a.process.err = errors.New(text)
		close(a.process.done)
		return nil
	}
	if len(a.requests) == 0 {
		return errors.New("the agent has had no request")
	}
	x := a.requests[len(a.requests)-1]
	if strings.HasPrefix(what, "#") {
		var n int
		number, rest, _ := strings.Cut(what, " ")
		if _, err := fmt.Sscanf(number, "#%d", &n); err != nil || n > len(a.requests) {
			return fmt.Errorf("no request %s", number)
		}
		x, what = a.requests[n-1], rest
	}
	verb, rest, _ := strings.Cut(what, " ")
	if x.answered && x.body == nil {
		return fmt.Errorf("request %d has had its answer", x.n)
	}
	switch verb {
	case "json":
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s`, x.id, strings.TrimPrefix(rest, "{"))
		x.answer(respond(nil, 200, "application/json", io.NopCloser(strings.NewReader(body))))
		return nil
	case "status":
		var status int
		f := strings.SplitN(rest, " ", 3)
		fmt.Sscan(f[0], &status)
		x.answer(respond(nil, status, f[1], io.NopCloser(strings.NewReader(f[2]))))
		return nil
	}
	if !x.answered && verb == "cut" {
		x.answer(nil)
		return nil
	}
	if x.body == nil {
		r, w := io.Pipe()
		x.body = w
		x.answer(respond(nil, 200, "text/event-stream", pipeBody{r, x}))
	}
	w := x.body
	switch verb {
	case "end":
		x.finished = true
		go w.Close()
	case "cut":
		x.finished = true
		go w.CloseWithError(io.ErrUnexpectedEOF)
	case "raw":
		go io.WriteString(w, rest+"\n\n")
	default:
		event := fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"result":%s}`+"\n\n", x.id, what)
		go io.WriteString(w, event) // ends when the bridge has read it, or has closed
	}
	return nil
}

func (x *exchange) answer(r *http.Response) {
	x.answered = true
	x.response <- r
}

// close ends every stream, at the end of a transcript.
func (a *fakeAgent) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, x := range a.requests {
		x.finished = true
		if x.body != nil {
			x.body.Close()
		} else if !x.answered {
			x.answered = true
			close(x.response)
		}
	}
}

type pipeBody struct {
	*io.PipeReader
	x *exchange
}

func (b pipeBody) Close() error {
	b.x.fakeAgent.note(b.x, "closed")
	return b.PipeReader.Close()
}
