package stdio

import (
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

func (w *writer) all() string { return strings.Join(w.writes, "") }

// blocked is a connection that reads what in has, and whose editor reads nothing until the gate is closed.
func blocked(in io.Reader) (*Conn, *writer) {
	w := &writer{gate: make(chan struct{})}
	return NewConn(in, w, nil), w
}

func TestOrder(t *testing.T) {
	const want = "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\na\nb\n{\"id\":4}\n"
	for range 50 { // the writer may wake up for the batch or for the outbox
		synctest.Test(t, func(t *testing.T) {
			s, w := blocked(strings.NewReader(""))
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
			must.Equal(t, w.all(), want)
		})
	}
}

// A Send that is given up at the end of the connection does not say that its lines were written.
func TestSendGivenUpAtTheEnd(t *testing.T) {
	for range 50 { // which of the two it hears of first is open
		synctest.Test(t, func(t *testing.T) {
			s, w := blocked(strings.NewReader(""))
			must.Do(t, s.WriteObject(reply{1}))
			synctest.Wait() // the writer is stuck with 1
			ctx, give := context.WithCancel(t.Context())
			sent := make(chan error)
			go func() { sent <- s.Send(ctx, []byte("never\n")) }() // ends below, when it is received
			synctest.Wait()
			give()
			must.Do(t, s.Close())
			must.Equal(t, <-sent != nil, true)
			close(w.gate)
		})
	}
}

func TestSendCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := blocked(strings.NewReader(""))
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
		for range 2 {
			must.Equal(t, s.Send(ctx, []byte("never\n")), context.DeadlineExceeded)
		}

		close(w.gate)
		must.Do(t, s.Send(t.Context(), []byte("no newline")))
		must.Do(t, s.Send(t.Context(), nil))
		must.Equal(t, w.all(), "taken\nno newline\n")
	})
}

func TestBlockedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, editor := io.Pipe()
		s, w := blocked(in)
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
		must.Equal(t, s.Flush(ctx), context.DeadlineExceeded)
		conn.Close()
		must.Equal(t, s.Send(t.Context(), []byte("x\n")), errClosed)
		must.Equal(t, s.WriteObject(reply{1}), errClosed)

		// The editor reads at last, and gets the replies from before Close.
		close(w.gate)
		must.Do(t, s.Flush(t.Context()))
		must.Equal(t, strings.Count(w.all(), "\n"), 500, "replies")
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
		for name, err := range map[string]error{
			"the one that was being written": <-sent,
			"the one that waited":            <-sent,
			"WriteObject":                    s.WriteObject(reply{2}),
			"Send":                           s.Send(t.Context(), []byte("x\n")),
			"Flush":                          s.Flush(t.Context()),
		} {
			if !errors.Is(err, errClosed) || err.Error() != "editor: connection closed: writing to it: broken pipe" {
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
		s, w := blocked(in)
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
		must.Equal(t, fmt.Sprint(ids), "[1 2 5]", "admitted")
		const refused = `,"error":{"code":-32603,"message":"editor: 2 requests are open, which is the limit: wait for replies before sending more"}}` + "\n"
		must.Equal(t, w.all(), `{"jsonrpc":"2.0","id":3`+refused+`{"id":1,"result":"ok","jsonrpc":"2.0"}`+"\n"+`{"jsonrpc":"2.0","id":4`+refused+
			"{}\n"+`{"jsonrpc":"2.0","method":"n"}`+"\n"+`{"jsonrpc":"2.0","id":6`+refused)
	})
}

// The bridge stops reading from an editor that sends garbage and reads nothing.
func TestGarbageIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, editor := io.Pipe()
		s, w := blocked(in)
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
		must.Equal(t, lines.Load(), maxRefusals+1, "lines were read")
		before := lines.Load()
		for range 2 { // the editor reads the first error, and those in the outbox: as many lines are read
			w.gate <- struct{}{}
			synctest.Wait()
		}
		more := lines.Load() - before // and those that the writer has taken by then: one, or all
		must.True(t, maxRefusals < more && more <= 2*maxRefusals+1, more, "more lines were read")
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
	must.Equal(t, in, []string{"\ufeff{\"id\":  1.0,\"method\":\"m\"}\r", "", "bad", strings.Repeat("x", 200)})
	must.Equal(t, out[2:], []string{`{"a": 1}`, "", "{}"})
}
