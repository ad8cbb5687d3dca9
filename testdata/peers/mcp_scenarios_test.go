package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An mcpPlace is where a client runs: a home with our configuration, and a workspace.
type mcpPlace struct {
	home, work string
	guarded    *guarded
	model      string        // the URL of the scripted model
	limit      time.Duration // of a call of a tool; 0: the client's own
	person     bool          // one is there, at a terminal
	terminal   bool          // it runs in one, with nobody to ask
}

// mcpAgents are the URLs of the demo, and of an agent made with the A2A project's SDK.
type mcpAgents struct{ demo, sdk string }

func startMCPAgents(t *testing.T) mcpAgents { return mcpAgents{listen(t), sdkServer(t, goV2)} }

// place configures three agents: the two, and the demo behind a sign-in. more is of the
// configuration.
func (a mcpAgents) place(t *testing.T, more ...string) *mcpPlace {
	t.Helper()
	p := &mcpPlace{home: t.TempDir(), work: t.TempDir(), guarded: startGuarded(t, a.demo)}
	write(t, p.path(".config", "a2astdio", "a2astdio.toml"), fmt.Sprintf(`agent = "demo-agent"
trace = %q
%s
[agents.demo-agent]
url = %q
[agents.sdk-agent]
url = %q
[agents.guarded-agent]
url = %q
oauth-client-id = "peers"
oauth-issuer = %q
`, p.path("trace-{pid}.jsonl"), strings.Join(more, "\n"), a.demo, a.sdk, p.guarded.url, p.guarded.url))
	write(t, filepath.Join(p.work, "note.txt"), "a note\n")
	return p
}

func (p *mcpPlace) path(names ...string) string {
	return filepath.Join(append([]string{p.home}, names...)...)
}

// server is the command of our server, in the place.
func (p *mcpPlace) server(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, append(args, "mcp")...)
	cmd.Dir, cmd.Env = p.work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "BROWSER=/no/such/browser"} // the client opens pages
	return cmd
}

// sent counts the requests of some methods to agents.
func (p *mcpPlace) sent(t *testing.T, methods ...string) int {
	t.Helper()
	return p.traced(t, "agent out request", methods)
}

// heard counts the requests of some methods from clients.
func (p *mcpPlace) heard(t *testing.T, methods ...string) int {
	t.Helper()
	return p.traced(t, "editor in message", methods)
}

// traced counts records of some methods in all traces of the place.
func (p *mcpPlace) traced(t *testing.T, what string, methods []string) (n int) {
	t.Helper()
	traces, err := filepath.Glob(p.path("trace-*")) // each agent but the first has its own
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range traces {
		b := mustGet(os.ReadFile(trace))(t)
		for line := range strings.Lines(string(b)) {
			var r struct{ Wire, Dir, Kind, Method string }
			if json.Unmarshal([]byte(line), &r) == nil && r.Wire+" "+r.Dir+" "+r.Kind == what && slices.Contains(methods, r.Method) {
				n++
			}
		}
	}
	return n
}

// sendings are the methods that begin a task, or go on with it; cancellings end it.
var (
	sendings    = []string{"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}
	cancellings = []string{"tasks/cancel", "CancelTask"}
)

// wantSent demands a number of messages to agents, and of cancelled tasks. The traces are written
// a little later.
func (p *mcpPlace) wantSent(t *testing.T, messages, cancelled int) {
	t.Helper()
	var sent, ended int
	for range 20 {
		if sent, ended = p.sent(t, sendings...), p.sent(t, cancellings...); sent == messages && ended == cancelled {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Errorf("%d messages were sent, and %d tasks cancelled", sent, ended)
}

var handleWords = regexp.MustCompile(`\b(?:handle|under way): (\S+)`)

// handleIn is the handle that an answer has.
func handleIn(t *testing.T, answer string) string {
	t.Helper()
	m := handleWords.FindStringSubmatch(answer)
	if m == nil {
		t.Fatalf("there is no handle: %s", answer)
	}
	return m[1]
}

// goesOn reports whether an answer says that the task goes on.
func goesOn(answer string) bool { return strings.Contains(answer, "state: working\n") }

// wantChunks demands the first n chunks of the agent's counting, once each, in order.
func wantChunks(t *testing.T, n int, answers ...string) {
	t.Helper()
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("chunk-%d", i))
	}
	got := regexp.MustCompile(`chunk-\d+`).FindAllString(strings.Join(answers, "\n"), -1)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the chunks are %q", got)
	}
}

// An mcpConnection is a client of our server in a test.
type mcpConnection struct {
	mcpCaller
	t *testing.T
}

// text calls a tool, and returns the text of its result.
func (c *mcpConnection) text(tool string, args object) string {
	c.t.Helper()
	r, err := c.call(c.t.Context(), tool, args)
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return textOf(r)
}

func textOf(r *mcp.CallToolResult) string {
	var all []string
	for _, content := range r.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

// mcpSDKs are the official SDKs, with the versions of MCP that they speak.
var mcpSDKs = []struct {
	name     string
	connect  func(*testing.T, string, *person, *exec.Cmd) mcpCaller
	versions []string
}{
	{"go-sdk 1.8.0", connectGo, []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}},
	{"typescript-sdk 1.32.2", connectTS("1"), []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}},
	{"typescript-client 2.4.0", connectTS("2"), []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}},
}

// mcpStories are what each SDK does in each version.
var mcpStories = []struct {
	name           string
	action, choose string // of the person
	more           string // of the configuration
	tell           func(t *testing.T, c *mcpConnection, p *mcpPlace)
}{
	{"answers", "", "", "", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		agents := c.text("list_agents", object{})
		contains(t, "the agents", agents, "demo-agent")
		contains(t, "the agents", agents, "sdk-agent")
		contains(t, "the answer", c.text("send_message", object{"agent": "demo-agent", "text": "hello"}), "Hello from the a2astdio demo agent.")
		contains(t, "the answer", c.text("send_message", object{"agent": "sdk-agent", "text": "count 2"}), "chunk-0 chunk-1")
		question := c.text("send_message", object{"agent": "sdk-agent", "text": "ask"})
		contains(t, "the question", question, "which city?")
		contains(t, "the answer", c.text("send_message", object{"handle": handleIn(t, question), "text": "Paris"}), "completed")
		p.wantSent(t, 4, 0)
	}},
	{"accepted", "accept", "allow once", "", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		contains(t, "the answer", c.text("send_message", object{"agent": "demo-agent", "text": "edit"}), "completed")
		if asked := c.asked(); len(asked) != 1 || !strings.Contains(asked[0], "hello.txt") {
			t.Errorf("a person was asked %q", asked)
		}
		if _, err := os.Stat(filepath.Join(p.work, "hello.txt")); err != nil {
			t.Error(err)
		}
	}},
	{"declined", "decline", "", "", refused(1)},
	{"dismissed", "cancel", "", "", refused(1)},
	{"accepted without an answer", "accept", "something else", "", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		_, err := c.call(t.Context(), "send_message", object{"agent": "demo-agent", "text": "edit"})
		t.Log(err) // some SDKs look at what their user has answered
		wantNoFile(t, p.work, "hello.txt")
	}},
	{"unanswerable", "", "", "", refused(0)},
	{"longer than the limit", "", "", "mcp-wait = \"1s\"", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		answers := []string{c.text("send_message", object{"agent": "sdk-agent", "text": "count 30 100"})}
		handle := handleIn(t, answers[0])
		for n := 0; goesOn(answers[n]); n++ {
			answers = append(answers, c.text("wait_task", object{"handle": handle}))
		}
		if len(answers) < 3 {
			t.Errorf("there are %d answers", len(answers))
		}
		wantChunks(t, 30, answers...)
		p.wantSent(t, 1, 0)
	}},
	{"cancelled", "", "", "", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { // ends with the call
			_, err := c.call(ctx, "send_message", object{"agent": "sdk-agent", "text": "slow"})
			ended <- err
		}()
		within(t, "the message is sent", func() bool { return p.sent(t, sendings...) == 1 })
		<-time.After(300 * time.Millisecond) // the agent has the task
		cancel()
		if err := <-ended; err == nil {
			t.Error("the call has a result")
		}
		within(t, "the task is cancelled", func() bool { return p.sent(t, cancellings...) == 1 })
	}},
	{"a task that went on", "", "", "mcp-wait = \"1s\"", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		first := c.text("send_message", object{"agent": "sdk-agent", "text": "slow"})
		contains(t, "the cancelled task", c.text("cancel_task", object{"handle": handleIn(t, first)}), "cancel")
		p.wantSent(t, 1, 1)
	}},
	{"signed in", "accept", "", "", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		for range 2 {
			contains(t, "the answer", c.text("send_message", object{"agent": "guarded-agent", "text": "hello"}), "Hello from the a2astdio demo agent.")
		}
		if n := p.guarded.tokens.Load(); n != 1 {
			t.Errorf("there were %d sign-ins", n)
		}
	}},
	{"not signed in", "", "", "", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		contains(t, "the answer", c.text("send_message", object{"agent": "guarded-agent", "text": "hello"}), "auth login")
		if n := p.guarded.tokens.Load(); n != 0 {
			t.Errorf("there were %d sign-ins", n)
		}
	}},
	{"files", "", "", "", func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		sent := c.text("send_message", object{"agent": "demo-agent", "text": "hello", "files": []any{object{"path": "note.txt"}, object{"name": "more.txt", "content": "more"}}})
		contains(t, "the result", sent, "note.txt")
		outside := filepath.Join(p.home, "secret.txt")
		write(t, outside, "secret\n")
		for _, path := range []string{outside, "../" + filepath.Base(p.home) + "/secret.txt", ".hidden"} {
			r, err := c.call(t.Context(), "send_message", object{"agent": "demo-agent", "text": "hello", "files": []any{object{"path": path}}})
			if err != nil || !r.IsError {
				t.Errorf("%s was sent: %v", path, r)
			}
		}
		p.wantSent(t, 1, 0)
		parts := mustGet(c.call(t.Context(), "send_message", object{"agent": "sdk-agent", "text": "parts"}))(t)
		contains(t, "the parts", textOf(parts), "hello.bin")
	}},
}

// refused is the story of an edit that nobody has allowed.
func refused(asked int) func(*testing.T, *mcpConnection, *mcpPlace) {
	return func(t *testing.T, c *mcpConnection, p *mcpPlace) {
		answer := c.text("send_message", object{"agent": "demo-agent", "text": "edit"})
		contains(t, "the answer", answer, "hello.txt") // what would have been done
		if n := len(c.asked()); n != asked {
			t.Errorf("a person was asked %d times", n)
		}
		wantNoFile(t, p.work, "hello.txt")
	}
}

// The official SDKs, in each version of MCP, get the same.
func TestMCPSDKs(t *testing.T) {
	agents := startMCPAgents(t)
	for _, sdk := range mcpSDKs {
		for i, version := range sdk.versions {
			for _, story := range mcpStories {
				if i > 1 && story.name != "answers" && story.name != "accepted" && story.name != "unanswerable" {
					continue // the versions before differ in the first line, and in what is asked
				}
				t.Run(sdk.name+"/"+version+"/"+story.name, func(t *testing.T) {
					t.Parallel()
					p := agents.place(t, story.more)
					who := &person{action: story.action, choose: story.choose}
					story.tell(t, &mcpConnection{sdk.connect(t, version, who, p.server()), t}, p)
				})
			}
		}
	}
}

// A task outlives its client: another process finds it by its handle.
func TestMCPRestart(t *testing.T) {
	t.Parallel()
	p := startMCPAgents(t).place(t, "mcp-wait = \"1s\"")
	c := &mcpConnection{connectGo(t, "2025-11-25", &person{}, p.server()), t}
	answers := []string{c.text("send_message", object{"agent": "sdk-agent", "text": "count 30 200"})}
	handle := handleIn(t, answers[0])
	c.close()
	c = &mcpConnection{connectGo(t, "2026-07-28", &person{}, p.server()), t}
	for n := 0; goesOn(answers[n]); n++ {
		answers = append(answers, c.text("wait_task", object{"handle": handle}))
	}
	wantChunks(t, 30, answers...)
	p.wantSent(t, 1, 0)
}
