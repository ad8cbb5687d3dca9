package peers

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// natsServer starts a NATS server with JetStream in this process.
func natsServer(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	return s.ClientURL()
}

// A mailbox is what a bridge needs of a receiver, and how that is started.
type mailbox struct{ nats, master, key string }

func newMailbox(t *testing.T) mailbox {
	t.Helper()
	dir := t.TempDir()
	m := mailbox{nats: natsServer(t), master: filepath.Join(dir, "service.key"), key: filepath.Join(dir, "alice.key")}
	write(t, m.master, strings.Repeat("0123456789abcdef", 4))
	key, err := exec.Command(binary, "webhook", "key", "--key", m.master, "alice").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.key, key, 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// receive starts the receiver, and returns its URL and what kills it.
func (m mailbox) receive(t *testing.T, addr string, more ...string) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"webhook", "--listen", addr, "--to", m.nats, "--key", m.master, "--for", "alice", "--for", "bob"}, more...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("a2astdio webhook: %v", err)
	}
	return strings.TrimSpace(line), kill
}

// flags are the bridge's.
func (m mailbox) flags(hooks string) []string {
	return []string{"--webhook", m.nats + "/alice", "--webhook-url", hooks, "--webhook-key", m.key}
}

// cutFor is a proxy in front of an agent: it ends the first stream after its first
// event, and then takes no more messages and no subscriptions. What is asked otherwise
// passes.
func cutFor(t *testing.T, agent string) string {
	t.Helper()
	target, err := url.Parse(agent)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		switch call := string(body); {
		case r.Method == http.MethodGet:
			// The card leads to the agent itself.
			resp, err := http.Get(agent + r.URL.Path)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			card, _ := io.ReadAll(resp.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(string(card), strings.TrimSuffix(agent, "/"), s.URL))
		case strings.Contains(call, `"method":"tasks/resubscribe"`), strings.Contains(call, `"method":"SubscribeToTask"`):
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.Contains(call, `"method":"message/stream"`), strings.Contains(call, `"method":"SendStreamingMessage"`):
			proxy.ServeHTTP(&oneEvent{ResponseWriter: w}, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// oneEvent hangs up after the first event of a stream.
type oneEvent struct {
	http.ResponseWriter
	said bool
}

func (o *oneEvent) Write(b []byte) (int, error) {
	if !strings.HasPrefix(o.Header().Get("Content-Type"), "text/event-stream") {
		return o.ResponseWriter.Write(b)
	}
	if o.said {
		return 0, io.ErrClosedPipe
	}
	end := strings.Index(string(b), "\n\n")
	if end >= 0 {
		o.said = true
		_, err := o.ResponseWriter.Write(b[:end+2])
		_ = http.NewResponseController(o.ResponseWriter).Flush()
		if err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return o.ResponseWriter.Write(b)
}

func (o *oneEvent) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// pushPeers are the agents that push, and the versions that each is spoken to in.
var pushPeers = []struct {
	server   string
	versions []string
}{
	{goV2, []string{"1.0", "0.3"}},
	{jsV1, []string{"1.0", "0.3"}},
	{jsV03, []string{"0.3"}},
}

// The stream is cut for good after its first event, and what is pushed finishes the
// turn: the same conversation as uncut. By a receiver in the bridge, and by one that
// hands over by NATS.
func TestPush(t *testing.T) {
	for _, by := range []string{"listening", "nats"} {
		for _, peer := range pushPeers {
			t.Run(by+"/"+peer.server, func(t *testing.T) {
				t.Parallel()
				agent := sdkServer(t, peer.server)
				flags := []string{"--webhook", "127.0.0.1:0"}
				if by == "nats" {
					m := newMailbox(t)
					hooks, _ := m.receive(t, "127.0.0.1:0")
					flags = m.flags(hooks)
				}
				for _, version := range peer.versions {
					uncut := open(t, "--agent", agent, "--a2a-version", version)
					want := uncut.Prompt(uncut.NewSession(t.TempDir()), "count 20 100").story()
					uncut.Close()
					trace := filepath.Join(t.TempDir(), "trace.jsonl")
					e := open(t, append(flags, "--agent", cutFor(t, agent), "--a2a-version", version, "--trace", trace)...)
					got := e.Prompt(e.NewSession(t.TempDir()), "count 20 100").story()
					e.Close()
					if strings.Join(got, "\n") != strings.Join(want, "\n") {
						t.Errorf("A2A %s: uncut\n\t%s\ncut\n\t%s", version, strings.Join(want, "\n\t"), strings.Join(got, "\n\t"))
					}
					b, _ := os.ReadFile(trace)
					if n := strings.Count(string(b), `"method":"tasks/resubscribe"`) + strings.Count(string(b), `"method":"SubscribeToTask"`); n > 1 {
						t.Errorf("A2A %s: %d subscriptions were tried while the agent pushed", version, n)
					}
				}
			})
		}
	}
}

// Bridge and receiver are killed in the middle of a turn whose stream is cut, and begin
// again: the session that is loaded shows the same text as an uncut one, each word once.
func TestPushKilled(t *testing.T) {
	for _, server := range []string{goV2, jsV1} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			agent := sdkServer(t, server)
			m := newMailbox(t)
			hooks, kill := m.receive(t, "127.0.0.1:0")
			home, cwd, trace := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "trace.jsonl")
			args := append(m.flags(hooks), "--agent", cutFor(t, agent))
			e := openAt(t, home, args...)
			session := e.NewSession(cwd)
			turn := e.Prompt(session, "count 60 100")
			e.wait(turn.from, "a chunk that was fetched after a push", func(l *Line) bool {
				return strings.Contains(l.text("params.update.content.text"), "chunk-5 ")
			})
			e.Kill()
			kill()
			_, _ = m.receive(t, strings.TrimPrefix(hooks, "http://"))

			e = openAt(t, home, append(args, "--trace", trace)...)
			from := len(e.lines())
			e.Call("session/load", map[string]any{"sessionId": session, "cwd": cwd, "mcpServers": []any{}})
			e.wait(from, "the end of the answer", func(l *Line) bool {
				return strings.Contains(l.text("params.update.content.text"), "chunk-59 ")
			})
			var got strings.Builder
			for _, l := range e.lines()[from:] {
				if l.update() == "agent_message_chunk" {
					got.WriteString(l.text("params.update.content.text"))
				}
			}
			e.Kill() // the checks of Close know no session that is loaded
			want := "working on it"
			for i := range 60 {
				want += fmt.Sprintf("chunk-%d ", i)
			}
			if got.String() != want {
				t.Errorf("the loaded session shows\n%q, want\n%q", got.String(), want)
			}
			b, _ := os.ReadFile(trace)
			if n := strings.Count(string(b), `"SubscribeToTask"`); n > 2 {
				t.Errorf("%d subscriptions were tried while the agent pushed", n)
			}
			if !strings.Contains(string(b), `"CreateTaskPushNotificationConfig"`) {
				t.Error("the webhook was not set again")
			}
		})
	}
}
