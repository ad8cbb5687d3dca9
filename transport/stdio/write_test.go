package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A reply is the value that WriteObject gets in most of these tests.
type reply struct {
	ID int `json:"id"`
}

// writer records each Write. If there is a gate, a Write waits for the editor.
type writer struct {
	gate   chan struct{}
	writes []string
}

func (w *writer) Write(p []byte) (int, error) {
	if w.gate != nil {
		<-w.gate
	}
	w.writes = append(w.writes, string(p))
	return len(p), nil
}

func TestOrder(t *testing.T) {
	const want = "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\na\nb\n{\"id\":4}\n"
	for range 50 { // the writer may wake up for the batch or for the list
		synctest.Test(t, func(t *testing.T) {
			w := &writer{gate: make(chan struct{})}
			s := NewConn(strings.NewReader(""), w, nil)
			defer s.Close()

			must.Do(t, s.WriteObject(reply{1}))
			synctest.Wait() // the writer is stuck with 1
			sent := make(chan error)
			go func() { sent <- s.Send(t.Context(), []byte("a\nb\n")) }() // ends below, when it is received
			synctest.Wait()                                               // Send waits for the writer
			must.Do(t, s.WriteObject(reply{2}))
			must.Do(t, s.WriteObject(reply{3}))
			close(w.gate)
			must.Do(t, <-sent)
			must.Do(t, s.WriteObject(reply{4}))
			must.Do(t, s.Flush(t.Context()))
			if got := strings.Join(w.writes, ""); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// Close does not wait, but loses nothing that the editor reads.
func TestCloseWritesWhatIsOwed(t *testing.T) {
	for range 50 { // the writer may wake up for Close or for the list
		synctest.Test(t, func(t *testing.T) {
			w := &writer{}
			s := NewConn(strings.NewReader(""), w, nil)
			must.Do(t, s.WriteObject(reply{1}))
			must.Do(t, s.Close())
			synctest.Wait()
			if got := strings.Join(w.writes, ""); got != "{\"id\":1}\n" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestSendCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{gate: make(chan struct{})}
		s := NewConn(strings.NewReader(""), w, nil)
		defer s.Close()

		// Taken by the writer when ctx ends: it will be written, as it was.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		buf := []byte("taken\n")
		must.Do(t, s.Send(ctx, buf))
		copy(buf, "xxxxx\n")

		// Not taken when ctx ends: it will never be written.
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Send(ctx, []byte("never\n")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := s.Send(ctx, []byte("never\n")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}

		close(w.gate)
		must.Do(t, s.Send(t.Context(), []byte("no newline")))
		must.Do(t, s.Send(t.Context(), nil))
		if got := strings.Join(w.writes, ""); got != "taken\nno newline\n" {
			t.Errorf("got %q", got)
		}
	})
}

func TestBlockedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, editor := io.Pipe()
		w := &writer{gate: make(chan struct{})}
		s := NewConn(in, w, nil)
		var seen []string
		conn := rpcConn(t.Context(), s, func(id ID, method string, params json.RawMessage) {
			seen = append(seen, method)
			s.echo(id, method, params)
		})
		// The editor writes on although it does not read: all of it is taken.
		for i := range 500 {
			fmt.Fprintf(editor, `{"id":%d,"method":"m"}`+"\n", i)
		}
		io.WriteString(editor, `{"method":"cancel"}`+"\n")
		synctest.Wait()
		if len(seen) != 501 || seen[500] != "cancel" {
			t.Errorf("saw %d messages", len(seen))
		}

		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if err := s.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: %v", err)
		}
		conn.Close()
		if err := s.Send(t.Context(), []byte("x\n")); !errors.Is(err, errClosed) {
			t.Errorf("Send: %v", err)
		}
		if err := s.WriteObject(reply{1}); !errors.Is(err, errClosed) {
			t.Errorf("WriteObject: %v", err)
		}

		// The editor reads at last, and gets the replies from before Close.
		close(w.gate)
		must.Do(t, s.Flush(t.Context()))
		if got := strings.Count(strings.Join(w.writes, ""), "\n"); got != 500 {
			t.Errorf("%d replies", got)
		}
		editor.Close()
	})
}

func TestOutputFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, editor := io.Pipe()
		out, w := io.Pipe()
		s := NewConn(in, w, nil)
		conn := rpcConn(t.Context(), s, s.echo)
		sent := make(chan error, 2)
		for range 2 {
			go func() { sent <- s.Send(t.Context(), []byte("x\n")) }() // ends when the write fails
		}
		synctest.Wait()
		must.Do(t, s.WriteObject(reply{1}))
		for range maxRefusals {
			io.WriteString(editor, "bad\n")
		}
		synctest.Wait()
		out.CloseWithError(errors.New("broken pipe"))
		<-s.OutputDone()
		const want = "editor: connection closed: writing to it: broken pipe"
		for range 2 {
			if err := <-sent; !errors.Is(err, errClosed) || err.Error() != want {
				t.Errorf("Send: %v", err)
			}
		}
		for name, err := range map[string]error{
			"WriteObject": s.WriteObject(reply{2}),
			"Send":        s.Send(t.Context(), []byte("x\n")),
			"Flush":       s.Flush(t.Context()),
		} {
			if !errors.Is(err, errClosed) || err.Error() != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		// Input is still read: its end is how the bridge learns the rest.
		for range 2 * maxRefusals {
			io.WriteString(editor, "bad\n")
		}
		editor.Close()
		<-s.InputDone()
		conn.Close()
	})
}

func TestMaxOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, editor := io.Pipe()
		defer editor.Close()
		w := &writer{gate: make(chan struct{})}
		s := NewConn(in, w, nil)
		s.maxOpen = 2
		var ids []ID
		conn := rpcConn(t.Context(), s, func(id ID, _ string, _ json.RawMessage) {
			if id != "" {
				ids = append(ids, id)
			}
		})
		defer conn.Close()
		ask := func(id int) { fmt.Fprintf(editor, `{"id":%d,"method":"m"}`+"\n", id) }
		ask(1)
		ask(2)
		ask(3) // one too many
		io.WriteString(editor, `{"method":"cancel"}`+"\n")
		synctest.Wait()
		must.Do(t, s.Reply(ids[0], "ok"))
		ask(4) // still: the reply has not been written
		synctest.Wait()
		close(w.gate)
		synctest.Wait()
		ask(5)
		synctest.Wait()
		// Only a reply makes room.
		must.Do(t, s.Send(t.Context(), []byte("{}\n")))
		must.Do(t, conn.Notify(t.Context(), "n", nil))
		must.Do(t, s.Flush(t.Context()))
		ask(6)
		synctest.Wait()
		if got := fmt.Sprint(ids); got != "[1 2 5]" {
			t.Errorf("admitted %s", got)
		}
		const refused = `,"error":{"code":-32603,"message":"editor: 2 requests are open, which is the limit: wait for replies before sending more"}}` + "\n"
		got, want := strings.Join(w.writes, ""), `{"jsonrpc":"2.0","id":3`+refused+`{"id":1,"result":"ok","jsonrpc":"2.0"}`+"\n"+`{"jsonrpc":"2.0","id":4`+refused+
			"{}\n"+`{"jsonrpc":"2.0","method":"n"}`+"\n"+`{"jsonrpc":"2.0","id":6`+refused
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestRepliesOutliveInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := NewConn(strings.NewReader(`{"id":1,"method":"m"}`), &out, nil)
		conn := rpcConn(t.Context(), s, func(id ID, _ string, _ json.RawMessage) {
			// Ends after the reply, a minute from now.
			go func() {
				time.Sleep(time.Minute)
				s.Reply(id, "late")
			}()
		})
		<-s.InputDone()
		time.Sleep(time.Hour)
		select {
		case <-conn.DisconnectNotify():
			t.Error("the end of input closed the connection")
		default:
		}
		must.Do(t, s.Flush(t.Context()))
		conn.Close()
		if got := out.String(); got != `{"id":1,"result":"late","jsonrpc":"2.0"}`+"\n" {
			t.Errorf("got %q", got)
		}
	})
}

// The bridge stops reading from an editor that sends garbage and reads nothing.
func TestGarbageIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, editor := io.Pipe()
		w := &writer{gate: make(chan struct{})}
		s := NewConn(in, w, nil)
		conn := rpcConn(t.Context(), s, s.echo)
		io.WriteString(editor, "bad\n")
		synctest.Wait() // the writer is stuck with one error
		var lines atomic.Int32
		go func() { // ends when the pipe is closed
			for {
				if _, err := io.WriteString(editor, "bad\n"); err != nil {
					return
				}
				lines.Add(1)
			}
		}()
		synctest.Wait()
		if n := lines.Load(); n != maxRefusals+1 {
			t.Errorf("%d lines were read", n)
		}
		before := lines.Load()
		for range 2 { // the editor reads the first error, and those in the list: as many lines are read
			w.gate <- struct{}{}
			synctest.Wait()
		}
		if n := lines.Load() - before; n != maxRefusals+1 {
			t.Errorf("%d more lines were read", n)
		}
		conn.Close()
		in.Close()
		close(w.gate)
	})
}

func TestTap(t *testing.T) {
	var in, out []string
	tap := func(toEditor bool, line []byte) {
		if toEditor {
			out = append(out, string(line))
		} else {
			in = append(in, string(line))
		}
	}
	s := NewConn(strings.NewReader("\ufeff{\"id\":  1.0,\"method\":\"m\"}\r\n\nbad\n"+strings.Repeat("x", 200)+"\n"), io.Discard, &Options{Tap: tap})
	s.lines.max = 100
	conn := rpcConn(t.Context(), s, func(ID, string, json.RawMessage) {})
	defer conn.Close()
	<-s.InputDone()
	must.Do(t, s.Flush(t.Context()))
	must.Do(t, s.Send(t.Context(), []byte("{\"a\": 1}\n\n{}\n")))
	if got, want := fmt.Sprintf("%q", in), fmt.Sprintf("%q", []string{"\ufeff{\"id\":  1.0,\"method\":\"m\"}\r", "", "bad", strings.Repeat("x", 200)}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := fmt.Sprintf("%q", out[2:]), `["{\"a\": 1}" "" "{}"]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
