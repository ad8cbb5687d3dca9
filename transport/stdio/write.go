package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// An outbox holds the replies, and our own requests, that await the writer.
type outbox struct {
	bytes    []byte // their lines, in order
	replies  int    // of requests that were open
	refusals int    // error replies of our own to bad lines
}

// WriteObject queues v, which must encode as a JSON object, as one line. It
// implements [jsonrpc2.ObjectStream], for our own requests and notifications, and never
// waits for stdout. The outbox is bounded by the editor's open requests and our own;
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
	s.outbox.replies++
	return nil
}

// queueLocked appends line to the outbox, or returns why nothing can be written.
func (s *Conn) queueLocked(line []byte) error {
	if err := s.errClosedLocked(); err != nil {
		return err
	}
	s.outbox.bytes = append(append(s.outbox.bytes, line...), '\n')
	s.queued++
	s.changed.Broadcast()
	return nil
}

// A batch is what a Send hands to the writer at once. It is a copy: the writer may
// still be at it when the Send has given up.
type batch struct {
	lines []byte
	done  chan error // has room for its one value, so that nobody waits to end a batch
}

// Send hands complete lines, each with its newline, to the writer and returns
// when they have been written. They come after everything that WriteObject
// queued before, and before everything that it queues after Send has returned;
// nothing comes between them. That they are JSON-RPC is the caller's promise.
//
// The lines are copied, so the buffer is the caller's again when Send returns,
// in every case. What became of the lines:
//
//   - nil: they are written, or, if ctx ended while they were being written,
//     they are with the writer and will be, in their order.
//   - ctx's error: the writer did not get them; nothing of them is ever written.
//   - another error: after Close, or because a write failed; they may have been
//     written in part.
//
// More than 1 MiB is handed over line by line, or it would take its size twice; with a
// limit to lines a second everything is, or they would come together. Replies may come
// between those lines then, and if ctx ends, the lines that the writer has already got are
// written all the same.
func (s *Conn) Send(ctx context.Context, lines []byte) error {
	for len(lines) > keepLine || s.pause > 0 {
		end := bytes.IndexByte(lines, '\n') + 1
		if end == 0 || end == len(lines) {
			break
		}
		if err := s.sendBatch(ctx, lines[:end]); err != nil {
			return err
		}
		lines = lines[end:]
	}
	return s.sendBatch(ctx, lines)
}

// sendBatch is [Conn.Send] for lines that are handed over at once.
func (s *Conn) sendBatch(ctx context.Context, lines []byte) error {
	if err := ctx.Err(); err != nil || len(lines) == 0 {
		return err
	}
	b, ok := s.pool.Get().(*batch)
	if !ok {
		b = &batch{done: make(chan error, 1)}
	}
	b.lines = append(b.lines[:0], lines...)
	if lines[len(lines)-1] != '\n' {
		b.lines = append(b.lines, '\n')
	}
	var err error
	s.change(func() {
		if err = s.errClosedLocked(); err == nil {
			s.batches = append(s.batches, b)
		}
	})
	if err != nil {
		return err
	}
	select {
	case err := <-b.done:
		if err == nil && cap(b.lines) <= 2*keepLine { // else it may still be with the writer
			s.pool.Put(b)
		}
		return err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.batches, b)
	select {
	case err := <-b.done: // it was ended just then
		return err
	default:
	}
	if i < 0 {
		return nil // the writer has it
	}
	s.batches = slices.Delete(s.batches, i, i+1)
	return ctx.Err()
}

// Flush waits until everything that was queued when it was called is written,
// and returns nil; or ctx's error; or another if a write failed. It may be
// called after Close.
func (s *Conn) Flush(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.change(func() {}) })()
	s.mu.Lock()
	defer s.mu.Unlock()
	for upTo := s.queued; s.failure == nil; s.changed.Wait() {
		switch err := ctx.Err(); {
		case s.written >= upTo:
			return nil
		case err != nil:
			return err
		}
	}
	return s.errClosedLocked()
}

// slowWrite is the least time that a write takes if it has waited for the editor: a
// pipe with room takes microseconds, and a busy machine rarely this long.
const slowWrite = 5 * time.Millisecond

// Blocked reports whether the editor is behind: the last write had to wait for it, or
// there is a limit to lines a second.
func (s *Conn) Blocked() bool { return s.pause > 0 || s.blocked.Load() }

// write is the goroutine that owns stdout.
func (s *Conn) write() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.failure == nil {
		switch {
		case len(s.outbox.bytes) > 0, len(s.batches) > 0 && !s.pausing:
			s.writeLocked()
		case s.closing: // nothing can be queued any more
			return
		default:
			s.changed.Wait()
		}
	}
}

// writeLocked writes the outbox and then the next batch, if that need not wait, in one call: a
// small event and a reply together cost one wake-up of the editor. It ends all if that fails.
func (s *Conn) writeLocked() {
	out := s.outbox
	s.outbox = outbox{}
	data := out.bytes
	if len(s.batches) > 0 && !s.pausing {
		s.writing = s.batches[0]
		s.batches = slices.Delete(s.batches, 0, 1)
		if len(data) == 0 {
			data = s.writing.lines
		} else {
			data = append(data, s.writing.lines...)
		}
		s.queued++
		s.pauseLocked()
	}
	upTo := s.queued
	err := s.putLocked(data)
	s.open = max(0, s.open-out.replies)
	s.written = upTo
	if err != nil {
		s.failure, s.outbox = err, outbox{}
		close(s.outputDone)
		s.endLocked()
	}
	if s.writing != nil {
		s.writing.done <- nil
		s.writing = nil
	}
	s.changed.Broadcast()
}

// putLocked writes data. It gives mu up meanwhile.
func (s *Conn) putLocked(data []byte) error {
	s.mu.Unlock()
	defer s.mu.Lock()
	if s.tap != nil {
		for line := range bytes.Lines(data) {
			s.tap(true, line[:len(line)-1])
		}
	}
	began := time.Now()
	_, err := s.out.Write(data)
	s.blocked.Store(time.Since(began) >= slowWrite)
	return err
}

// pauseLocked has the next batch wait, if there is a limit to lines a second.
func (s *Conn) pauseLocked() {
	if s.pausing = s.pause > 0; s.pausing {
		time.AfterFunc(s.pause, func() { s.change(func() { s.pausing = false }) })
	}
}

// clean returns what encoding/json wrote without its escapes of <, > and & for the sake of browsers,
// and in UTF-8. A diff in a permission request should read in a trace as it reads in the file, and the
// library's types escape for themselves. Results of an agent pass through as they are.
func clean(line []byte) []byte {
	if bytes.Contains(line, []byte(`\u00`)) {
		// Both bytes of an escaped backslash, so that \\u003c stays what it is.
		line = []byte(strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(line)))
	}
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	return line
}
