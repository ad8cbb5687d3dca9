package peers

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAcpxKilled: the agent of a URL is killed in the middle of its answer. A user of a
// real client reads within a second that the bridge waits for it, and after ten that it
// has ended.
func TestAcpxKilled(t *testing.T) {
	t.Parallel()
	needNode(t, 20)
	dir := installNPM(t, "acpx-0.19.1", filepath.Join("acpx", "package.json"))
	agent := exec.Command(binary, "demo", "--listen", "127.0.0.1:0")
	url := serving(t, agent)
	acpx := exec.Command(filepath.Join(dir, "node_modules", ".bin", "acpx"), "--agent", binary+" --agent "+url, "exec", "slow")
	acpx.Dir = t.TempDir()
	acpx.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := acpx.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	acpx.Stderr = acpx.Stdout
	if err := acpx.Start(); err != nil {
		t.Fatal(err)
	}
	defer acpx.Process.Kill()
	var killed time.Time
	said := map[string]time.Duration{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if killed.IsZero() && strings.Contains(line, "tick 2 ") {
			if err := agent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			killed = time.Now()
		}
		for _, sentence := range []string{"does not accept connections any more: it is waited for", "it has ended: for 10s nobody has accepted a connection"} {
			if strings.Contains(line, sentence) {
				said[sentence[:6]] = time.Since(killed)
				t.Logf("%v: %s", time.Since(killed), line)
			}
		}
	}
	if err := acpx.Wait(); err == nil {
		t.Error("acpx takes it for an answer")
	}
	// The client itself writes some time later.
	if after := said["does n"]; after <= 0 || after > 3*time.Second {
		t.Errorf("it is said to be waited for %v after it was killed", after)
	}
	if after := said["it has"]; after < 10*time.Second || after > 14*time.Second {
		t.Errorf("it is said to have ended %v after it was killed", after)
	}
}
