package stdio

import (
	"bytes"
	"context"
)

// A batch is what one Send hands to the writer. It is a copy: the writer may
// still be at it when the Send has given up.
type batch struct {
	lines []byte
	done  chan error // holds one, so that the writer never waits
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

func (s *Conn) sendBatch(ctx context.Context, lines []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.errClosed(); err != nil || len(lines) == 0 {
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
	select {
	case s.batches <- b:
	case <-ctx.Done():
		s.recycle(b)
		return ctx.Err()
	case <-s.closed:
		return s.errClosed()
	case <-s.outputDone:
		return s.errClosed()
	}
	select {
	case err := <-b.done:
		s.recycle(b)
		return err
	case <-ctx.Done():
		return nil
	case <-s.closed:
		return s.errClosed()
	}
}

// recycle keeps b for the next Send. A batch that a Send has left to the writer
// does not come back.
func (s *Conn) recycle(b *batch) {
	if cap(b.lines) <= 2*keepLine {
		s.pool.Put(b)
	}
}

// Flush waits until everything that was queued when it was called is written,
// and returns nil; or ctx's error; or another if a write failed. It may be
// called after Close.
func (s *Conn) Flush(ctx context.Context) error {
	b := &batch{done: make(chan error, 1)}
	select {
	case s.flushes <- b:
	case <-s.ended:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failure != nil {
			return s.errClosedLocked()
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-b.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
