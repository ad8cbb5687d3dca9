package agentproc

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// An agent prints URLs of servers that accept and stay silent; its own port answers later.
func TestFinderSilent(t *testing.T) {
	for _, n := range []int{0, 1, 2, 14} {
		port, _ := freePort()
		f := newFinder(port)
		f.addPort(port)
		for range n {
			l, _ := net.Listen("tcp", "127.0.0.1:0")
			defer l.Close()
			f.add("http://" + l.Addr().String())
		}
		time.Sleep(300 * time.Millisecond)
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"name":"x"}`) }))
		begun := time.Now()
		<-f.found
		took := time.Since(begun).Round(time.Millisecond)
		f.stop()
		l.Close()
		t.Logf("chosen port, %d silent: %v", n, took)
		if took > time.Second {
			t.Errorf("%d silent addresses: found after %v", n, took)
		}
	}
}
