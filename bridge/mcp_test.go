package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A running is a bridge that runs until its input ends.
type running struct {
	in     *io.PipeWriter
	ended  <-chan error
	writes atomic.Int64 // of the bridge
}

// run gives each line of the bridge to heard; closed is behind the last.
func (r *running) run(t *testing.T, opts *bridge.Options, heard func(line string), closed func()) {
	in, toBridge := io.Pipe()
	fromBridge, out := io.Pipe()
	ended := make(chan error, 1)
	r.in, r.ended = toBridge, ended
	go func() { // ends with the bridge
		defer closed()
		for lines := bufio.NewReader(fromBridge); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if !gjson.Valid(line) {
				t.Errorf("the bridge says %q", line)
			}
			heard(strings.TrimSuffix(line, "\n"))
		}
	}()
	go func() { // ends with its input
		ended <- bridge.Serve(context.Background(), in, writerFunc(func(b []byte) (int, error) {
			r.writes.Add(1)
			return out.Write(b)
		}), opts)
		out.Close()
	}()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// An mcpClient speaks with a bridge, MCP or another protocol, in virtual time.
type mcpClient struct {
	*testing.T
	running
	lines chan gjson.Result // closed when the bridge has ended
	calls int
}

// withMCP runs a client. elicitation is what it declares; "" is nothing.
func withMCP(t *testing.T, opts bridge.Options, elicitation string, run func(*mcpClient)) {
	sessions := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opts.Client, opts.Protocol, opts.Store = demoClient(t, "1.0"), bridge.ProtocolMCP, openStore(t, sessions)
		c, end := serve(t, &opts)
		defer end()
		c.write(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{` + elicitation + `}}}`)
		c.next("i")
		run(c)
	})
}

// serve runs a bridge for a client, until end is called.
func serve(t *testing.T, opts *bridge.Options) (c *mcpClient, end func()) {
	c = &mcpClient{T: t, lines: make(chan gjson.Result, 1000)}
	return c, c.serve(opts, func(m gjson.Result) { c.lines <- m })
}

// serve gives each line of the bridge to heard.
func (c *mcpClient) serve(opts *bridge.Options, heard func(gjson.Result)) (end func()) {
	c.run(c.T, opts, func(line string) { heard(gjson.Parse(line)) }, func() { close(c.lines) })
	return func() { // also behind a Fatal
		c.in.Close()
		if err := <-c.ended; err != nil {
			c.Error(err)
		}
		for range c.lines { // to its end
		}
	}
}

const asksForms = `"elicitation":{"form":{}}`

func (c *mcpClient) write(line string) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.Error(err)
	}
}

// opens initializes as an editor of ACP's version 1 that can do something, and opens a session.
func (c *mcpClient) opens(can string) (session string) {
	c.write(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{` + can + `}}}`)
	c.next("i")
	c.write(`{"jsonrpc":"2.0","id":"s","method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	return c.next("s").Get("result.sessionId").Str
}

// next returns the next answer, to a request; or, with "", the next request.
func (c *mcpClient) next(id string) gjson.Result {
	c.Helper()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case m, ok := <-c.lines:
			isRequest := m.Get("method").Exists() && m.Get("id").Exists()
			if ok && (id == "" && isRequest || id != "" && !isRequest && m.Get("id").String() == id) {
				return m
			}
			if id == "" && !isRequest && m.Get("id").Exists() {
				c.Fatalf("no question, but: %s", m)
			}
			if !ok {
				c.Fatalf("the bridge has ended before it has answered %s", id)
			}
		case <-timer.C:
			c.Fatalf("no answer to %s", id)
		}
	}
}

// call calls a tool, and returns the call's ID. more are further members of the parameters.
func (c *mcpClient) call(tool, arguments string, more ...string) string {
	c.calls++
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, c.calls, tool, arguments, strings.Join(more, "")))
	return fmt.Sprint(c.calls)
}

func textOfResult(m gjson.Result) string { return m.Get("result.content.0.text").Str }

// handleIn is the handle that a result names.
func handleIn(m gjson.Result) string {
	_, rest, _ := strings.Cut(textOfResult(m), "handle: ")
	handle, _, _ := strings.Cut(rest, "\n")
	return handle
}

// stateless are the members of a request of 2026-07-28.
const stateless = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}`

// TestMCPWrongAnswers: what is not an accept of an option that was offered allows nothing, in
// both ways to ask, and the model hears what would have run.
func TestMCPWrongAnswers(t *testing.T) {
	const right = `{"action":"accept","content":{"choice":"Allow once"}}`
	for _, answer := range append(dataLines(t, "mcp-answers.txt"), "error", right) {
		withMCP(t, bridge.Options{Workspace: os.TempDir()}, asksForms, func(c *mcpClient) {
			id := c.call("send_message", `{"text":"shell"}`)
			asked := c.next("").Get("id").Raw
			if answer == "error" {
				c.write(`{"jsonrpc":"2.0","id":` + asked + `,"error":{"code":-32000,"message":"Allow once","data":` + right + `}}`)
			} else {
				c.write(`{"jsonrpc":"2.0","id":` + asked + `,"result":` + answer + `}`)
			}
			judge(c, answer, answer == right, textOfResult(c.next(id)))
		})
		if answer == "error" {
			continue
		}
		withMCP(t, bridge.Options{Workspace: os.TempDir()}, "", func(c *mcpClient) {
			m := c.next(c.call("send_message", `{"text":"shell"}`, stateless)).Get("result")
			m = c.next(c.call("send_message", `{"text":"shell"}`, stateless, `,"requestState":`, m.Get("requestState").Raw, `,"inputResponses":{"question":`, answer, `}`))
			judge(c, answer, answer == right, textOfResult(m))
		})
	}
}

// dataLines are the lines of a file of testdata, but for comments.
func dataLines(t testing.TB, name string) []string {
	lines := strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile("../testdata/"+name))(t))), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" || line[0] == '#' })
}

func judge(c *mcpClient, answer string, allows bool, text string) {
	c.Helper()
	ran, told := strings.Contains(text, `ran: "echo one`), strings.Contains(text, `not allowed: "echo one`)
	if ran != allows || told == allows || ran == strings.Contains(text, "ran: nothing") {
		c.Errorf("%s: %s", answer, text)
	}
}

// TestMCPNoWorkspace: what holds the user's home is no workspace.
func TestMCPNoWorkspace(t *testing.T) {
	home := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(home, "a.txt"), nil, 0o600))
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, wide := range []string{"/", home, filepath.Dir(home)} {
		withMCP(t, bridge.Options{Workspace: wide}, "", func(c *mcpClient) {
			arguments := must.Get(json.Marshal(map[string]any{"text": "hello", "files": []any{map[string]string{"path": filepath.Join(home, "a.txt")}}}))(t)
			if text := textOfResult(c.next(c.call("send_message", string(arguments)))); !strings.Contains(text, "is no workspace") {
				t.Errorf("%s: %s", wide, text)
			}
		})
	}
}

// TestMCPAnyModel: a model calls any tool with any arguments, many at once, and its client
// cancels some, and answers no question with yes. Each call that is not cancelled has one answer,
// nothing panics, the bridge ends, and nothing has run.
func TestMCPAnyModel(t *testing.T) {
	any := readAnything(t)
	for seed := range uint64(*anyAgents / 20) {
		seed += *firstAny
		withMCP(t, bridge.Options{Workspace: t.TempDir()}, asksForms, func(c *mcpClient) {
			playAnyModel(c, any, rand.New(rand.NewPCG(seed, 3)))
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func playAnyModel(c *mcpClient, any anything, chance *rand.Rand) {
	handles := []string{}
	value := func() string {
		if len(handles) > 0 && chance.IntN(3) == 0 {
			return `"` + handles[chance.IntN(len(handles))] + `"`
		}
		return any.say(chance, "$VALUE", nil)
	}
	owed := map[string]bool{}
	for range 60 {
		switch chance.IntN(8) {
		case 0:
			time.Sleep(time.Duration(chance.IntN(60)) * time.Second)
		case 1:
			for id := range owed {
				c.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"` + pick(chance, "timed out", "") + `"}}`)
				delete(owed, id) // it may have been answered before
				break
			}
		default:
			tool := any.say(chance, "$TOOL", nil)
			var members []string
			for _, key := range []string{"agent", "text", "handle", "files", "artifact", "page", "mode", "approve", "url", "headers"} {
				if key == "text" || key == "handle" && tool != "send_message" || chance.IntN(6) == 0 {
					members = append(members, fmt.Sprintf("%q:%s", key, value()))
				}
			}
			more := pick(chance, "", "", stateless, stateless+`,"requestState":`+value()+`,"inputResponses":`+value())
			owed[c.call(tool, "{"+strings.Join(members, ",")+"}", more)] = true
		}
		synctest.Wait()
		for len(c.lines) > 0 {
			c.heard(<-c.lines, chance, owed, &handles)
		}
	}
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	for len(c.lines) > 0 {
		c.heard(<-c.lines, chance, owed, &handles)
	}
	if len(owed) > 0 {
		c.Errorf("no answer to %v", owed)
	}
}

// heard takes a line: an answer, or a question, which is answered in a wrong way or not at all.
func (c *mcpClient) heard(m gjson.Result, chance *rand.Rand, owed map[string]bool, handles *[]string) {
	id := m.Get("id").Raw
	if m.Get("method").Exists() {
		if id != "" && chance.IntN(3) > 0 {
			c.write(`{"jsonrpc":"2.0","id":` + id + `,"result":` + pick(chance, dataLines(c, "mcp-answers.txt")...) + `}`)
		}
		return
	}
	if m.Get("result").Exists() == m.Get("error").Exists() {
		c.Errorf("an answer with a result and an error, or neither: %s", m)
	}
	delete(owed, id)
	if text := textOfResult(m); strings.Contains(text, "ran: ") && !strings.Contains(text, "ran: nothing") {
		c.Errorf("something has run: %s", text)
	}
	if handle := handleIn(m); handle != "" {
		*handles = append(*handles, handle)
	}
}

// A cancel beside a wait is not lost.
func TestMCPWaitAndCancel(t *testing.T) {
	for range 30 {
		withMCP(t, bridge.Options{Workspace: os.TempDir()}, "", func(c *mcpClient) {
			h := handleIn(c.next(c.call("send_message", `{"text":"ask"}`)))
			c.call("wait_task", `{"handle":"`+h+`"}`)
			b := c.call("cancel_task", `{"handle":"`+h+`"}`)
			c.next(b)
			time.Sleep(time.Minute)
			end := textOfResult(c.next(c.call("wait_task", `{"handle":"`+h+`"}`)))
			must.Has(c, end, "state: canceled")
		})
	}
}

// A cancel at the moment of the result takes nothing away: what the result would have said, the
// next one says.
func TestMCPCancelAtResult(t *testing.T) {
	for range 30 {
		withMCP(t, bridge.Options{Workspace: os.TempDir(), AnswerWithin: 5 * time.Second}, "", func(c *mcpClient) {
			id, said := c.call("send_message", `{"text":"slow"}`), ""
			time.Sleep(5 * time.Second)
			c.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"timed out"}}`)
			synctest.Wait()
			for len(c.lines) > 0 {
				said += textOfResult(<-c.lines)
			}
			_, handle, _ := strings.Cut(textOfResult(c.next(c.call("list_agents", `{}`))), "under way: ")
			said += textOfResult(c.next(c.call("wait_task", `{"handle":"`+handle+`"}`)))
			must.Equal(c, strings.Count(said, "tick 3 of"), 1, "times it is said", said)
		})
	}
}
