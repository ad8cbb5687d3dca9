package peers

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// screenPatience is how long somebody looks at a screen for something to come.
const screenPatience = time.Minute

// A screen is a terminal (tmux's) with one program in it, as a person has it.
type screen struct {
	t      *testing.T
	socket string
}

func openScreen(t *testing.T, dir string, env []string, command ...string) *screen {
	t.Helper()
	s := &screen{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	start := s.tmux(append([]string{"new-session", "-d", "-x", "140", "-y", "40"}, command...)...)
	start.Dir, start.Env = dir, append(env, "TERM=xterm-256color", "LANG=C.UTF-8")
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v %s", err, out)
	}
	t.Cleanup(func() { _ = s.tmux("kill-server").Run() })
	return s
}

func (s *screen) tmux(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...)
}

// press types text, and presses keys where they have tmux's names, like Enter.
func (s *screen) press(keys ...string) {
	s.t.Helper()
	if out, err := s.tmux(append([]string{"send-keys"}, keys...)...).CombinedOutput(); err != nil {
		s.t.Fatalf("tmux: %v %s", err, out)
	}
}

// see waits until a text is on the screen, wherever its lines break, and until nothing
// has moved for a second: what it then returns is what the person reads.
func (s *screen) see(text string) string {
	s.t.Helper()
	still, before := 0, ""
	for deadline := time.Now().Add(screenPatience); time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		out, err := s.tmux("capture-pane", "-p").Output()
		if err != nil {
			s.t.Fatalf("the program has ended, or tmux: %v; before:\n%s", err, before)
		}
		if still++; string(out) != before || !strings.Contains(unbroken(string(out)), unbroken(text)) {
			still, before = 0, string(out)
		}
		if still == 10 {
			return before
		}
	}
	s.t.Errorf("%q is not on the screen, or it does not rest:\n%s", text, before)
	return before
}

// unbroken is a text without what windows put into it: breaks, their borders, and the
// marks of lines that are not there.
func unbroken(text string) string {
	return regexp.MustCompile(`[\s│~\\]+`).ReplaceAllString(text, "")
}
