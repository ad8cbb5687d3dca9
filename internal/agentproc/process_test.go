//go:build unix

package agentproc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A logBuffer may be written and read at once.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) print(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.WriteString(line + "\n")
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startHelper starts the words of an agent (playAgent); vars go before them.
func startHelper(t *testing.T, words string, change func(*Options)) *process {
	t.Helper()
	opts := &Options{Command: helperCommand(words)}
	if change != nil {
		change(opts)
	}
	p := &process{done: make(chan struct{})}
	must.Do(t, p.start(opts, func() {}))
	t.Cleanup(func() { p.stop() })
	return p
}

func helperCommand(words string) string { return "'" + os.Args[0] + "' agent " + words }

func urlOf(t *testing.T, p *process) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return must.Get(p.find(ctx, nil))(t)
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ words, want string }{
		{"after=100ms serve={port}", "http://127.0.0.1:"},
		{"serve=0", "http://localhost:"},
	} {
		t.Run(c.words, func(t *testing.T) {
			p := startHelper(t, c.words, nil)
			url := urlOf(t, p)
			must.Equal(t, url[:len(c.want)], c.want)
			must.Equal(t, urlOf(t, p), url)
			resp := must.Get(http.Get(url + cardPaths[0]))(t)
			must.Equal(t, resp.StatusCode, 200)
			resp.Body.Close()
			must.Do(t, p.stop())
			_, err := p.find(t.Context(), nil)
			must.True(t, err != nil && !strings.Contains(err.Error(), "before it had a card"), "afterwards", err)
			must.Do(t, p.stop()) // twice
		})
	}
}

func TestEndsBeforeItHasACard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ words, want string }{
		{`"say=npm: no network" say=bye exit=3`, `" ended with status 3 before it had a card; its last words: npm: no network | bye`},
		{`exit=0`, `" ended with status 0 before it had a card; it printed nothing`},
		{`die`, `" ended with status 137 (killed) before it had a card; it printed nothing`},
	} {
		p := startHelper(t, c.words, nil)
		_, err := p.find(t.Context(), nil)
		must.Fail(t, err, `agent: "agentproc.test …`+c.want, c.words)
	}

	p := &process{done: make(chan struct{})}
	must.Do(t, p.start(&Options{Command: "no-such-program-here"}, func() {}))
	_, err := p.find(t.Context(), nil)
	must.Has(t, fmt.Sprint(err), `"no-such-program-here" ended with status 127`, "not found")
}

// An agent that announces the address of another server, and ends, was not found there:
// Gemini's server does that if its port is taken.
func TestSettle(t *testing.T) {
	for lives, want := range map[time.Duration]bool{settle - 1: false, settle: true} {
		synctest.Test(t, func(t *testing.T) {
			p := process{finder: newFinder("1")}
			p.finder.client.Transport = others{}
			p.finder.add("http://localhost:2")
			time.Sleep(lives)
			synctest.Wait()
			p.finder.stop()
			must.Equal(t, p.isFound(), want, lives)
		})
	}
}

// others are servers with a card.
type others struct{}

func (others) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	serveCard(w, r)
	return w.Result(), nil
}

func TestEnvironment(t *testing.T) {
	t.Setenv("A2ASTDIO_HEADER", "secret")
	t.Setenv("PORT", "3000")
	var log logBuffer
	p := startHelper(t, "env=PORT env=CODER_AGENT_PORT env=A2ASTDIO_HEADER env=X say={port} exit=0", func(o *Options) {
		o.Command = "X='a b' CODER_AGENT_PORT=1{port} " + o.Command
		o.Print = log.print
	})
	<-p.done
	lines := strings.Split(log.String(), "\n")
	port := lines[4]
	want := []string{"PORT is " + port, "CODER_AGENT_PORT is 1" + port, "A2ASTDIO_HEADER is ", "X is a b", port, ""}
	must.Equal(t, lines, want)
}

// The supervisor ignores what a terminal sends to a group, and obeys SIGTERM.
func TestSupervisorSignals(t *testing.T) {
	p := startHelper(t, "serve={port}", nil)
	urlOf(t, p)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE} {
		_ = syscall.Kill(p.cmd.Process.Pid, s)
	}
	must.Equal(t, p.endsWithin(100*time.Millisecond), false)
	_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
	must.Equal(t, p.endsWithin(time.Minute), true, "after SIGTERM")
}

func TestOutput(t *testing.T) {
	var urls []string
	o := &output{watch: func(u string) { urls = append(urls, u) }}
	for _, s := range []string{
		"listening on http://local", "host:30", "00/\r\n", "http://[::1]:1/a/b. and http://0.0.0.0:2\n",
		"card: http://127.0.0.1:3/x/.well-known/agent-card.json?y=1\n", "\x1b[1mhttp://localhost:\x1b[32m4\x1b[0m/\n",
		"http://example.com:5 https://localhost:6 http://localhost http://localhost.evil:8\n", "http://localhost:7",
		strings.Repeat("x", 3*maxLine), "\nend\x00\x1b[0m\n\n\x1b[?25h",
	} {
		o.Write([]byte(s))
	}
	want := "http://localhost:3000 http://[::1]:1/a/b http://[::1]:1 http://127.0.0.1:2 http://127.0.0.1:3/x http://127.0.0.1:3 http://localhost:4 http://localhost:7"
	// The last is at the end of a line that is too long: its digits are known.
	got := strings.Join(urls, " ")
	must.True(t, got == want || got == strings.TrimSuffix(want, " http://localhost:7"), got, want)
	words := o.lastWords()
	must.True(t, strings.HasPrefix(words, "xxx") && len(words) <= maxWords+8, words)
	for range 1000 {
		o.Write(bytes.Repeat([]byte("y"), 1000))
	}
	if cap(o.tail) > 8*maxTail || cap(o.line) > 2*maxLine {
		t.Errorf("it keeps %d and %d bytes", cap(o.tail), cap(o.line))
	}
}

// The directory made for the agent is removed if the bridge is killed. A bridge that
// ends the agent, or whose agent has ended, removes it itself.
func TestRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		words, order string
		gone         bool
	}{
		"the bridge is killed":            {"say=up", "", true},
		"… and the agent is stubborn":     {"stubborn say=up", "", true},
		"the agent is stopped":            {"say=up", "0\n", false},
		"the agent has ended, or crashed": {"say=up exit=1", "wait", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "made")
			must.Do(t, os.MkdirAll(filepath.Join(dir, "below"), 0o700))
			cmd := exec.Command(os.Args[0], append([]string{"supervise", removeWord, dir, "--", os.Args[0], "agent"}, strings.Fields(c.words)...)...)
			cmd.SysProcAttr = supervisorAttr()
			leash := must.Get(cmd.StdinPipe())(t)
			out := must.Get(cmd.StderrPipe())(t)
			must.Do(t, cmd.Start())
			must.Equal(t, must.Get(bufio.NewReader(out).ReadString('\n'))(t), "up\n")
			if c.order != "wait" {
				must.Get(io.WriteString(leash, c.order))(t)
				leash.Close()
			}
			_ = cmd.Wait() // its status is the agent's
			_, err := os.Stat(dir)
			must.Equal(t, errors.Is(err, fs.ErrNotExist), c.gone, err)
		})
	}
}
