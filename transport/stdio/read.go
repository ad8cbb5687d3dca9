package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// ReadObject reads lines, and has requests handled ([Conn.Handle]), until one is an answer to a
// request of ours, which it decodes into v. It implements [jsonrpc2.ObjectStream]: one goroutine
// calls it, the read loop.
//
// A line that is no message is answered here and never ends anything: with
// -32700 if it is not JSON, -32600 if it is not a message, -32603 if too many
// requests are open. It waits for the editor to read only if a few hundred of
// such errors are unread. At the end of input it does not return, because the
// library would close at once and lose the replies that are still owed: it
// closes [Conn.InputDone] and waits for [Conn.Close].
//
// Where JSON-RPC leaves a choice, or editors do not follow it:
//
//   - blank lines, \r\n, a BOM at the start and a last line without a newline
//     are accepted;
//   - a missing "jsonrpc" is accepted, a wrong one is not;
//   - of a key that occurs twice the last one counts, keys are compared exactly,
//     and members that JSON-RPC does not know are dropped;
//   - a request with "id":null is an error, and not a notification;
//   - "result":null and "error":null beside a method are ignored, other results
//     and errors there are an error;
//   - an error reply bears the line's id if it is a string or a number, and is not
//     an answer's; otherwise null;
//   - answers to what we did not ask, and answers to null, are dropped without
//     a word; an answer that cannot be decoded becomes an error of the call.
func (s *Conn) ReadObject(v any) error {
	if !s.started {
		deepStack(0)
	}
	for {
		if s.lines.r.Buffered() == 0 {
			// The reply to what was read last is written first. On one processor it
			// would wait until the runtime notices that reading blocks, and take two
			// to four times as long.
			runtime.Gosched()
		}
		line, whole, err := s.lines.next()
		if err != nil {
			close(s.inputDone) // once: the library reads nothing behind io.EOF
		}
		if s.closed(err != nil) {
			return io.EOF
		}
		if s.tap != nil {
			s.tap(false, line)
		}
		if !s.started {
			s.started = true
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if s.takeLine(bytes.Trim(line, " \t\r"), whole, v) {
			return nil
		}
	}
}

// deepStack makes the read loop's stack as large as decoding needs it, at once
// and while there is little on it. Growing step by step, the runtime looks up
// each function that is on it, in tables that are mapped for that: half a
// megabyte before the first answer.
//
//go:noinline
func deepStack(at int) byte {
	var frame [20 << 10]byte
	return frame[at]
}

// Unanswered notes that a request gets no reply, because the editor has cancelled it by a rule
// that wants none.
func (s *Conn) Unanswered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = max(0, s.open-1)
}

// takeLine routes a line that is a message, refuses any other, and drops a blank one. whole: the
// line is all there. It reports whether v is set.
func (s *Conn) takeLine(line []byte, whole bool, v any) bool {
	const oneALine = "send one JSON object a line"
	switch {
	case !whole:
		s.refuse(headID(line), jsonrpc2.CodeInvalidRequest, fmt.Sprintf(
			"editor: this line is longer than %d bytes: send less in one message, or the path of a file instead of the file", s.lines.max))
	case len(line) == 0:
	case !utf8.Valid(line):
		s.refuse(headID(line), jsonrpc2.CodeParseError, "editor: this line is not UTF-8: "+oneALine+", in UTF-8")
	case rawjson.TooDeep(line):
		s.refuse(headID(line), jsonrpc2.CodeInvalidRequest, fmt.Sprintf(
			"editor: this line nests deeper than %d levels: send flatter params", rawjson.MaxDepth))
	case !gjson.ValidBytes(line):
		err := json.Unmarshal(line, new(json.RawMessage)) // which says what is wrong
		s.refuse(headID(line), jsonrpc2.CodeParseError, fmt.Sprintf("editor: this line is not JSON: %v: %s", err, oneALine))
	case line[0] == '[':
		s.refuse("null", jsonrpc2.CodeInvalidRequest, "editor: batches are not part of this protocol: send one message a line")
	case line[0] != '{':
		s.refuse("null", jsonrpc2.CodeInvalidRequest, "editor: this line is JSON, but not an object: "+oneALine)
	default:
		return s.route(parseMessage(line), v)
	}
	return false
}

// refuse queues an error reply to the request of that id, JSON or null. It waits while too many
// of them are unread.
func (s *Conn) refuse(id string, code int, text string) {
	quoted, _ := rawjson.Marshal(text) // a string always encodes
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, quoted)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outbox.refusals >= maxRefusals {
		s.mu.Unlock()
		_ = s.Flush(context.Background()) // if it fails, so does what follows
		s.mu.Lock()
	}
	if s.queueLocked(line) == nil {
		s.outbox.refusals++
	}
}

const (
	// lineBuffer holds all but the lines that carry whole files; one read call
	// fills it with whatever the editor has written at once.
	lineBuffer = 64 << 10

	// keepLine is how large a buffer for one long line, or one large batch, may
	// be and still be kept for the next one. Editors paste images now and then;
	// the megabytes of one should not stay for the rest of the session.
	keepLine = 1 << 20

	// lineHead is how much is kept of a line that is too long, to find its id in:
	// clients write the id first or right after the method.
	lineHead = 4 << 10
)

// A lineReader splits input at newlines, and holds one line at a time.
type lineReader struct {
	r   *bufio.Reader
	max int
	// long collects a line that does not fit into r's buffer.
	long []byte
	// err is how the input ended; some readers would block if asked again.
	err error
}

// next returns the next line without its newline; it is valid until the next
// call. If the line is longer than the limit, whole is false and line is only
// its head. What is left at the end of input counts as a line, because
// printf '{…}' | a2astdio ends without a newline.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	if cap(l.long) > keepLine {
		l.long = nil
	}
	l.long = l.long[:0]
	if l.err != nil {
		return nil, false, l.err
	}
	for length := 0; ; {
		part, err := l.r.ReadSlice('\n')
		part, ended := bytes.CutSuffix(part, []byte("\n"))
		if err != nil && err != bufio.ErrBufferFull {
			l.err, ended = err, true
		}
		length += len(part)
		switch {
		case ended && length == 0 && l.err != nil:
			return nil, false, l.err
		case ended && length == len(part) && length <= l.max:
			return part, true, nil
		case length <= l.max:
			l.grow(len(part))
			l.long = append(l.long, part...)
		default:
			l.long = append(l.long, part[:min(len(part), max(0, lineHead-len(l.long)))]...)
			if len(l.long) > lineHead {
				// The bytes after the head are given back now, and not when the
				// line ends.
				l.long = slices.Clone(l.long[:lineHead])
			}
		}
		if ended {
			return l.long, length <= l.max, nil
		}
	}
}

// grow makes room in long for n bytes. It doubles, but never far past the limit: append would
// allocate five times the length of a long line on the way to it.
func (l *lineReader) grow(n int) {
	if need := len(l.long) + n; need > cap(l.long) {
		grown := make([]byte, len(l.long), max(need, min(2*cap(l.long), l.max)))
		copy(grown, l.long)
		l.long = grown
	}
}
