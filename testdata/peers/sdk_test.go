package peers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
	"github.com/creack/pty"
)

// An sdkEditor is a client on the SDK's connection, as its example is.
type sdkEditor struct {
	acp.Client // it panics on methods that a bridge must not call
	conn       *acp.ClientSideConnection
	session    acp.SessionId
	dir        string
	perUpdate  time.Duration

	mu       sync.Mutex
	text     strings.Builder
	updates  int
	statuses []acp.ToolCallStatus
	asked    []acp.RequestPermissionRequest
}

func (e *sdkEditor) RequestPermission(_ context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, p)
	for _, o := range p.Options {
		if o.Kind == acp.PermissionOptionKindAllowOnce {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

func (e *sdkEditor) SessionUpdate(ctx context.Context, n acp.SessionNotification) error {
	if e.perUpdate > 0 {
		busy, stop := context.WithTimeout(ctx, e.perUpdate)
		<-busy.Done()
		stop()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates++
	switch u := n.Update; {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		e.text.WriteString(u.AgentMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		e.statuses = append(e.statuses, u.ToolCall.Status)
	case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
		e.statuses = append(e.statuses, *u.ToolCallUpdate.Status)
	}
	return nil
}

// connect starts a bridge under the SDK's connection. It has to end with its input, and in silence.
func (e *sdkEditor) connect(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, stdout := startPiped(t, cmd)
	e.conn = acp.NewClientSideConnection(e, stdin, stdout)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		stdin.Close()
		select {
		case <-e.conn.Done():
		case <-time.After(patience):
			t.Error("the connection goes on after the end of input")
			_ = cmd.Process.Kill()
		}
		// A client whose queue was full has stopped reading.
		kill := time.AfterFunc(10*exitTime, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("the bridge: %v, stderr %q", err, stderr.String())
		}
	})
}

// sdk starts the binary, and opens a session. perUpdate is how long the client takes for an update.
func sdk(t *testing.T, agent string, perUpdate time.Duration) *sdkEditor {
	t.Helper()
	e := &sdkEditor{dir: t.TempDir(), perUpdate: perUpdate}
	cmd := exec.Command(binary, "--agent", agent)
	cmd.Dir = t.TempDir()
	e.connect(t, cmd)
	mustGet(e.conn.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber}))(t)
	e.session = mustGet(e.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: e.dir, McpServers: []acp.McpServer{}}))(t).SessionId
	return e
}

func (e *sdkEditor) prompt(t *testing.T, text string) acp.StopReason {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	r := mustGet(e.conn.Prompt(ctx, acp.PromptRequest{SessionId: e.session, Prompt: []acp.ContentBlock{acp.TextBlock(text)}}))(t)
	return r.StopReason
}

// The SDK's types accept the whole of an approved edit, and the file is written.
func TestSDKEdit(t *testing.T) {
	t.Parallel()
	e := sdk(t, "demo", 0)
	equal(t, e.prompt(t, "edit"), acp.StopReasonEndTurn)
	wantFile(t, greeting, e.dir, "hello.txt")
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) != 1 || len(e.asked[0].ToolCall.Content) == 0 || e.asked[0].ToolCall.Content[0].Diff == nil {
		t.Errorf("one question with a diff was expected: %+v", e.asked)
	}
	equal(t, fmt.Sprint(e.statuses), "[pending in_progress completed]")
}

// Ten thousand chunks do not overflow the SDK's queue of 1024 notifications, in a
// client that counts them and in one that takes as long as drawing them would;
// from the embedded agent, which is reached in memory, and over TCP, where they
// come in pieces of another size.
func TestSDKLong(t *testing.T) {
	for _, agent := range []string{"embedded", "TCP"} {
		for _, perUpdate := range []time.Duration{0, time.Millisecond} {
			t.Run(fmt.Sprintf("%s, %v an update", agent, perUpdate), func(t *testing.T) {
				t.Parallel()
				url := "demo"
				if agent == "TCP" {
					url = listen(t)
				}
				e := sdk(t, url, perUpdate)
				e.prompt(t, "long")
				e.mu.Lock()
				defer e.mu.Unlock()
				wantLong(t, e.text.String())
				t.Logf("%d updates", e.updates)
			})
		}
	}
}

func wantLong(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if line != fmt.Sprintf("chunk %d", i+1) {
			t.Fatalf("line %d of %d is %q", i+1, len(lines), line)
		}
	}
	equal(t, len(lines), 10_000)
}

// From nothing to an answer, with a client on the Go SDK's connection: initialize offers
// a terminal method, session/new wants one, the client runs the agent's program with
// the method's arguments in a pseudo-terminal, as ACP has it (Authentication, terminal),
// and the same process then has an agent. No file is edited.
func TestSDKTerminalLogin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a pseudo-terminal")
	}
	t.Parallel()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	t.Cleanup(stop)
	home := t.TempDir()
	start := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm"}
		return cmd
	}
	e := &sdkEditor{dir: home}
	e.connect(t, start())
	r := mustGet(e.conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber,
		ClientCapabilities: acp.ClientCapabilities{Auth: acp.AuthCapabilities{Terminal: true}}}))(t)
	var login *acp.AuthMethodTerminalInline
	for _, m := range r.AuthMethods {
		if m.Terminal != nil {
			login = m.Terminal
		}
	}
	if login == nil {
		t.Fatalf("no terminal method in %+v", r.AuthMethods)
	}
	open := acp.NewSessionRequest{Cwd: home, McpServers: []acp.McpServer{}}
	if _, err := e.conn.NewSession(ctx, open); err == nil || !strings.Contains(err.Error(), "Authentication required") {
		t.Fatalf("session/new without an agent: %v", err)
	}

	tty := mustGet(pty.Start(start(login.Args...)))(t)
	defer tty.Close()
	mustGet(io.WriteString(tty, "demo\nhello\nmine\n"))(t)
	screen, _ := io.ReadAll(tty) // its error means that the other end has closed
	contains(t, "the terminal", string(screen), "Stored as mine in ")

	mustGet(e.conn.Authenticate(ctx, acp.AuthenticateRequest{MethodId: login.Id}))(t)
	s := mustGet(e.conn.NewSession(ctx, open))(t)
	e.session = s.SessionId
	equal(t, e.prompt(t, "hello"), acp.StopReasonEndTurn)
	contains(t, "the answer", e.text.String(), strings.TrimSpace(greeting))
}
