package trace

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"hash/maphash"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// A payload is what crossed a wire at once: a line, a body, an event's data.
type payload struct {
	b []byte
	// size is the whole length; long: that is more than b.
	size int64
	long bool
	// masked: b is not what crossed the wire.
	masked bool
}

func wholePayload(b []byte) payload { return payload{b: b, size: int64(len(b))} }

// trimmed removes the line feed that many servers add to their JSON, which cannot stand
// in a line.
func (p payload) trimmed() payload {
	if !p.long {
		p.b = bytes.TrimRight(p.b, "\n\r ")
	}
	return p
}

// hidden returns a payload of which no more than b is recorded.
func (p payload) hidden(b string) payload {
	p.masked = p.masked || b != string(p.b)
	p.b = []byte(b)
	return p
}

// pieces collect consecutive bytes up to a limit; beyond it, the beginning and the length
// of all.
type pieces struct {
	payload
	limit int
}

func (p *pieces) add(b []byte) {
	p.size += int64(len(b))
	room := p.limit - len(p.b)
	p.long = p.long || len(b) > room
	p.b = append(p.b, b[:min(len(b), room)]...)
}

func (p *pieces) reset() {
	room := p.b[:0]
	if cap(room) > 1<<20 { // a large buffer is not kept
		room = nil
	}
	p.payload = payload{b: room}
}

var lineSeed = maphash.MakeSeed()

func lineHash(line []byte) uint64 { return maphash.Bytes(lineSeed, line) }

// An encoder appends masked payloads to records, and tells what it saw in them.
type encoder struct {
	mask  *masker
	scan  scanner
	limit int
	buf   []byte // a masked payload
}

func newEncoder(opts *Options) *encoder {
	e := &encoder{mask: newMasker(opts.Header, opts.Secrets, opts.Later), limit: cmp.Or(opts.Limit, maxPayload)}
	e.scan.m, e.mask.redact = e.mask, opts.Redact
	for _, s := range opts.URLs {
		if u, err := url.Parse(s); err == nil {
			e.mask.isAt(u)
		}
	}
	return e
}

// headLook is how much of a large payload is searched: no credential in its recorded
// beginning reaches further.
const headLook = 64 << 10

// look searches a payload that is about to be appended.
func (e *encoder) look(p payload) *looked {
	if p.long {
		l := e.scan.scan(p.b[:min(len(p.b), headLook)])
		l.valid = false
		return l
	}
	return e.scan.scan(p.b)
}

// goesOn makes the texts of the last payload continue what was said before.
func (e *encoder) goesOn(p payload, s *said) {
	l := &e.scan.looked
	if !l.valid || p.long || len(l.texts) == 0 {
		return
	}
	now := *s
	for _, at := range l.texts {
		piece := p.b[at.from:at.to]
		if bytes.IndexByte(piece, '\\') >= 0 {
			piece = []byte(rawjson.Text(rawjson.View(p.b[at.from-1 : at.to+1])))
		}
		l.suspect = e.mask.splits(&now, piece) || l.suspect
	}
	if !l.suspect { // else the thorough pass reads them once more
		*s = now
	}
}

// payload appends the members for the payload that look has searched. s is what it
// continues, or nil; as is how it is masked.
func (e *encoder) payload(dst []byte, p payload, s *said, as mode) []byte {
	l := &e.scan.looked
	b, redact := p.b, e.mask.redact && len(p.b) > 0
	switch {
	case redact && !l.valid:
		b = []byte(length(string(b)))
	case redact: // no text is kept, so that it does not matter which ones go on
		e.mask.as = as
		b = e.thorough(p, true)
		e.mask.as = open
	case l.suspect || !l.valid || as != open:
		e.mask.said, e.mask.as = s, as
		b = e.thorough(p, l.valid)
		e.mask.said, e.mask.as = nil, open
	}
	masked := p.masked || redact || string(b) != string(p.b[:min(len(b), len(p.b))])
	switch {
	case p.long:
		dst = appendHead(dst, p, b)
	case len(b) == 0:
	case l.valid:
		dst = append(append(dst, `,"json":`...), b...)
	case utf8.Valid(b):
		dst = rawjson.AppendField(dst, "text", string(b))
	default:
		dst = base64.StdEncoding.AppendEncode(append(dst, `,"base64":"`...), b)
		dst = append(dst, '"')
	}
	if masked {
		dst = append(dst, `,"masked":true`...)
	}
	return dst
}

// thorough masks a payload token by token.
func (e *encoder) thorough(p payload, valid bool) []byte {
	e.buf = e.buf[:0]
	if p.long {
		p.b = p.b[:min(len(p.b), headLook)]
	}
	switch {
	case valid:
		e.buf = e.mask.json(e.buf, p.b, maxNested)
		return e.buf
	case looksJSON(p.b): // cut off, or of several lines
		e.buf = e.mask.json(e.buf, p.b, maxNested)
		if !p.long && isJSON(p.b) {
			return e.buf
		}
	default:
		e.buf = append(e.buf, p.b...)
	}
	return replace(e.buf, e.mask.spans(e.buf))
}

// appendHead appends what is recorded of a large payload: its length and its beginning.
// Masking has searched more than is kept.
func appendHead(dst []byte, p payload, b []byte) []byte {
	head := b[:min(len(b), headSize)]
	for len(head) > 0 && len(head) < len(b) && !utf8.RuneStart(b[len(head)]) {
		head = head[:len(head)-1]
	}
	dst = strconv.AppendInt(append(dst, `,"size":`...), p.size, 10)
	return rawjson.AppendField(dst, "head", string(head))
}
