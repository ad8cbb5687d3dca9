package agentproc

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// gone is how soon all processes must have ended, whatever is killed.
const gone = time.Second

// marked lists the processes with a mark in their environment.
func marked(mark string) (pids []int) {
	eachProcess(func(pid int, dir string) {
		if hasMark(dir, mark) {
			pids = append(pids, pid)
		}
	})
	return pids
}

func describe(pids []int) string {
	var b strings.Builder
	for _, pid := range pids {
		words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		fmt.Fprintf(&b, "\n%d: %s", pid, strings.ReplaceAll(string(words), "\x00", " "))
	}
	return b.String()
}

// A watch notices the end of processes without polling all of them, which would slow a
// busy machine down.
type watch struct {
	mark string
	fds  []unix.PollFd
}

// watchMarked waits until n processes keep the mark: the starter of a daemon has it
// only for a moment.
func watchMarked(t *testing.T, mark string, n int) *watch {
	t.Helper()
	var before []int
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		now := marked(mark)
		if len(now) == n && slices.Equal(now, before) {
			break
		}
		if before = now; time.Now().After(limit) {
			t.Fatalf("there are %d processes, not %d:%s", len(now), n, describe(now))
		}
	}
	w := &watch{mark: mark}
	for _, pid := range before {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		w.fds = append(w.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return w
}

// ended waits until all have ended, which must be within a second of began.
func (w *watch) ended(t *testing.T, began time.Time) time.Duration {
	t.Helper()
	for i := range w.fds {
		for {
			left := time.Until(began.Add(gone))
			n, err := unix.Poll(w.fds[i:i+1], int(max(left, 0).Milliseconds()))
			if err == unix.EINTR {
				continue
			}
			if n == 0 {
				t.Fatalf("%v later there are still%s", gone, describe(marked(w.mark)))
			}
			break
		}
	}
	took := time.Since(began)
	if took > gone+50*time.Millisecond {
		t.Fatalf("it took %v", took)
	}
	return took
}

// nobody checks that no process has the mark, also none that began too late to be
// watched. It allows the same second.
func (w *watch) nobody(t *testing.T, until time.Time) {
	t.Helper()
	for {
		others := marked(w.mark)
		if len(others) == 0 {
			return
		}
		if !time.Now().Before(until) {
			t.Fatalf("there are others:%s", describe(others))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const (
	// A family has a child, one in a session of its own, a daemon, and a child of
	// the child that is in a session of its own: with the agent and the
	// supervisor, six processes.
	family   = "spawn=detach=sleep detach=sleep daemon=sleep"
	stubborn = "stubborn spawn=detach=stubborn detach=stubborn daemon=stubborn"
	members  = 6
)

func TestNobodyIsLeft(t *testing.T) {
	kill := func(s syscall.Signal) func(*testing.T, *Process) {
		return func(_ *testing.T, p *Process) { _ = syscall.Kill(p.cmd.Process.Pid, s) }
	}
	exit := func(t *testing.T, p *Process) {
		if resp, err := http.Get(urlOf(t, p) + "/exit"); err == nil {
			resp.Body.Close()
		}
	}
	for name, c := range map[string]struct {
		words string
		end   func(*testing.T, *Process)
	}{
		"stop": {family + " serve={port}", func(t *testing.T, p *Process) {
			if err := p.Stop(lastGrace); err != nil {
				t.Error(err)
			}
		}},
		"stop, stubborn": {stubborn + " serve={port}", func(t *testing.T, p *Process) {
			if err := p.Stop(lastGrace); err != nil {
				t.Error(err)
			}
		}},
		"stop at once": {stubborn + " serve={port}", func(t *testing.T, p *Process) {
			if err := p.Stop(0); err != nil {
				t.Error(err)
			}
		}},
		"the supervisor hangs": {stubborn + " serve={port}", func(t *testing.T, p *Process) {
			kill(syscall.SIGSTOP)(t, p)
			if err := p.Stop(0); err == nil || !strings.Contains(err.Error(), "was killed") {
				t.Error(err)
			}
		}},
		"the leash ends":              {stubborn + " serve={port}", func(t *testing.T, p *Process) { p.hangUp() }},
		"the supervisor is killed":    {stubborn + " serve={port}", kill(syscall.SIGKILL)},
		"the supervisor gets SIGTERM": {family + " serve={port}", kill(syscall.SIGTERM)},
		"the agent ends":              {family + " serve={port}", exit},
		"the agent ends, stubborn":    {stubborn + " serve={port}", exit},
	} {
		t.Run(name, func(t *testing.T) {
			var slowest time.Duration
			for range *rounds {
				mark := "AGENTPROC_TEST=" + rand.Text()
				p := startHelper(t, c.words, func(o *Options) { o.Env = append(os.Environ(), mark) })
				urlOf(t, p)
				w := watchMarked(t, mark, members)
				began := time.Now()
				var wg sync.WaitGroup
				wg.Go(func() { c.end(t, p) })
				took := w.ended(t, began)
				wg.Wait()
				if !p.ended(gone) {
					t.Error("Done is not closed")
				}
				w.nobody(t, time.Time{})
				slowest = max(slowest, took)
			}
			t.Logf("at most %v", slowest)
		})
	}
}

// startBridge runs the bridge as a process that can be killed, and returns the
// supervisor's number.
func startBridge(t *testing.T, words, mark string, n int) (*exec.Cmd, int, *watch) {
	t.Helper()
	c := exec.Command(os.Args[0], "bridge", helperCommand(words))
	c.Env = append(os.Environ(), mark)
	c.Stderr = os.Stderr
	// As an editor's: it kills the group.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	// The bridge's stdout has nothing of the agent's.
	line, err := bufio.NewReader(out).ReadString('\n')
	var supervisor int
	if _, scan := fmt.Sscanf(line, "%d http://127.0.0.1:", &supervisor); scan != nil {
		t.Fatalf("the bridge printed %q, %v", line, err)
	}
	return c, supervisor, watchMarked(t, mark, n)
}

func TestBridgeIsKilled(t *testing.T) {
	var slowest time.Duration
	for i := range 2 * *rounds {
		words := []string{family, stubborn}[i%2]
		mark := "AGENTPROC_TEST=" + rand.Text()
		c, _, w := startBridge(t, "say=hello "+words+" serve={port}", mark, members+1)
		began := time.Now()
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
		slowest = max(slowest, w.ended(t, began))
		w.nobody(t, began.Add(gone))
	}
	t.Logf("at most %v", slowest)
}

// Not guaranteed: if both are killed at once, the agent's own process ends, and its
// children live.
func TestBridgeAndSupervisorAreKilled(t *testing.T) {
	for range *rounds {
		mark := "AGENTPROC_TEST=" + rand.Text()
		c, supervisor, w := startBridge(t, "stubborn serve={port}", mark, 3)
		began := time.Now()
		_ = c.Process.Signal(syscall.SIGSTOP) // so that it has no time to see
		_ = syscall.Kill(supervisor, syscall.SIGKILL)
		_ = c.Process.Kill()
		_ = c.Wait()
		w.ended(t, began)
		w.nobody(t, began.Add(gone))
	}
}

// The supervisor is idle and small, is not called a2astdio, and has nothing of
// the editor's open.
func TestSupervisorIsSmall(t *testing.T) {
	p := startHelper(t, "serve={port}", nil)
	urlOf(t, p)
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	if name, _ := os.ReadFile(dir + "comm"); strings.TrimSpace(string(name)) != supervisorName {
		t.Errorf("it is called %s", name)
	}
	if to, err := os.Readlink(dir + "fd/1"); to != os.DevNull {
		t.Errorf("its stdout is %s, %v", to, err)
	}
	status, _ := os.ReadFile(dir + "status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "RssAnon") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
