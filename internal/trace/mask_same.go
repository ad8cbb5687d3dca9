package trace

import (
	"bytes"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// maxPattern bounds the documents that patterns are made of: each session has one.
const maxPattern = 4 << 10

// A pattern is a document in which nothing was masked. The next one in a stream has mostly other
// texts in the same places: then only these are read.
type pattern struct {
	doc     []byte
	looked  looked
	strings []place
	// sieve has searched the document; nil: there is none.
	sieve *sieve
}

// A place is that of a string value in a document, with its quotes.
type place struct {
	span
	key    keyClass
	varies bool
}

// notePlace notes a string of a document that continues what was said, if it is a value.
func (m *masker) notePlace(at span, top *frame, nested int) {
	if m.said != nil && nested == maxNested && !(top.object && top.isKey) && len(m.strings) < maxPattern {
		m.strings = append(m.strings, place{span: at, key: top.key})
	}
}

// learn makes a pattern of a document that has these strings, and one text among them. Others, as of
// tool calls, leave the last pattern as it is.
func (p *pattern) learn(m *masker, b []byte, l *looked) {
	texts := 0
	for i := range m.strings {
		if m.strings[i].key == keyText {
			texts++
			m.strings[i].varies = true
		}
	}
	if texts != 1 || m.special || len(b) > maxPattern {
		return
	}
	for i := range m.strings {
		s := &m.strings[i]
		if len(p.strings) != len(m.strings) || s.key != keyPlain {
			continue
		}
		was := &p.strings[i]
		s.varies = was.varies || string(p.doc[was.from:was.to]) != string(b[s.from:s.to])
	}
	p.doc, p.looked, p.sieve = append(p.doc[:0], b...), *l, m.sieve
	p.strings, m.strings = m.strings, p.strings[:0]
}

// fits returns what a document is that differs from the pattern in texts alone. Nothing is masked in
// them, but for the one in pieces, which has not been read.
func (m *masker) fits(p *pattern, b []byte) (l looked, ok bool) {
	if p.sieve != m.sieve {
		return l, false
	}
	l = p.looked
	at, known := 0, 0 // b[:at] fits p.doc[:known]
	for i := range p.strings {
		s := &p.strings[i]
		if !s.varies {
			continue
		}
		same := p.doc[known:s.from]
		from := at + len(same)
		if !bytes.HasPrefix(b[at:], same) || from == len(b) || b[from] != '"' {
			return l, false
		}
		known, at = s.to, rawjson.SkipString(rawjson.View(b), from)
		text := b[from:at]
		if !rawjson.Valid(text) || !utf8.Valid(text) {
			return l, false
		}
		if s.key == keyText {
			l.text = span{from, at}
		} else if tellsMode(rawjson.View(text)) || m.token(text, &frame{object: true}, maxNested) != nil {
			return l, false
		}
		l.move(from+s.to-s.from, at)
	}
	return l, string(b[at:]) == string(p.doc[known:])
}

// move moves what is behind a string that ends at now, and ended at was.
func (l *looked) move(was, now int) {
	for _, s := range [...]*span{&l.id, &l.method, &l.session, &l.result} {
		for _, at := range [...]*int{&s.from, &s.to} {
			if *at >= was {
				*at += now - was
			}
		}
	}
}
