package transport

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

const (
	// maxEvent is how large one event of a stream, or one unary answer, may be, unless the
	// options say otherwise. A file part of 48 MB in base64 fits, and Gemini's edit events
	// carry the file six times; without a limit an agent could take all memory with one line.
	maxEvent = 64 << 20
	// minBuffer is a stream's buffer from the second read on: all that http.Transport's own
	// buffer can hand over at once. With half of it there are twice as many
	// hand-overs to the editor, each of which costs as much as some ten events.
	minBuffer = 64 << 10
	// firstBuffer is for a stream's first read: the first words do not wait until a larger one is
	// made and cleared.
	firstBuffer = 4 << 10
	// keepBuffer is the size up to which a buffer that has grown is kept. Events
	// of tool calls are some 10 to 100 kB; larger ones are rare enough to
	// allocate for, and sessions that idle should not hold on to megabytes.
	keepBuffer = 256 << 10
	// keepReads is for how many reads a larger one is kept all the same: large
	// events come in rows (an edit is told five times), and growing anew for each
	// costs more than the event itself.
	keepReads = 32
	// maxFrames is how many events are handed out together. A large buffer could
	// hold millions of small ones, each of which takes some 400 bytes more decoded.
	maxFrames = 1024
	// maxEmptyReads is how often a reader may return nothing and no error.
	maxEmptyReads = 100
)

var (
	errEventSize = errors.New("the agent sent an event that is larger than the limit")
	errEventCut  = errors.New("the stream stopped in the middle of an event")
)

// A frame is one event of an event stream, as far as we look at it: a view of
// the buffer. The event's name matters only where it is "error".
type frame struct {
	data    []byte
	failure bool
	fit     fit // like is nil if that has not been tried, or there is none
}

// jsonLines is the media type of JSON objects, one a line: LiteLLM's gateway answers message/stream
// so (1.93, and before).
const jsonLines = "application/x-ndjson"

// A frameReader cuts an event stream into frames, by the WHATWG standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html): lines end
// with LF, CR or CRLF, a byte order mark at the start is skipped, an event that
// EOF cut off is discarded, but see last.
//
// There is one buffer. Frames are slices of it; the data of one with several
// data lines is moved together in place, which always fits because the joined
// data is shorter than the lines. bufio.Scanner, which was tried, cannot return
// several frames at once, and copies or re-scans large ones.
type frameReader struct {
	src io.Reader
	err error // from src; reported after what came before it

	// buf[head:end] has been read and not been handed out; head is where the
	// frame in hand begins, line its current line, and up to scan there is no
	// end of that line.
	buf                    []byte
	head, line, scan, size int

	// The frame in hand: if has is set, its data are buf[data:dataEnd].
	has           bool
	data, dataEnd int
	failure       bool

	max   int  // of an event
	lines bool // each line is an event's data: see jsonLines
	roomy int  // reads since it last held much

	begun bool // the first line is done: no byte order mark can come
	// object: the body is a JSON object, and not the event stream that it is labelled as.
	// It is handed out as one event. To an event stream its lines would be fields of
	// unknown names, and it would be empty.
	object, begunBody bool
	endsCR            bool // the last line ended with CR
	skipLF            bool // it did, and an LF may follow

	// heard, if not nil, is called for each read that brought something, a comment too.
	heard func()

	// template is what the next event is likely to look like: one that does needs no search for
	// its end. slots are those of all that were handed out together.
	template *template
	slots    []slot

	poison bool
}

func newFrameReader(src io.Reader, poison bool) *frameReader {
	return &frameReader{src: src, buf: make([]byte, firstBuffer), poison: poison, max: maxEvent}
}

// next waits for at least one frame and appends to dst all that have arrived
// with it, up to maxFrames. It reads only if none is complete in the buffer. What it returned before is overwritten.
func (r *frameReader) next(dst []frame) ([]frame, error) {
	r.slots = r.slots[:0]
	for empty := 0; ; empty++ {
		if dst = r.parse(dst); len(dst) > 0 {
			return dst, nil
		}
		if r.err == io.EOF && r.object && r.head < r.size {
			data := r.buf[r.head:r.size]
			r.head, r.line = r.size, r.size
			return append(dst, frame{data: data}), nil
		}
		if r.err == nil {
			r.err = r.makeRoom()
		}
		if r.err == nil && empty >= maxEmptyReads {
			r.err = io.ErrNoProgress
		}
		if r.err != nil {
			return nil, r.err
		}
		var n int
		if n, r.err = r.src.Read(r.buf[r.size:]); n == 0 {
			continue
		}
		if r.size, empty = r.size+n, 0; r.heard != nil {
			r.heard()
		}
	}
}

// unfinished reports whether an event was begun that has not been handed out.
func (r *frameReader) unfinished() bool {
	return r.has || r.line < r.size && r.buf[r.line] != ':'
}

// last takes an event that the end has come behind, and no blank line: handlers that join their events
// with blank lines write none behind the last. It is whole if its data are a JSON object.
func (r *frameReader) last() (f frame, ok bool) {
	if line := r.buf[r.line:r.size]; bytes.HasPrefix(line, []byte("data:")) || r.lines && len(line) > 0 {
		r.field(line, r.size)
		r.line = r.size
	}
	if !r.has || r.line < r.size || !rawjson.IsObject(rawjson.View(r.buf[r.data:r.dataEnd])) || !rawjson.Valid(r.buf[r.data:r.dataEnd]) {
		return f, false
	}
	list := r.dispatch(nil)
	return list[0], true
}

// parse handles each line that has arrived completely, up to maxFrames events.
func (r *frameReader) parse(dst []frame) []frame {
	if !r.begunBody {
		begin := bytes.TrimLeft(r.buf[r.line:r.size], " \t\r\n")
		r.begunBody = len(begin) > 0
		r.object = r.begunBody && begin[0] == '{' && !r.lines
	}
	if r.object {
		return dst
	}
	for r.line < r.size && len(dst) < maxFrames {
		if r.skipLF {
			r.skipLF = false
			if r.buf[r.line] == '\n' {
				r.startLine(r.line + 1)
				continue
			}
		}
		if r.template != nil && !r.has && r.scan == r.line && r.begun && r.likely(&dst) {
			continue
		}
		rest := r.buf[r.scan:r.size]
		// What has ended the last line is searched for first: it is near, the other may be far, and
		// a search for it at each line would take a time that grows as the square of their number.
		ends := [...]byte{'\n', '\r'}
		if r.endsCR {
			ends = [...]byte{'\r', '\n'}
		}
		n, by := -1, byte(0)
		for _, end := range ends {
			if k := bytes.IndexByte(rest, end); k >= 0 {
				n, by, rest = k, end, rest[:k]
			}
		}
		if n < 0 {
			r.scan = r.size
			return dst
		}
		r.endsCR = by == '\r'
		r.skipLF = r.endsCR
		end := r.scan + n
		if r.field(r.buf[r.line:end], end) {
			dst = r.dispatch(dst)
		}
		r.startLine(end + 1)
	}
	return dst
}

// likely takes an event that fits the template, if it is one line of data and has
// arrived with the blank line after it.
func (r *frameReader) likely(dst *[]frame) bool {
	const field = "data: "
	b := r.buf[r.line:r.size]
	if r.failure || len(b) < len(field) || string(b[:len(field)]) != field {
		return false
	}
	f, slots := r.template.fits(b[len(field):], r.slots)
	if f.template == nil {
		return false
	}
	end := len(field) + f.end
	after := 0
	switch rest := b[end:]; {
	case len(rest) >= 2 && string(rest[:2]) == "\n\n":
		after = end + 2
	case len(rest) >= 4 && string(rest[:4]) == "\r\n\r\n":
		after = end + 4
	default:
		return false
	}
	r.slots = slots
	*dst = append(*dst, frame{data: b[len(field):end:end], fit: f})
	r.template = cmp.Or(f.template.next, f.template)
	r.startLine(r.line + after)
	return true
}

func (r *frameReader) startLine(at int) {
	r.line, r.scan, r.begun = at, at, true
	if !r.has {
		r.head = at
	}
}

// dispatch ends the frame in hand.
func (r *frameReader) dispatch(dst []frame) []frame {
	if r.has {
		dst = append(dst, frame{data: r.buf[r.data:r.dataEnd:r.dataEnd], failure: r.failure})
	}
	r.has, r.failure = false, false
	return dst
}

// field takes one line, which ends before end, and reports whether that ends an event.
func (r *frameReader) field(line []byte, end int) bool {
	if len(line) == 0 || r.lines {
		if len(line) > 0 {
			r.has, r.data, r.dataEnd = true, r.line, end
		}
		return true
	}
	if !r.begun {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		start := end - len(value)
		if !r.has {
			r.has, r.data, r.dataEnd = true, start, end
			return false
		}
		r.buf[r.dataEnd] = '\n'
		r.dataEnd += 1 + copy(r.buf[r.dataEnd+1:], value)
	case "event":
		r.failure = string(value) == "error"
	}
	// Other fields are ignored: no agent resumes from an id, and the bridge decides when to
	// reconnect. A comment has an empty name.
	return false
}

// makeRoom makes the buffer ready for another read. The frames that were handed
// out are gone after it.
func (r *frameReader) makeRoom() error {
	used := r.size - r.head
	size := len(r.buf)
	if r.roomy++; used > minBuffer/2 {
		r.roomy = 0
	}
	switch {
	case used == size && size >= r.max:
		return errEventSize
	case r.size > 0 && size < minBuffer:
		size = minBuffer
	case used == size: // in few steps: each clears and copies, and memory that is not used does not count
		size = min(4*size, r.max)
	case used < minBuffer/2 && size > keepBuffer && r.roomy >= keepReads:
		size = minBuffer
	case r.head == 0 && !r.poison:
		return nil
	}
	buf := r.buf
	if size != len(buf) || r.poison {
		buf = make([]byte, size)
	}
	copy(buf, r.buf[r.head:r.size])
	if r.poison {
		spoil(r.buf[:r.size])
	}
	r.buf = buf
	r.line -= r.head
	r.scan -= r.head
	r.data -= r.head
	r.dataEnd -= r.head
	r.head, r.size = 0, used
	return nil
}

// spoil overwrites bytes that are no longer valid.
func spoil(b []byte) {
	for i := range b {
		b[i] = 0xAA
	}
}
