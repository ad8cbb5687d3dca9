package peers

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	acp "github.com/coder/acp-go-sdk"
	"github.com/creack/pty"
)

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

	if _, err := e.conn.Authenticate(ctx, acp.AuthenticateRequest{MethodId: login.Id}); err != nil {
		t.Fatalf("authenticate: %v", err)
	}
	s := mustGet(e.conn.NewSession(ctx, open))(t)
	e.session = s.SessionId
	if stop := e.prompt(t, "hello"); stop != acp.StopReasonEndTurn {
		t.Errorf("the stop reason is %s", stop)
	}
	contains(t, "the answer", e.text.String(), strings.TrimSpace(greeting))
}
