//go:build unix

package agentproc

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// gone waits until nobody serves a URL.
func gone(t *testing.T, url string) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Second); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get(url)
		if err != nil {
			return
		}
		resp.Body.Close()
	}
	t.Errorf("%s is still served", url)
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
			if _, err := fmt.Sscan(line, &pid, &url); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			_ = bridge.Process.Kill()
			_ = bridge.Wait()
			gone(t, url)
		})
	}
	p := startHelper(t, "spawn=serve={port} after=2s exit=0", nil)
	url := urlOf(t, p)
	<-p.done
	gone(t, url)
	p = startHelper(t, "stubborn spawn=serve={port}", nil)
	url = urlOf(t, p)
	if err := p.stop(50 * time.Millisecond); err != nil {
		t.Error(err)
	}
	gone(t, url)
}
