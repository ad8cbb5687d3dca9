package trace

import (
	"bytes"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// maxTemplate bounds the documents that templates are made of: each session has one.
const maxTemplate = 4 << 10

// A template is a document in which nothing was masked. The next one in a stream has mostly other
// texts in the same places: then only these are read.
type template struct {
	doc     []byte
	outline outline
	places  []place
	sieve   *sieve // it has found nothing in the document; nil: there is no document
}

// A place is that of a string value, with its quotes. varies: others may stand there.
type place struct {
	span
	key    keyClass
	varies bool
}

// notePlace notes a string of a document that continues a text, if it is a value.
func (m *masker) notePlace(at span, top *frame, nested int) {
	if m.tail != nil && nested == maxNested && !(top.object && top.isKey) && len(m.places) < maxTemplate {
		m.places = append(m.places, place{span: at, key: top.key})
	}
}

// learn makes a template of a document in which nothing was masked, if one of its strings,
// which m has noted, is a "text". Others, as of tool calls, leave the template as it is.
func (t *template) learn(m *masker, b []byte, l *outline) {
	texts := 0
	for i := range m.places {
		if m.places[i].key == keyText {
			texts++
			m.places[i].varies = true
		}
	}
	if texts != 1 || m.special || len(b) > maxTemplate {
		return
	}
	for i := range m.places {
		s := &m.places[i]
		if len(t.places) != len(m.places) || s.key != keyPlain {
			continue
		}
		was := &t.places[i]
		s.varies = was.varies || string(t.doc[was.from:was.to]) != string(b[s.from:s.to])
	}
	t.doc, t.outline, t.sieve = append(t.doc[:0], b...), *l, m.sieve
	t.places, m.places = m.places, t.places[:0]
}

// outlineBy returns the outline of a document that differs from the template only in strings
// that may vary; false for others. Nothing is masked in these, but for the text in pieces,
// which has not been read: onlyText.
func (m *masker) outlineBy(t *template, b []byte) (l outline, ok bool) {
	if t.sieve != m.sieve {
		return l, false
	}
	l = t.outline
	at, known := 0, 0 // b[:at] fits t.doc[:known]
	for i := range t.places {
		s := &t.places[i]
		if !s.varies {
			continue
		}
		same := t.doc[known:s.from]
		from := at + len(same)
		if !bytes.HasPrefix(b[at:], same) || from == len(b) || b[from] != '"' {
			return l, false
		}
		if known, at = s.to, stringEnd(b, from); at == 0 {
			return l, false
		}
		text := b[from:at]
		if s.key == keyText {
			l.onlyText = span{from, at}
		} else if tellsMode(rawjson.View(text)) || m.token(text, &frame{object: true}, maxNested) != nil {
			return l, false
		}
		l.shift(from+s.to-s.from, at)
	}
	return l, string(b[at:]) == string(t.doc[known:])
}

// stringEnd returns the end of the string at b[at]; 0 if it may not stand in a record.
func stringEnd(b []byte, at int) int {
	if end := rawjson.SkipPlain(rawjson.View(b), at+1); end < len(b) && b[end] == '"' { // most
		return end + 1
	}
	end := rawjson.SkipString(rawjson.View(b), at)
	if text := b[at:end]; !rawjson.Valid(text) || !utf8.Valid(text) {
		return 0
	}
	return end
}

// shift moves the spans behind a string that ends at now in place of was.
func (l *outline) shift(was, now int) {
	l.id.shift(was, now)
	l.method.shift(was, now)
	l.session.shift(was, now)
	l.result.shift(was, now)
}

func (s *span) shift(was, now int) {
	if s.from >= was {
		s.from += now - was
	}
	if s.to >= was {
		s.to += now - was
	}
}
