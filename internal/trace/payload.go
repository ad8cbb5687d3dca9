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
			e.mask.isAt(u)
		}
	}
	return e
}

// headLook is how much of a large payload is searched: no credential in its recorded
// beginning reaches further.
const headLook = 64 << 10

// look looks at a payload, which continues s, or nothing if that is nil.
func (e *encoder) look(p payload, s *said) looked {
	if p.long {
		l := lookAt(p.b[:min(len(p.b), headLook)])
		l.valid = false
		return l
	}
	if s != nil {
		if l, ok := e.mask.fits(&s.like, p.b); ok {
			return l
		}
	}
	return lookAt(p.b)
}

// payload appends the members for a payload, which look has seen. s is what it continues, or
// nil; as is how it is masked.
func (e *encoder) payload(dst []byte, p payload, l *looked, s *said, as mode) []byte {
	b := p.b
	if redact := e.mask.redact && len(b) > 0; redact && !l.valid {
		b = []byte(length(string(b)))
	} else {
		if redact { // no text is kept, so that it does not matter which ones go on
			s = nil
		}
		e.mask.said, e.mask.as = s, as
		b = e.masked(p, l)
		e.mask.said, e.mask.as = nil, open
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

// masked masks a payload.
func (e *encoder) masked(p payload, l *looked) []byte {
	m := e.mask
	switch {
	case l.text.to > 0:
		is := m.token(p.b[l.text.from:l.text.to], &frame{object: true, key: keyText}, maxNested)
		if is == nil {
			return p.b
		}
		return slices.Concat(p.b[:l.text.from], is, p.b[l.text.to:])
	case l.valid:
		m.strings, m.special = m.strings[:0], m.as != open
		b := m.json(p.b, maxNested)
		if m.said != nil && len(b) == len(p.b) && string(b) == string(p.b) {
			m.said.like.learn(m, b, l)
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
	return replace(b, m.spans(b))
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
