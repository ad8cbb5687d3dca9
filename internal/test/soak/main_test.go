package soak

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

var (
	kills = flag.Int("kills", 10, "how often TestKill kills")
	seed  = flag.Uint64("seed", 1, "what the deaths begin with")
)

const (
	// markName is the variable that marks the processes of a test, and makes the test
	// binary be a2astdio.
	markName = "SOAK_MARK"
	// patience bounds the wait for what must come. It only ends if something is wrong.
	patience = 90 * time.Second
	// exitTime bounds the bridge's end after the end of its input, which takes it milliseconds.
	exitTime = 10 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(markName) != "" {
		os.Exit(cli.Main(cli.UntilSignal(), os.Args, os.Stdin, os.Stdout, os.Stderr, "v0.0.0-soak"))
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "5") // they wait for processes; the flag is there
	os.Exit(m.Run())
}

// await waits until something is so, and reports whether that happened.
func await(limit time.Duration, is func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); !is(); <-tick.C {
		if time.Since(began) > limit {
			return false
		}
	}
	return true
}

// repeat tells, if the test fails, how to repeat it.
func repeat(t *testing.T, seed uint64, flags string) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again: go test ./internal/test/soak -seed=%d %s", seed, flags)
		}
	})
}

// A program is a2astdio in a process of its own, with an editor.
type program struct {
	*editor.Editor
	cmd     *exec.Cmd
	stderr  bytes.Buffer // to be read after the process has ended
	started chan struct{}
	in, out io.Closer // its ends of the editor's pipes
}

// newProgram returns a program that begin starts. It is killed at the end of the test if it
// still runs.
func newProgram(t *testing.T, env []string, args ...string) *program {
	p := &program{cmd: exec.Command(os.Args[0], args...), started: make(chan struct{})}
	// With -race a program by default waits a second at its end.
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0"}, env...)
	p.cmd.Stderr = &p.stderr
	t.Cleanup(func() {
		if p.Editor != nil {
			_ = p.kill()
			_ = p.Close()
		}
	})
	return p
}

// begin starts the program and its session.
func (p *program) begin(opts *editor.Options) (err error) {
	opts.Serve = func(_ context.Context, in io.ReadCloser, out io.WriteCloser) error {
		p.in, p.out, p.cmd.Stdout = in, out, out
		stdin, err := p.cmd.StdinPipe()
		if err == nil {
			err = p.cmd.Start()
		}
		close(p.started)
		if err != nil {
			return err
		}
		go func() { // ends with the input, or with the process
			_, _ = io.Copy(stdin, in)
			stdin.Close()
		}()
		return p.cmd.Wait()
	}
	p.Editor, err = editor.Start(opts)
	return err
}

func (p *program) kill() error {
	<-p.started
	return p.cmd.Process.Kill()
}

// vanish is what becomes of an editor that is killed: nobody writes to the program, nor reads.
func (p *program) vanish() {
	<-p.started
	p.in.Close()
	p.out.Close()
}

// quit ends the program's input, and reports a wrong end, or what no editor should get.
func (p *program) quit() error {
	began := time.Now()
	timer := time.AfterFunc(10*exitTime, func() { _ = p.kill() })
	defer timer.Stop()
	err := p.Close()
	took := time.Since(began)
	_, wrong := p.Lines()
	switch {
	case err != nil || p.stderr.Len() > 0:
		return fmt.Errorf("the bridge: %v, and on stderr %s", err, p.stderr.String())
	case took > exitTime:
		return fmt.Errorf("the bridge ended %v after its input, %v is the limit", took.Round(time.Millisecond), exitTime)
	case len(wrong) > 0:
		return fmt.Errorf("the editor got what it should not: %s", strings.Join(wrong, "\n"))
	}
	return nil
}

// A screen is what the user of a session sees.
type screen struct {
	text     string // of the agent's messages
	user     string // the user's own words, in a loaded session
	thoughts []string
	calls    map[string]string // by ID: the last status
	asked    map[string]int    // by call: how often the user was asked
	notices  []string          // in brackets: the bridge's own messages
}

func screenOf(shown []editor.Shown) *screen {
	s := &screen{calls: map[string]string{}, asked: map[string]int{}}
	for _, x := range shown {
		switch x.Kind {
		case editor.Text:
			s.text += x.Text
		case editor.User:
			s.user += x.Text
		case editor.Thought:
			s.thoughts = append(s.thoughts, x.Text)
		case editor.Question:
			s.asked[x.ID]++
		case editor.Call:
			if x.Text != "" {
				s.calls[x.ID] = x.Text
			}
		case editor.Gap, editor.Notice:
			if !strings.HasPrefix(x.Text, "\n[The connection to the agent is lost.") { // which it was, and is again
				s.notices = append(s.notices, x.Text)
			}
		}
	}
	return s
}

// A process has a mark in its environment.
type process struct {
	pid   int
	words string // its command line
}

// processes lists the marked ones, without zombies: they have ended.
func processes(mark string) (all []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || !slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == markName+"="+mark }) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		words, _ := os.ReadFile(dir + "/cmdline") // if it ends meanwhile, none
		if err == nil {
			all = append(all, process{pid, strings.ReplaceAll(strings.TrimRight(string(words), "\x00"), "\x00", " ")})
		}
	}
	return all
}

// nobody demands that no process has a mark soon after began, and returns how long
// it took.
func nobody(t *testing.T, mark string, began time.Time) time.Duration {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		now := time.Now() // before looking: what is found existed then
		left := processes(mark)
		switch {
		case len(left) == 0:
			return now.Sub(began)
		case now.Sub(began) > exitTime:
			var b strings.Builder
			for _, p := range left {
				fmt.Fprintf(&b, "\n%d: %s", p.pid, p.words)
			}
			t.Fatalf("%v later there are still%s", now.Sub(began).Round(time.Millisecond), b.String())
		}
		<-tick.C
	}
}

// agentProcess finds the agent's process of --agent-command, 0 if there is none: its
// supervisor has the agent's words behind a "--".
func agentProcess(mark string) int {
	for _, p := range processes(mark) {
		if strings.Contains(p.words, " demo --listen ") && !strings.Contains(p.words, " -- ") && !strings.Contains(p.words, "--agent-command") {
			return p.pid
		}
	}
	return 0
}
