package trace

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Successive events of a stream differ only in a text and a time. So a payload is
// compared with earlier ones, and only the differing strings are scanned. Scanning
// everything again would be half of a trace's cost.
const (
	maxTemplates = 8
	// maxTemplate bounds a template's size.
	maxTemplate = 8 << 10
	// maxChanges bounds the strings in which a payload differs from its template.
	maxChanges = 8
)

// A hole is a string or an integer in a template that may differ.
type hole struct {
	span
	of     keyClass
	number bool
}

// A template is a valid payload that was not suspect, with its scan result.
type template struct {
	b     []byte
	holes []hole // in order
	looked
}

// A change shifts all that follows this place of the template by some bytes.
type change struct{ at, by int }

// templates are the newest, the last used first.
type templates struct {
	list  []*template
	holes []hole // of the payload being scanned
	full  bool   // there were too many
}

// found notes a hole of the payload being scanned.
func (t *templates) found(h hole) {
	if len(t.holes) == cap(t.holes) && len(t.holes) >= 512 {
		t.full = true
		return
	}
	t.holes = append(t.holes, h)
}

// keep makes a template of a scanned payload.
func (t *templates) keep(b []byte, l *looked) {
	if t.full || len(b) > maxTemplate || !l.valid || l.suspect {
		return
	}
	var n *template
	if len(t.list) < maxTemplates {
		n = new(template)
		t.list = append(t.list, nil)
	} else {
		n = t.list[maxTemplates-1]
	}
	n.b = append(n.b[:0], b...)
	n.holes = append(n.holes[:0], t.holes...)
	texts := append(n.texts[:0], l.texts...)
	n.looked = *l
	n.texts = texts
	copy(t.list[1:], t.list)
	t.list[0] = n
}

// like finds a template for a payload, and fills in the scan result.
func (s *scanner) like(b []byte) bool {
	for i, t := range s.known.list {
		if s.fits(t, b) {
			copy(s.known.list[1:i+1], s.known.list[:i])
			s.known.list[0] = t
			return true
		}
	}
	return false
}

// fits compares a payload with a template. Where they differ, both must have a string
// or a number without anything that may be a credential.
func (s *scanner) fits(t *template, b []byte) bool {
	var list [maxChanges]change
	n, next := 0, 0
	for at, by := 0, 0; ; {
		at += common(t.b[at:], b[at+by:])
		if at == len(t.b) && at+by == len(b) {
			break
		}
		for next < len(t.holes) && t.holes[next].to < at {
			next++
		}
		if n == maxChanges || next == len(t.holes) || at < t.holes[next].from {
			return false
		}
		h := &t.holes[next]
		from := h.from + by
		end := s.fills(h, b, from)
		if end < 0 {
			return false
		}
		by = end - h.to
		list[n] = change{h.to, by}
		n++
		at = h.to
		next++
	}
	s.looked = looked{valid: true, texts: s.texts[:0]}
	s.id, s.method, s.session = moved(t.id, list[:n]), moved(t.method, list[:n]), moved(t.session, list[:n])
	for _, text := range t.texts {
		s.texts = append(s.texts, moved(text, list[:n]))
	}
	return true
}

// fills returns the end of what stands in place of a hole, if it is allowed there.
func (s *scanner) fills(h *hole, b []byte, from int) int {
	end := from
	if h.number {
		if from < len(b) && b[from] == '0' {
			return -1
		}
		if end = digits(b, from); end < 0 || end >= len(b) || b[end]|0x20 == 'e' || b[end] == '.' {
			return -1
		}
	} else if end = stringEnds(b, from) - 1; end < from {
		return -1
	}
	switch text := b[from:end]; {
	case h.of == keyName && len(text) <= maxName && s.m.names.class(text) == keySecret:
		return -1
	case h.of != keyPlain && h.of != keyText && h.of != keyName:
		return -1 // it is more than a text
	case mayBeJSON(text):
		return -1
	case !utf8.Valid(text) || s.m.suspects(text):
		return -1
	}
	return end
}

// moved returns a template's span after changes.
func moved(at span, list []change) span {
	if at.to == 0 {
		return at
	}
	from, to := at.from, at.to
	for _, c := range list {
		if c.at <= at.from {
			from = at.from + c.by
		}
		if c.at <= at.to {
			to = at.to + c.by
		}
	}
	return span{from, to}
}

// common counts the equal leading bytes of a and b.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
