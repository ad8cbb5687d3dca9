package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// From no configuration to an answer, with ACP's own SDK for TypeScript: like
// TestSDKTerminalLogin.
func TestTypeScriptTerminalLogin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a pseudo-terminal")
	}
	needNode(t, 20)
	sdk := installNPM(t, "acp-ts", filepath.Join("acpts", "package.json"))
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	home := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm"}
	client := exec.CommandContext(ctx, "node", filepath.Join("acpts", "login.mjs"), sdk, binary, home)
	client.Env = env
	var stderr bytes.Buffer
	client.Stderr = &stderr
	stdin, stdout := startPiped(t, client)
	lines := bufio.NewScanner(stdout)
	next := func(word string, v any) {
		t.Helper()
		lines.Scan()
		rest, ok := strings.CutPrefix(lines.Text(), word+" ")
		if !ok || json.Unmarshal([]byte(rest), v) != nil {
			_ = client.Wait()
			t.Fatalf("the client says %q, and %s", lines.Text(), stderr.String())
		}
	}
	var login struct {
		Args []string
		Env  map[string]string
	}
	next("run", &login)
	setup := exec.CommandContext(ctx, binary, login.Args...)
	setup.Dir, setup.Env = home, env
	for name, value := range login.Env {
		setup.Env = append(setup.Env, name+"="+value)
	}
	tty, err := pty.Start(setup)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if _, err := io.WriteString(tty, "demo\nhello\nmine\n"); err != nil {
		t.Fatal(err)
	}
	screen, _ := io.ReadAll(tty) // its error means that the other end has closed
	contains(t, "the terminal", string(screen), "Stored as mine in ")
	if err := setup.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(stdin, "done\n"); err != nil {
		t.Fatal(err)
	}
	var said struct{ StopReason, Text string }
	next("said", &said)
	contains(t, "the answer", said.Text, strings.TrimSpace(greeting))
	if said.StopReason != "end_turn" {
		t.Errorf("the stop reason is %s", said.StopReason)
	}
	if err := client.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("the client: %v, stderr %q", err, stderr.String())
	}
}
