//go:build unix

package agentproc

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// The test binary plays all parts: supervisor, agents, and the killed bridge.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "supervise":
			os.Exit(Supervise(os.Args[2:], os.Stdin, os.Stderr))
		case "agent":
			playAgent(os.Args[2:])
		case "bridge":
			playBridge(os.Args[2])
		}
	}
	// With the race detector a program takes a second to end by default.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	code := m.Run()
	if code == 0 && leaked() {
		code = 1
	}
	os.Exit(code)
}

// playAgent does what the words say, in their order, and then stays.
func playAgent(words []string) {
	for _, word := range words {
		verb, arg, _ := strings.Cut(word, "=")
		switch verb {
		case "say":
			fmt.Fprintln(os.Stderr, arg)
		case "env":
			fmt.Println(arg, "is", os.Getenv(arg))
		case "exit":
			var status int
			fmt.Sscan(arg, &status)
			os.Exit(status)
		case "die":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "after":
			d, _ := time.ParseDuration(arg)
			time.Sleep(d)
		case "get": // which takes as long as the answer
			if resp, err := http.Get(arg); err == nil {
				resp.Body.Close()
			}
		case "stubborn":
			signal.Ignore(syscall.SIGTERM)
		case "serve": // a port, 0 for any, which is printed
			l, err := net.Listen("tcp", net.JoinHostPort("localhost", arg))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if arg == "0" {
				_, port, _ := net.SplitHostPort(l.Addr().String())
				fmt.Printf("[CoreAgent] Agent Server started on \x1b[32mhttp://localhost:%s\x1b[0m\n", port)
			}
			go http.Serve(l, http.HandlerFunc(serveCard))
		case "spawn": // as npx does
			spawn(false, arg)
		case "detach": // in a session of its own, as a shell tool does
			spawn(true, arg)
		case "daemon": // forked twice, so that it has no parent of ours
			spawn(true, "detach="+arg, "exit=0")
		}
	}
	time.Sleep(time.Hour)
}

func serveCard(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/exit":
		os.Exit(0)
	case cardPaths[0]:
		fmt.Fprint(w, `{"name":"helper"}`)
	default:
		http.NotFound(w, r)
	}
}

func spawn(session bool, words ...string) {
	c := exec.Command(os.Args[0], append([]string{"agent"}, words...)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// playBridge starts an agent, says where it is, and waits to be killed.
func playBridge(command string) {
	p := &process{done: make(chan struct{})}
	if err := p.start(&Options{Command: command}, func() {}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	url, err := p.find(context.Background(), nil)
	fmt.Println(p.cmd.Process.Pid, url, err)
	time.Sleep(time.Hour)
}

// leaked reports whether a goroutine of the package is still there.
func leaked() bool {
	buf := make([]byte, 1<<20)
	for range 100 {
		stacks := string(buf[:runtime.Stack(buf, true)])
		if strings.Count(stacks, "internal/agentproc.") == strings.Count(stacks, "agentproc.leaked")+strings.Count(stacks, "agentproc.TestMain") {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("goroutines are left:\n%s", buf[:runtime.Stack(buf, true)])
	return true
}

// gone waits until nobody serves a URL.
func gone(t *testing.T, url string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get(url)
		if err != nil {
			return
		}
		resp.Body.Close()
	}
	t.Errorf("%s is still served", url)
}

// newGate returns the URL of something that an agent gets when the test opens it.
func newGate(t *testing.T) (url string, open func()) {
	ctx, open := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ctx.Done() }))
	t.Cleanup(server.Close) // behind the end of t.Context
	return server.URL, open
}

// A bridge that is killed takes the agent's child with it, which serves; so does an agent
// that ends by itself, and Stop, however stubborn they are.
func TestNoOrphans(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"serve={port}", "spawn=serve={port}", "stubborn spawn=serve={port}"} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			bridge := exec.Command(os.Args[0], "bridge", helperCommand(words))
			out := must.Get(bridge.StdoutPipe())(t)
			must.Do(t, bridge.Start())
			var pid int
			var url string
			line, _ := bufio.NewReader(out).ReadString('\n')
			must.Get(fmt.Sscan(line, &pid, &url))(t)
			_ = bridge.Process.Kill()
			_ = bridge.Wait()
			gone(t, url)
		})
	}
	gate, open := newGate(t)
	p := startHelper(t, "spawn=serve={port} get="+gate+" exit=0", nil)
	url := urlOf(t, p)
	open()
	<-p.done
	gone(t, url)
	p = startHelper(t, "stubborn spawn=serve={port}", nil)
	url = urlOf(t, p)
	must.Do(t, p.stop())
	gone(t, url)
}
