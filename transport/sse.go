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
	// mostRead is a stream's buffer from the second read on, if not many are open (sharedReads): all that
	// http.Transport's own buffer can hand over at once. With half of it there are twice as many
	// hand-overs to the editor, each of which costs as much as some ten events.
	mostRead = 256 << 10
	// firstBuffer is for a stream's first read: the first words do not wait until a larger one is
	// made and cleared.
	firstBuffer = 4 << 10
	// keepReads is for how many reads a buffer that has grown is kept: large
	// events come in rows (an edit is told five times), and growing anew for each
	// costs more than the event itself. Sessions that idle should not hold on to megabytes.
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

// A frame is one event of an event stream, as far as we look at it: a view of the buffer.
type frame struct {
	data    []byte
	failure bool // the event's name is "error"; no other name matters
	fit     fit  // zero if no template was tried, or it does not fit
}

// jsonLines is the media type of JSON objects, one a line: LiteLLM's gateway answers message/stream
// so (1.93, and before).
const jsonLines = "application/x-ndjson"

// A frameReader cuts an event stream into frames, by the WHATWG standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html): lines end
// with LF, CR or CRLF, a byte order mark at the start is skipped, an event that
// EOF cut off is discarded, but see unterminated.
//
// There is one buffer. Frames are slices of it; the data of one with several
// data lines is moved together in place, which always fits because the joined
// data is shorter than the lines. bufio.Scanner, which was tried, cannot return
// several frames at once, and copies or re-scans large ones.
type frameReader struct {
	src io.Reader
	err error // from src; reported after what came before it

	// buf[head:end] has been read and not been handed out. The frame in hand begins at head,
	// its current line at line; from there to scan that line has no end.
	buf                   []byte
	head, line, scan, end int

	// The frame in hand: if it hasData, these are buf[data:dataEnd].
	hasData       bool
	data, dataEnd int
	failure       bool

	max         int  // bytes of an event
	ndjson      bool // each line is an event's data: see jsonLines
	usual       int  // the buffer's size from the second read on: mostRead, or less (sharedReads)
	sparseReads int  // reads in a row with less than half of that in hand

	firstLineDone bool // so that no byte order mark can come
	// bareJSON: the body is a JSON object, and not the event stream that it is labelled as.
	// It is handed out as one event. To an event stream its lines would be fields of
	// unknown names, and it would be empty. sawBody: that is known.
	bareJSON, sawBody bool
	endsCR            bool // the last line ended with CR
	skipLF            bool // it did, and an LF may follow

	// onRead, if not nil, is called for each read that brought something, a comment too.
	onRead func()

	// template is what the next event is likely to look like, nil if nothing is known: one that fits
	// needs no search for its end. spans are the slots' of all frames that were handed out together.
	template *template
	spans    []span

	poison bool
}

func newFrameReader(src io.Reader, poison bool) *frameReader {
	return &frameReader{src: src, buf: make([]byte, firstBuffer), poison: poison, max: maxEvent, usual: mostRead}
}

// next waits for at least one frame and appends to dst, which is empty, all that have arrived
// with it, up to maxFrames; or it returns an error. It reads only if none is complete in the buffer.
// What it returned before is overwritten.
func (r *frameReader) next(dst []frame) ([]frame, error) {
	r.spans = r.spans[:0]
	for empty := 0; ; empty++ {
		if dst = r.parse(dst); len(dst) > 0 {
			return dst, nil
		}
		if r.err == io.EOF && r.bareJSON && r.head < r.end {
			data := r.buf[r.head:r.end]
			r.head, r.line = r.end, r.end
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
		if n, r.err = r.src.Read(r.buf[r.end:]); n == 0 {
			continue
		}
		if r.end, empty = r.end+n, 0; r.onRead != nil {
			r.onRead()
		}
	}
}

// unfinished reports whether an event was begun that has not been handed out.
func (r *frameReader) unfinished() bool {
	return r.hasData || r.line < r.end && r.buf[r.line] != ':'
}

// unterminated returns the event that the stream has ended with, without a blank line: handlers
// that join their events with blank lines write none behind the last. One whose data are no JSON
// object was cut, and is none.
func (r *frameReader) unterminated() (f frame, ok bool) {
	if line := r.buf[r.line:r.end]; bytes.HasPrefix(line, []byte("data:")) || r.ndjson && len(line) > 0 {
		r.field(line, r.end)
		r.line = r.end
	}
	if !r.hasData || r.line < r.end {
		return f, false
	}
	if data := r.buf[r.data:r.dataEnd]; !rawjson.IsObject(rawjson.View(data)) || !rawjson.Valid(data) {
		return f, false
	}
	list := r.dispatch(nil)
	return list[0], true
}

// parse appends the frames that have arrived completely, up to maxFrames.
func (r *frameReader) parse(dst []frame) []frame {
	if !r.sawBody {
		begin := bytes.TrimLeft(r.buf[r.line:r.end], " \t\r\n")
		r.sawBody = len(begin) > 0
		r.bareJSON = r.sawBody && begin[0] == '{' && !r.ndjson
	}
	if r.bareJSON {
		return dst
	}
	for r.line < r.end && len(dst) < maxFrames {
		if r.skipLF {
			r.skipLF = false
			if r.buf[r.line] == '\n' {
				r.startLine(r.line + 1)
				continue
			}
		}
		if r.template != nil && !r.hasData && r.scan == r.line && r.firstLineDone && r.takeLikely(&dst) {
			continue
		}
		rest := r.buf[r.scan:r.end]
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
			r.scan = r.end
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

// takeLikely appends the event at the current line, if that fits the template and has arrived with the
// blank line after it; else it changes nothing.
func (r *frameReader) takeLikely(dst *[]frame) bool {
	const field = "data: "
	b := r.buf[r.line:r.end]
	if r.failure || len(b) < len(field) || string(b[:len(field)]) != field {
		return false
	}
	f, spans := r.template.fits(b[len(field):], r.spans)
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
	r.spans = spans
	*dst = append(*dst, frame{data: b[len(field):end:end], fit: f})
	r.template = cmp.Or(f.template.next, f.template)
	r.startLine(r.line + after)
	return true
}

// startLine makes the line at an index the current one; a frame without data begins there.
func (r *frameReader) startLine(at int) {
	r.line, r.scan, r.firstLineDone = at, at, true
	if !r.hasData {
		r.head = at
	}
}

// dispatch ends the frame in hand, and appends it if it has data.
func (r *frameReader) dispatch(dst []frame) []frame {
	if r.hasData {
		dst = append(dst, frame{data: r.buf[r.data:r.dataEnd:r.dataEnd], failure: r.failure})
	}
	r.hasData, r.failure = false, false
	return dst
}

// field takes the line at r.line, which ends before end, and reports whether it ends an event.
func (r *frameReader) field(line []byte, end int) bool {
	if len(line) == 0 || r.ndjson {
		if len(line) > 0 {
			r.hasData, r.data, r.dataEnd = true, r.line, end
		}
		return true
	}
	if !r.firstLineDone {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		start := end - len(value)
		if !r.hasData {
			r.hasData, r.data, r.dataEnd = true, start, end
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

// makeRoom makes the buffer ready for another read; errEventSize if the frame in hand fills it. The
// frames that were handed out are gone after it.
func (r *frameReader) makeRoom() error {
	used := r.end - r.head
	size := len(r.buf)
	if r.sparseReads++; used > r.usual/2 {
		r.sparseReads = 0
	}
	switch {
	case used == size && size >= r.max:
		return errEventSize
	case r.end > 0 && size < r.usual:
		size = r.usual
	case used == size: // by more, an event of 12 MiB has a buffer of 32, and the collector has no room left
		size = min(2*size, r.max)
	case used < r.usual/2 && size > r.usual && r.sparseReads >= keepReads:
		size = r.usual
	case r.head == 0 && !r.poison:
		return nil
	}
	buf := r.buf
	if size != len(buf) || r.poison {
		buf = make([]byte, size)
	}
	copy(buf, r.buf[r.head:r.end])
	if r.poison {
		spoil(r.buf[:r.end])
	}
	r.buf = buf
	r.line -= r.head
	r.scan -= r.head
	r.data -= r.head
	r.dataEnd -= r.head
	r.head, r.end = 0, used
	return nil
}

// spoil overwrites bytes that are no longer valid.
func spoil(b []byte) {
	for i := range b {
		b[i] = 0xAA
	}
}
