//go:build linux

package cli

import (
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A session is one form of send on a terminal: a row of testdata/terminal-sessions.txt.
type session struct {
	Name, Words        string
	Exit               int
	Keys, Pipe, Unless string
}

// resume stands for fg after Ctrl-Z.
const resume = "^"

// TestTerminal holds what each form of send looks like on a terminal of 80 columns:
// testdata/terminal.txt has the bytes, with ESC as \e. They were read by people.
func TestTerminal(t *testing.T) {
	agent := demo.New(&demo.Options{Pace: -1})
	server := httptest.NewServer(agent)
	defer server.Close()
	defer agent.Close()
	sessions := must.Table[session](t, "../../testdata/terminal-sessions.txt")
	all := make([]string, len(sessions))
	t.Run("sessions", func(t *testing.T) {
		for i, s := range sessions {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				out := play(t, server.URL, s, 80)
				for again := 0; again < 20 && s.Unless != "" && strings.Contains(out, s.Unless); again++ {
					out = play(t, server.URL, s, 80)
				}
				all[i] = "== " + s.Words + "\n" + out
			})
		}
	})
	if !t.Failed() {
		must.Golden(t, *update, filepath.Join("..", "..", "testdata", "terminal.txt"), strings.Join(all, ""))
	}
}

var unsteady = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|http://127\.0\.0\.1:\d\d+|20\d\d-\d\d-\d\dT[\d:.]+Z`)

// waited is what it shows while the agent, on a busy machine, takes a second.
var waited = regexp.MustCompile(`(?:\r\x1b\[K\x1b\[2m\d+s waiting for [^\r]*)+\r\x1b\[K`)

// asChild runs a program as a shell does. It must not own the terminal: when the owner
// ends, Linux drops what the terminal has not shown yet. So this ends only after all was
// read, which is when what is behind it was read.
const (
	asChild = `trap : INT; "$@" 3<&-; status=$?; printf '\036'; read -r _ <&3; exit $status`
	ended   = "\x1e"
)

// play has a session, and returns what the terminal has got.
func play(t *testing.T, agent string, s session, columns uint16) string {
	t.Helper()
	dir := must.ShortDir(t)
	must.File(t, "# notes\n", dir, "notes.md")
	exe := must.Get(exec.LookPath("a2astdio"))(t) // testscript's
	held, release, err := os.Pipe()
	must.Do(t, err)
	defer held.Close()
	defer release.Close()
	cmd := exec.Command("sh", append([]string{"-c", asChild, "sh", exe, "--workspace", "."}, strings.Fields(s.Words)...)...)
	cmd.ExtraFiles = []*os.File{held}
	cmd.Dir = dir
	cmd.Env = []string{"TERM=xterm", "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + dir, "XDG_CONFIG_HOME=" + dir,
		"A2ASTDIO_AGENT=" + agent}
	if s.Pipe != "" {
		// All of it is there before the program looks, so that the order is the same.
		r, w, err := os.Pipe()
		must.Do(t, err)
		defer r.Close()
		_, _ = w.WriteString(s.Pipe)
		w.Close()
		cmd.Stdin = r
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	defer master.Close()
	must.Do(t, pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: columns}))
	// Ctrl-C drops what the terminal has not shown yet: it would be luck what that is.
	settings := must.Get(unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS))(t)
	settings.Lflag |= unix.NOFLSH
	must.Do(t, unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, settings))
	cmd.Stdout, cmd.Stderr = slave, slave
	if cmd.Stdin == nil {
		cmd.Stdin = slave
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	must.Do(t, cmd.Start())
	slave.Close()
	screen := &shownSoFar{}
	read := make(chan struct{})
	go func() { // ends when the last process has closed the terminal
		defer close(read)
		_, _ = io.Copy(screen, master)
	}()
	at := 0
	for _, key := range strings.FieldsFunc(s.Keys, func(r rune) bool { return r == ';' }) {
		shown, typed, _ := strings.Cut(strings.TrimSpace(key), " > ")
		if at, err = screen.wait(shown, at); err != nil {
			_ = cmd.Process.Kill()
			t.Fatalf("%s: %v", s.Name, err)
		}
		if typed == resume {
			err = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
		} else {
			_, err = master.WriteString(must.Get(strconv.Unquote(`"` + typed + `"`))(t))
		}
		must.Do(t, err)
	}
	if _, err = screen.wait(ended, at); err != nil {
		_ = cmd.Process.Kill()
		t.Fatalf("%s: %v", s.Name, err)
	}
	release.Close()
	_ = cmd.Wait()
	<-read
	must.Equal(t, cmd.ProcessState.ExitCode(), s.Exit, s.Name)
	text := strings.Replace(screen.String(), ended, "", 1)
	if s.Name == "cancelled" { // how far it gets is luck
		text = regexp.MustCompile(`(?m)^tick [2-9]\d* of 60\r\n`).ReplaceAllString(text, "")
	}
	text = waited.ReplaceAllString(strings.ReplaceAll(text, dir, "/dir"), "")
	text = unsteady.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "http") {
			return "http://agent"
		}
		if strings.HasSuffix(s, "Z") {
			return "TIME"
		}
		return "ID"
	})
	return strings.NewReplacer("\r\n", "\n", "\r", `\r`, "\x1b", `\e`, "\a", `\a`).Replace(text)
}
