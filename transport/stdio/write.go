package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// An outbox is what awaits the writer, in order.
type outbox struct {
	bytes    []byte
	replies  int // of requests that were open
	refusals int // error replies of our own to bad lines
}

// WriteObject queues v, which must encode as a JSON object, as one line. It
// implements [jsonrpc2.ObjectStream], for our own requests and notifications, and never
// waits for stdout. The list is bounded by the editor's open requests and our own;
// notifications, of which there is no such bound, belong to [Conn.Send].
func (s *Conn) WriteObject(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if line[0] != '{' {
		return errors.New("bridge: a message must be a JSON object")
	}
	line = clean(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queueLocked(line)
}

// Reply queues the result of a request that was handled: see [Conn.Handle]. The library's would
// encode it twice more, by reflection, which is 0.05 ms of a start, and cannot hold every ID.
func (s *Conn) Reply(id ID, result any) error { return s.reply(id, "result", result) }

// Fail queues the error of such a request, which encodes as JSON-RPC has errors.
func (s *Conn) Fail(id ID, e any) error { return s.reply(id, "error", e) }

func (s *Conn) reply(id ID, member string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line := fmt.Appendf(nil, `{"id":%s,"%s":%s,"jsonrpc":"2.0"}`, id, member, clean(raw))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.queueLocked(line); err != nil {
		return err
	}
	s.list.replies++
	return nil
}

// queueLocked appends line to the list.
func (s *Conn) queueLocked(line []byte) error {
	if err := s.errClosedLocked(); err != nil {
		return err
	}
	s.list.bytes = append(append(s.list.bytes, line...), '\n')
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// slowWrite is how long a write takes at least that has waited for the editor: a
// pipe with room takes microseconds, and a busy machine rarely this long.
const slowWrite = 5 * time.Millisecond

// Blocked reports whether the editor is behind: the last write had to wait for it, or
// there is a limit to lines a second.
func (s *Conn) Blocked() bool { return s.pause > 0 || s.blocked.Load() }

// write is the goroutine that owns stdout.
func (s *Conn) write() {
	defer close(s.ended)
	batches := s.batches
	var next <-chan time.Time // set while the next batch has to wait
	for {
		var b *batch
		select {
		case <-s.wake:
		case b = <-s.flushes:
		case b = <-batches:
			if s.pause > 0 {
				batches, next = nil, time.After(s.pause)
			}
		case <-next:
			batches, next = s.batches, nil
			continue
		case <-s.closed:
			// Nothing can be queued any more, so once is enough.
			_ = s.drain(nil) // OutputDone and Flush tell
			return
		}
		err := s.drain(b)
		if b != nil {
			b.done <- err
		}
		if err != nil {
			return
		}
	}
}

// drain writes the list and then b, in one call: a small event and a reply
// together cost one wake-up of the editor.
func (s *Conn) drain(b *batch) error {
	s.mu.Lock()
	taken := s.list
	s.list = outbox{}
	s.mu.Unlock()
	data := taken.bytes
	switch {
	case b == nil:
	case len(data) == 0:
		data = b.lines
	default:
		data = append(data, b.lines...)
	}
	if len(data) == 0 {
		return nil
	}
	if s.tap != nil {
		for line := range bytes.Lines(data) {
			s.tap(true, line[:len(line)-1])
		}
	}
	began := time.Now()
	_, err := s.out.Write(data)
	s.blocked.Store(time.Since(began) >= slowWrite)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = max(0, s.open-taken.replies)
	if err != nil {
		s.failure = err
		s.list = outbox{}
		close(s.outputDone)
		return s.errClosedLocked()
	}
	return nil
}

// clean returns JSON in UTF-8, which results of an agent need not be: they pass through as they are,
// and encoding/json does not look into them.
func clean(line []byte) []byte {
	line = unescapeHTML(line)
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	return line
}

// unescapeHTML undoes what encoding/json does to <, > and & for the sake of browsers: a
// diff in a permission request should read in a trace as it reads in the file. The
// library gives no way to ask for it.
func unescapeHTML(line []byte) []byte {
	if !bytes.Contains(line, []byte(`\u00`)) {
		return line
	}
	// Both bytes of an escaped backslash, so that \\u003c stays what it is.
	return []byte(strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(line)))
}
