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
	conn  net.Conn
	reads *json.Decoder
}

// newWindow waits for the program to connect.
func newWindow(t *testing.T, l net.Listener) *window {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &window{conn, json.NewDecoder(conn)}
}

func (w *window) look(t *testing.T) (in inside) {
	t.Helper()
	_ = w.conn.SetDeadline(time.Now().Add(patience))
	_, err := fmt.Fprintln(w.conn)
	if err == nil {
		err = w.reads.Decode(&in)
	}
	if err != nil {
		t.Fatalf("the program does not say how it is: %v", err)
	}
	return in
}

// until waits until the inside is as expected. It returns the inside, and whether that
// happened.
func (w *window) until(t *testing.T, limit time.Duration, ok func(inside) bool) (in inside, is bool) {
	t.Helper()
	is = await(limit, func() bool {
		in = w.look(t)
		return ok(in)
	})
	return in, is
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
