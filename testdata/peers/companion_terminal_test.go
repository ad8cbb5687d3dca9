package peers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A terminal has a program in it.
type terminal struct {
	t     *testing.T
	tty   *os.File
	cmd   *exec.Cmd
	seen  int // how much of the terminal's output was read
	ended chan struct{}

	killed sync.Once

	mu     sync.Mutex
	screen bytes.Buffer
}

// runTerminal runs a command in a terminal.
func runTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	g := &terminal{t: t, cmd: cmd, ended: make(chan struct{})}
	var err error
	if g.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 150}); err != nil {
		t.Fatal(err)
	}
	go g.read() // ends with the process
	t.Cleanup(func() {
		if t.Failed() {
			g.mu.Lock()
			defer g.mu.Unlock()
			text := plain(g.screen.String())
			t.Logf("the terminal: ...%s", text[max(0, len(text)-6000):])
		}
	})
	t.Cleanup(g.kill)
	return g
}

func (t *terminal) read() {
	defer close(t.ended)
	b := make([]byte, 64<<10)
	for {
		n, err := t.tty.Read(b)
		for query, answer := range map[string]string{"\x1b[6n": "\x1b[1;1R", "\x1b[c": "\x1b[?62c"} { // Codex waits for where the cursor is
			if bytes.Contains(b[:n], []byte(query)) {
				_, _ = t.tty.WriteString(answer)
			}
		}
		t.mu.Lock()
		t.screen.Write(b[:n])
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// kill kills it, as a crash would. It may be called twice.
func (t *terminal) kill() {
	t.killed.Do(func() {
		_ = exec.Command("kill", "-9", "--", fmt.Sprint(-t.cmd.Process.Pid)).Run() // and its children: a terminal's programs are a group
		_ = t.cmd.Wait()
		t.tty.Close()
		<-t.ended
	})
}

var terminalCodes = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78cM])|\r`)

// plain is what a terminal shows of s, one after the other.
func plain(s string) string { return terminalCodes.ReplaceAllString(s, "") }

// see waits for a text on the terminal, behind the last seen one.
func (t *terminal) see(text string) {
	t.t.Helper()
	within(t.t, text+" is on the terminal", func() bool {
		t.mu.Lock()
		shown := plain(t.screen.String())
		t.mu.Unlock()
		before, _, found := strings.Cut(shown[min(t.seen, len(shown)):], text)
		if found {
			t.seen += len(before) + len(text)
		}
		return found
	})
}

// shows waits for words anywhere on the terminal, where the program moves the cursor instead of
// writing blanks.
func (t *terminal) shows(words string) {
	t.t.Helper()
	join := func(text string) string { return strings.Join(strings.Fields(text), "") }
	within(t.t, words+" is on the terminal", func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return strings.Contains(join(plain(t.screen.String())), join(words))
	})
}

// press types keys.
func (t *terminal) press(keys string) {
	t.t.Helper()
	mustGet(t.tty.WriteString(keys))(t.t)
}

// say enters a prompt or a command. The CLI would take an Enter that comes with the
// text for a part of it, as in a paste.
func (t *terminal) say(text string) {
	t.t.Helper()
	t.press(text)
	t.see("> " + text[:min(len(text), 11)]) // the end, a directory, stands in other places, too
	<-time.After(300 * time.Millisecond)
	t.press("\r")
}
