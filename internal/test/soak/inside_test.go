package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// insideName is the variable with the address for an inside.
const insideName = "SOAK_INSIDE"

// An inside is a program's report on itself.
type inside struct {
	Goroutines int
	Heap       uint64 // bytes that are in use, after a collection
	Sys        uint64 // bytes that the system has ever given to it
	Stacks     string
}

// showInside reports to the starter of this program, if that asks. Its goroutine ends
// with the process.
func showInside() {
	address := os.Getenv(insideName)
	if address == "" {
		return
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	go func() {
		for r := bufio.NewReader(conn); ; {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
			var stacks strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			_ = json.NewEncoder(conn).Encode(inside{runtime.NumGoroutine(), m.HeapAlloc, m.Sys, stacks.String()})
		}
	}()
}

// A window is the other end of showInside.
type window struct {
	listener net.Listener
	conn     net.Conn
	reader   *bufio.Reader
}

func newWindow(t *testing.T) *window {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &window{listener: l}
	t.Cleanup(func() {
		l.Close()
		if w.conn != nil {
			w.conn.Close()
		}
	})
	return w
}

func (w *window) variable() string { return insideName + "=" + w.listener.Addr().String() }

// open waits for the program to connect.
func (w *window) open(t *testing.T) {
	t.Helper()
	conn, err := w.listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w.conn, w.reader = conn, bufio.NewReader(conn)
}

func (w *window) look(t *testing.T) (in inside) {
	t.Helper()
	_ = w.conn.SetDeadline(time.Now().Add(patience))
	_, err := fmt.Fprintln(w.conn)
	if err == nil {
		err = json.NewDecoder(w.reader).Decode(&in)
	}
	if err != nil {
		t.Fatalf("the program does not say how it is: %v", err)
	}
	return in
}

// until waits until the inside is as expected. It returns the inside, and whether that
// happened.
func (w *window) until(t *testing.T, limit time.Duration, ok func(inside) bool) (inside, bool) {
	t.Helper()
	timer, tick := time.NewTimer(limit), time.NewTicker(20*time.Millisecond)
	defer timer.Stop()
	defer tick.Stop()
	for {
		in := w.look(t)
		if ok(in) {
			return in, true
		}
		select {
		case <-tick.C:
		case <-timer.C:
			return in, false
		}
	}
}
