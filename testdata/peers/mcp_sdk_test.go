package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An mcpCaller is a client made with an official SDK, which calls our tools as a program would.
type mcpCaller interface {
	// call calls a tool, and returns its result. It ends with ctx, as when a user cancels.
	call(ctx context.Context, tool string, args object) (*mcp.CallToolResult, error)
	close()
}

// connectSDK starts a server, and connects a client in a version of MCP.
type connectSDK func(t *testing.T, version string, who *person, server *exec.Cmd) mcpCaller

// mcpSDKs are the official SDKs, with the versions of MCP that they speak.
var mcpSDKs = []struct {
	name     string
	connect  connectSDK
	versions []string
}{
	{"go-sdk 1.8.0", connectGo, []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}},
	{"typescript-sdk 1.32.2", connectTS("1"), []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}},
	{"typescript-client 2.4.0", connectTS("2"), []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}},
}

// bySDK has a conversation by a plot, and returns what the tools have answered.
func (s *mcpStory) bySDK(t *testing.T, p *mcpPlace, connect connectSDK, version string, next plot) (answers []string) {
	t.Helper()
	who := &person{action: s.action, choose: s.choose}
	c := connect(t, version, who, p.server())
	defer c.close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() { // ends with the plot
		defer close(ended)
		for st := next(nil); st.tool != ""; st = next(answers) {
			answers = append(answers, answerOf(c.call(ctx, st.tool, st.args)))
		}
	}()
	if s.interrupted {
		p.interrupt(t, cancel)
	}
	<-ended
	if asked := who.asked(); s.edit != "" && (len(asked) == 1 && strings.Contains(asked[0], "hello.txt")) != (s.action != "") {
		t.Errorf("a person was asked %q", asked)
	}
	return answers
}

// answerOf is the text of a result, or an error.
func answerOf(r *mcp.CallToolResult, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var all []string
	for _, content := range r.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

// A person answers elicitations.
type person struct {
	action string // "" if nobody can be asked
	choose string // what the option that is chosen begins with

	mu   sync.Mutex
	read []string
}

// asked are the messages and URLs that the person was asked with.
func (p *person) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read
}

// answers is what the person says to an elicitation.
func (p *person) answers(message, url string, schema any) (action string, content object) {
	p.mu.Lock()
	p.read = append(p.read, message+url)
	p.mu.Unlock()
	if p.action == "accept" && url != "" {
		go func() { // ends with the page, which is done when the sign-in is
			jar, _ := cookiejar.New(nil) // never fails
			if r, err := (&http.Client{Jar: jar}).Get(url); err == nil {
				r.Body.Close()
			}
		}()
	}
	if p.action != "accept" || url != "" {
		return p.action, nil
	}
	content = object{}
	properties, _ := schema.(object)["properties"].(object)
	for name, property := range properties {
		options, _ := property.(object)["enum"].([]any)
		content[name] = "blue" // to a question in prose
		for _, option := range options {
			if text, _ := option.(string); strings.HasPrefix(strings.ToLower(text), p.choose) {
				content[name] = text
				break
			}
		}
	}
	return p.action, content
}

// A goCaller is one with the Go SDK.
type goCaller struct{ session *mcp.ClientSession }

func connectGo(t *testing.T, version string, who *person, server *exec.Cmd) mcpCaller {
	t.Helper()
	options := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if who.action != "" {
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			action, content := who.answers(r.Params.Message, r.Params.URL, r.Params.RequestedSchema)
			return &mcp.ElicitResult{Action: action, Content: content}, nil
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "v1.8.0"}, options)
	session := mustGet(client.Connect(t.Context(), &mcp.CommandTransport{Command: server}, &mcp.ClientSessionOptions{ProtocolVersion: version}))(t)
	t.Cleanup(func() { _ = session.Close() }) // again, if it is closed
	equal(t, session.InitializeResult().ProtocolVersion, version)
	return &goCaller{session}
}

func (c *goCaller) call(ctx context.Context, tool string, args object) (*mcp.CallToolResult, error) {
	return c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
}

func (c *goCaller) close() { _ = c.session.Close() }

// A tsCaller is one with a TypeScript SDK: mcp/sdk.mjs, which does what it reads.
type tsCaller struct {
	*person
	t      *testing.T
	cmd    *exec.Cmd
	in     *json.Encoder
	stderr logged
	end    func()

	mu      sync.Mutex
	next    int
	waiting map[int]chan tsAnswer
}

type tsAnswer struct {
	ID     int
	Result json.RawMessage
	Error  string
	// Ask is an elicitation, and the number of its answer.
	Ask struct {
		Message, URL    string
		RequestedSchema any
	}
}

func connectTS(sdk string) connectSDK {
	return func(t *testing.T, version string, who *person, server *exec.Cmd) mcpCaller {
		t.Helper()
		needNode(t, 20)
		dir := installNPM(t, "mcp-1.32.2-2.4.0", filepath.Join("mcp", "package.json"))
		c := &tsCaller{person: who, t: t, waiting: map[int]chan tsAnswer{}}
		c.cmd = exec.Command("node", append([]string{filepath.Join("mcp", "sdk.mjs"), dir, sdk, version, who.action, server.Dir}, server.Args...)...)
		c.cmd.Env, c.cmd.Stderr = server.Env, &c.stderr
		stdin, stdout := startPiped(t, c.cmd)
		c.in = json.NewEncoder(stdin)
		done := make(chan struct{})
		go func() { // ends with the process
			defer close(done)
			lines := bufio.NewScanner(stdout)
			lines.Buffer(nil, 64<<20)
			for lines.Scan() {
				c.take(lines.Bytes())
			}
		}()
		c.end = sync.OnceFunc(func() {
			_ = stdin.Close()
			<-done
			_ = c.cmd.Wait()
		})
		t.Cleanup(c.end)
		return c
	}
}

func (c *tsCaller) take(line []byte) {
	var a tsAnswer
	if err := json.Unmarshal(line, &a); err != nil {
		c.t.Errorf("sdk.mjs: %s", line)
		return
	}
	if a.Ask.Message != "" {
		action, content := c.answers(a.Ask.Message, a.Ask.URL, a.Ask.RequestedSchema)
		answer := object{"action": action}
		if content != nil {
			answer["content"] = content
		}
		c.say(object{"answers": a.ID, "with": answer})
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.waiting[a.ID]; w != nil {
		delete(c.waiting, a.ID)
		w <- a
	}
}

func (c *tsCaller) say(v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.in.Encode(v) // it may have ended
}

func (c *tsCaller) call(ctx context.Context, tool string, args object) (*mcp.CallToolResult, error) {
	answer := make(chan tsAnswer, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = answer
	c.mu.Unlock()
	c.say(object{"id": id, "tool": tool, "args": args})
	select {
	case a := <-answer:
		if a.Error != "" {
			return nil, errors.New(a.Error)
		}
		var r mcp.CallToolResult
		return &r, json.Unmarshal(a.Result, &r)
	case <-ctx.Done():
		c.say(object{"cancel": id})
		return nil, ctx.Err()
	}
}

func (c *tsCaller) close() { c.end() }
