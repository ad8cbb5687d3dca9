package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// An outbox is what awaits the writer, in order.
type outbox struct {
	bytes    []byte
	messages int
	replies  int // of requests that were open
	refusals int // error replies of our own to bad lines
}

// Reply queues the result of a request that was handled: see [Conn.Handle]. It never waits
// for stdout, like Fail and Notify. The list is bounded by the editor's open requests and our
// own; notifications, of which there is no such bound, belong to [Conn.Send].
func (s *Conn) Reply(id ID, result any) error { return s.reply(id, "result", result) }

// Fail queues the error of a request.
func (s *Conn) Fail(id ID, e *Error) error { return s.reply(id, "error", e) }

func (s *Conn) reply(id ID, member string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.queueLocked(fmt.Appendf(nil, `{"id":%s,"%s":%s,"jsonrpc":"2.0"}`, id, member, clean(raw))); err != nil {
		return err
	}
	s.list.replies++
	return nil
}

// Notify queues a notification, which should be a rare one.
func (s *Conn) Notify(method string, params any) error {
	line, err := request("", method, params)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queueLocked(line)
}

// request writes a request of ours, or a notification.
func request(id ID, method string, params any) ([]byte, error) {
	line, err := json.Marshal(&struct {
		ID      json.RawMessage `json:"id,omitempty"`
		Version string          `json:"jsonrpc"`
		Method  string          `json:"method"`
		Params  any             `json:"params,omitempty"`
	}{json.RawMessage(id), "2.0", method, params})
	return clean(line), err
}

// queueLocked appends line to the list.
func (s *Conn) queueLocked(line []byte) error {
	if err := s.errClosedLocked(); err != nil {
		return err
	}
	s.list.bytes = append(append(s.list.bytes, line...), '\n')
	s.list.messages++
	s.queued++
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
func (s *Conn) Blocked() bool { return s.pace != nil || s.blocked.Load() }

// write is the goroutine that owns stdout.
func (s *Conn) write() {
	for {
		select {
		case <-s.wake:
			if s.drain(nil) != nil {
				return
			}
		case b := <-s.batches:
			err := s.drain(b)
			b.done <- err
			if err != nil {
				return
			}
		case <-s.closed:
			// Nothing can be queued any more, so once is enough.
			_ = s.drain(nil) // OutputDone and Flush tell
			return
		}
	}
}

// drain writes the list and then b, in one call: a small event and a reply
// together cost one wake-up of the editor.
func (s *Conn) drain(b *batch) error {
	s.mu.Lock()
	if b == nil && s.list.messages == 0 {
		s.mu.Unlock()
		return nil
	}
	taken := s.list
	s.list = outbox{bytes: s.spare[:0]}
	s.spare = nil
	if b != nil {
		taken.messages++
		s.queued++
	}
	s.mu.Unlock()

	data := taken.bytes
	switch {
	case b == nil:
	case len(data) == 0:
		data = b.lines
	default:
		data = append(data, b.lines...)
		taken.bytes = data
	}
	if s.tap != nil {
		for line := range bytes.Lines(data) {
			s.tap(true, line[:len(line)-1])
		}
	}
	began := time.Now()
	n, err := s.out.Write(data)
	s.blocked.Store(time.Since(began) >= slowWrite)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(taken.bytes) <= keepLine {
		s.spare = taken.bytes
	}
	s.open = max(0, s.open-taken.replies)
	s.refused -= taken.refusals
	if s.progress != nil {
		close(s.progress)
		s.progress = nil
	}
	if err != nil {
		s.failure = err
		s.list = outbox{}
		close(s.outputDone)
		return s.errClosedLocked()
	}
	s.written += uint64(taken.messages)
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
