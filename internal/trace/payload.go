package trace

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"hash/maphash"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// A payload is what crossed a wire at once: a line, a body, an event's data.
type payload struct {
	b      []byte
	size   int64 // the length on the wire
	long   bool  // it is over the limit, and b its beginning
	masked bool  // b is not what crossed the wire
}

func wholePayload(b []byte) payload { return payload{b: b, size: int64(len(b))} }

// trimmed returns p without the line feed that many servers add to their JSON, which cannot
// stand in a line.
func (p payload) trimmed() payload {
	if !p.long {
		p.b = bytes.TrimRight(p.b, "\n\r ")
	}
	return p
}

// recordedAs returns p with b in place of its bytes, which counts as masked if it differs.
func (p payload) recordedAs(b string) payload {
	p.masked = p.masked || b != string(p.b)
	p.b = []byte(b)
	return p
}

// pieces is a payload that comes in parts. It keeps the bytes up to the limit, and counts all.
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

// reset empties p for the next payload, and keeps its buffer unless that is large.
func (p *pieces) reset() {
	room := p.b[:0]
	if cap(room) > 1<<20 {
		room = nil
	}
	p.payload = payload{b: room}
}

var lineSeed = maphash.MakeSeed()

func lineHash(line []byte) uint64 { return maphash.Bytes(lineSeed, line) }

// An encoder appends masked payloads to records.
type encoder struct {
	mask  *masker
	limit int
}

func newEncoder(opts *Options) *encoder {
	e := &encoder{mask: newMasker(opts.Header, opts.Secrets, opts.Later), limit: cmp.Or(opts.Limit, maxPayload)}
	e.mask.redact = opts.Redact
	for _, s := range opts.URLs {
		if u, err := url.Parse(s); err == nil {
			e.mask.noteBase(u)
		}
	}
	return e
}

// headLook is how much of a large payload is searched: no credential in its recorded
// beginning reaches further.
const headLook = 64 << 10

// outline returns a payload's outline, of a large one an invalid one. s is the text that the
// payload continues, or nil.
func (e *encoder) outline(p payload, s *textTail) outline {
	if p.long {
		l := outlineOf(p.b[:min(len(p.b), headLook)])
		l.valid = false
		return l
	}
	if s != nil {
		if l, ok := e.mask.outlineBy(&s.template, p.b); ok {
			return l
		}
	}
	return outlineOf(p.b)
}

// payload appends the members for a payload with the outline l, masked. s is the text that it
// continues, or nil; m is how it is masked.
func (e *encoder) payload(dst []byte, p payload, l *outline, s *textTail, m mode) []byte {
	b := p.b
	if redact := e.mask.redact && len(b) > 0; redact && !l.valid {
		b = []byte(sizeMark(string(b)))
	} else {
		if redact { // no text is kept, so that it does not matter which ones go on
			s = nil
		}
		e.mask.tail, e.mask.mode = s, m
		b = e.maskBytes(p, l)
		e.mask.tail, e.mask.mode = nil, modeOpen
		e.mask.release()
	}
	masked := p.masked || e.mask.redact && len(p.b) > 0 || string(b) != string(p.b[:min(len(b), len(p.b))])
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

// maskBytes returns a payload masked, of a large one so much as headLook.
func (e *encoder) maskBytes(p payload, l *outline) []byte {
	m := e.mask
	switch {
	case l.onlyText.to > 0:
		is := m.token(p.b[l.onlyText.from:l.onlyText.to], &frame{object: true, key: keyText}, maxNested)
		if is == nil {
			return p.b
		}
		return slices.Concat(p.b[:l.onlyText.from], is, p.b[l.onlyText.to:])
	case l.valid:
		m.places, m.special = m.places[:0], m.mode != modeOpen
		b := m.json(p.b, maxNested)
		if m.tail != nil && len(b) == len(p.b) && string(b) == string(p.b) {
			m.tail.template.learn(m, b, l)
		}
		return b
	case p.long:
		p.b = p.b[:min(len(p.b), headLook)]
	}
	b := p.b
	if looksJSON(b) { // cut off, or of several lines
		b = m.json(b, maxNested)
		if !p.long && isJSON(p.b) {
			return b
		}
	}
	return m.hide(b, inText)
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
