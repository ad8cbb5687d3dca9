package trace

import (
	"bytes"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// maxDepth bounds the nesting of JSON that is recorded as JSON. Deeper JSON may be an
// attack on recursive readers; it is recorded as text.
const maxDepth = 512

// looked is the result of scanning a payload.
type looked struct {
	// valid: it is a JSON document that may stand in a line.
	valid bool
	// suspect: it may hold a credential. Otherwise it holds none.
	suspect bool
	// texts are the strings of members "text", between their quotes.
	texts []span
	// id and method are JSON-RPC's, as written; session is the first member "sessionId",
	// without its quotes.
	id, method, session span
	// rpc: it has JSON-RPC's envelope, with this result.
	rpc    bool
	result span
}

// A scanner tells whether a payload is JSON, and whether it may hold a credential at
// all. Most payloads cost no more than that. Its result is valid until its next use. Of
// what is not JSON, texts mean nothing.
type scanner struct {
	looked
	m *masker
}

func (s *scanner) scan(b []byte) *looked {
	s.looked = looked{texts: s.texts[:0]}
	s.suspect = s.m.suspects(b)
	s.valid = bytes.IndexByte(b, '\n') < 0 && utf8.Valid(b) && rawjson.Valid(b)
	s.value(rawjson.View(b), rawjson.SkipSpace(rawjson.View(b), 0), 0, keyPlain)
	return &s.looked
}

// suspects reports whether JSON needs the thorough pass.
func (m *masker) suspects(b []byte) bool {
	return !m.sieve.each(b, func(at int, w *word) bool {
		switch w.kind {
		case wordEscape:
			return !hides(b[at:])
		case wordPush:
			return false
		case wordSpelled:
			return !m.spells(b, at)
		}
		s, ok := w.span(b, at)
		return !ok || s.to <= s.from
	})
}

// hides reports whether an escape stands for a character of a credential, of its name,
// or of what surrounds them. Encoders that are careful about HTML escape <, > and
// quotes, which are none.
func hides(b []byte) bool {
	if len(b) < 6 || b[1] != 'u' {
		return true
	}
	switch string(b[4:6]) {
	case "22", "27", "3c", "3e", "3C", "3E", "60":
		return false
	}
	return '2' <= b[4] && b[4] <= '7'
}

// value notes the content of the value at i, and returns its end. deep counts the
// objects and arrays around it; of is the class of its member's name.
func (s *scanner) value(doc string, i, deep int, of keyClass) (end int) {
	if deep >= maxDepth {
		s.valid = false
		return len(doc)
	}
	switch {
	case i >= len(doc):
		return i
	case doc[i] == '{':
		return rawjson.Walk(doc, i, func(key string, at int) int {
			of := s.m.class(key)
			s.suspect = s.suspect || of.look() || s.m.namesWord(key)
			end := s.value(doc, at, deep+1, of)
			if deep == 0 {
				s.rpc = s.rpc || key == "jsonrpc"
				if key == "result" {
					s.result = span{at, end}
				}
			}
			return end
		})
	case doc[i] == '[':
		return s.elements(doc, i, deep)
	}
	if end = rawjson.SkipValue(doc, i); doc[i] == '"' && end-i >= 2 {
		s.text(doc, span{i + 1, end - 1}, deep, of)
	} else if of == keyID && deep == 1 {
		s.id = span{i, end}
	}
	return end
}

// elements is value for an array.
func (s *scanner) elements(doc string, i, deep int) (end int) {
	at := rawjson.NextElement(doc[i:])
	if at < 0 {
		return rawjson.SkipValue(doc, i)
	}
	for ; at > 0; at = rawjson.NextElement(doc[i:]) {
		if end = s.value(doc, i+at, deep+1, keyPlain); end <= i+at {
			return len(doc)
		}
		i = end
	}
	return min(rawjson.SkipSpace(doc, i)+1, len(doc))
}

func (s *scanner) text(doc string, at span, deep int, of keyClass) {
	text := doc[at.from:at.to]
	switch {
	case of == keyText:
		s.texts = append(s.texts, at)
	case of == keyMethod && deep == 1:
		s.method = at
	case of == keyID && deep == 1:
		s.id = span{at.from - 1, at.to + 1}
	case of == keySession && s.session.to == 0:
		s.session = at
	case of == keyName:
		s.suspect = s.suspect || len(text) <= maxName && secretParam(text)
	}
	s.suspect = s.suspect || mayBeJSON(text)
}

// mayBeJSON reports whether a string, as written, may be JSON itself. Most words of
// agents begin with a blank, so a blank alone says nothing.
func mayBeJSON(text string) bool {
	if len(text) < 3 {
		return false
	}
	if text[0] == ' ' {
		text = text[rawjson.SkipSpace(text, 0):]
	}
	return len(text) > 0 && (text[0] == '{' || text[0] == '[' || text[0] == '\\')
}
