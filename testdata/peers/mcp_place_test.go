package peers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// An mcpPlace is where a client runs: a home with our configuration, and a workspace.
type mcpPlace struct {
	home, work string
	guarded    *guarded
	model      string        // the URL of the scripted model
	limit      time.Duration // of a call of a tool; 0: the client's own
	person     bool          // one is there, at a terminal
	terminal   bool          // it runs in one, with nobody to ask
	// cancelsByLimit: a call that has taken too long is cancelled in the words of a person's cancel.
	cancelsByLimit bool
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
