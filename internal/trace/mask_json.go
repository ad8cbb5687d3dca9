package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A mode says what becomes of the values in a part of a JSON document.
type mode uint8

const (
	open    mode = iota // what has the name or the shape of a credential is masked
	hidden              // everything is
	exempt              // names mean nothing: a card's security schemes
	servers             // MCP servers: their env, headers and args are masked
	pairs               // a value of env, headers or args: a list or an object
	list                // the list: of strings, or of {"name", "value"}
	pair                // one such: its name stays
	push                // where an agent is to push: the path of its URL is masked
)

// A frame is an object or a list that is open.
type frame struct {
	object bool
	mode   mode
	key    keyClass // of the member in hand
	isKey  bool     // the next string is a member's name
	secret bool     // {"name": what names a credential, …}
}

// value is the mode of the value that comes next.
func (f *frame) value() mode {
	switch {
	case !f.object && f.mode == list:
		return hidden // but an object in it is a pair: see enter
	case !f.object:
		return f.mode
	case f.mode == hidden, f.mode == pairs:
		return hidden
	case f.mode == pair && f.key == keyName:
		return open
	case f.mode == pair:
		return hidden
	case f.mode == exempt, f.key == keyExempt:
		return exempt
	case f.key == keyServers:
		return servers
	case f.mode == servers && f.key == keyEnv:
		return pairs
	case f.key == keyPush:
		return push
	case f.key == keySecret, f.secret && f.key == keyValue:
		return hidden
	}
	return f.mode
}

// enter is the frame of an object or a list that begins in f.
func (f *frame) enter(object bool) frame {
	next := frame{object: object, mode: f.value(), isKey: object}
	switch {
	case object && f.mode == list && !f.object:
		next.mode = pair
	case !object && next.mode == pairs:
		next.mode = list
	case object && next.mode == pairs:
		next.mode = hidden
	}
	return next
}

// json appends a JSON document, masked, with every other byte as it is. The
// document may be cut off, or be no JSON at all: it is read token by token.
// nested is how deep JSON within its strings is looked into.
func (m *masker) json(dst, src []byte, nested int) []byte {
	stack := append(make([]frame, 0, 32), frame{})
	if m.pushes || pushes(src) {
		stack[0].mode = push
	}
	for i := 0; i < len(src); {
		top := &stack[len(stack)-1]
		switch c := src[i]; c {
		case '{', '[':
			if len(stack) <= maxDepth {
				stack = append(stack, top.enter(c == '{'))
			}
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case ',':
			top.isKey = top.object
		case ':':
			top.isKey = false
		case ' ', '\t', '\r', '\n':
		case '"':
			end := stringEnd(src, i)
			dst = m.token(dst, src[i:end], top, nested)
			i = end
			continue
		default:
			end := i
			for end < len(src) && strings.IndexByte(" \t\r\n{}[],:\"", src[end]) < 0 {
				end++
			}
			dst = m.scalar(dst, src[i:end], top)
			i = end
			continue
		}
		dst = append(dst, src[i])
		i++
	}
	return dst
}

// pushes reports whether a document is a call about push notifications, of which
// A2A 1.0 has the configuration itself as parameters.
func pushes(src []byte) bool {
	head := src[:min(len(src), 4<<10)]
	return bytes.Contains(head, []byte("ushNotificationConfig")) && bytes.Contains(head, []byte(`"method"`))
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(src []byte, i int) int {
	for i++; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}

// token masks a string: a member's name or a value.
func (m *masker) token(dst, raw []byte, top *frame, nested int) []byte {
	text, whole := raw[1:], len(raw) > 1 && raw[len(raw)-1] == '"'
	if whole {
		text = raw[1 : len(raw)-1]
	}
	if bytes.IndexByte(text, '\\') >= 0 {
		var s string
		if whole = whole && json.Unmarshal(raw, &s) == nil; whole {
			text = []byte(s)
		}
	}
	if top.object && top.isKey {
		top.key = m.keys.class(text)
		return appendMasked(dst, raw, text, m.ownIn(text), whole)
	}
	if top.object && top.key == keyName {
		top.secret = len(text) <= maxName && m.names.class(text) == keySecret
	}
	switch mode := top.value(); {
	case mode == hidden && len(text) > 0:
		return append(dst, `"`+masked+`"`...)
	case m.said != nil && nested == maxNested && top.object && top.key == keyText:
		return appendMasked(dst, raw, text, m.joined(m.said, text), whole)
	case mode == push && top.object && top.key == keyURL:
		return appendMasked(dst, raw, text, []byte(hidePath(m.text(string(text)))), whole)
	}
	return appendMasked(dst, raw, text, m.value(text, nested), whole)
}

// value masks a string that is a value: by what is in it, or, if it is JSON
// itself, as such. It returns the same bytes if nothing is to be masked.
func (m *masker) value(text []byte, nested int) []byte {
	if nested > 0 && looksJSON(text) && json.Valid(text) {
		return m.json(nil, text, nested-1)
	}
	if spans := m.spans(text); len(spans) > 0 {
		return replace(nil, text, spans)
	}
	return text
}

// ownIn takes out the program's own credentials only.
func (m *masker) ownIn(text []byte) []byte {
	if spans := m.find(text, true); len(spans) > 0 {
		return replace(nil, text, spans)
	}
	return text
}

// hidePath takes from a URL what is behind its host: a webhook's path is as good
// as a password.
func hidePath(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return masked
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && rest[i:] != "/" {
		return scheme + "://" + rest[:i] + "/" + masked
	}
	return s
}

// looksJSON reports whether b was meant to be a JSON document: one cut off, say.
func looksJSON(b []byte) bool {
	b = b[blanks(b, 0):]
	if len(b) > 0 && b[0] == 0xEF {
		b = bytes.TrimLeft(b, " \t\r\n\ufeff")
	}
	return len(b) > 0 && (b[0] == '{' || b[0] == '[' || b[0] == '"')
}

// appendMasked appends a string the way it was written, if nothing of it was
// masked.
func appendMasked(dst, raw, was, is []byte, whole bool) []byte {
	switch {
	case string(was) == string(is):
		return append(dst, raw...)
	case !whole:
		return append(append(dst, '"'), is...)
	}
	return appendString(dst, string(is))
}

// appendString appends a string as JSON, with <, > and & as they are.
func appendString(dst []byte, s string) []byte {
	if utf8.ValidString(s) && plainEnd([]byte(s), 0) == len(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(s) != nil {
		return append(dst, `"`+masked+`"`...)
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// scalar masks a number: whether there is a credential may be told.
func (m *masker) scalar(dst, raw []byte, top *frame) []byte {
	switch string(raw) {
	case "null", "true", "false":
		return append(dst, raw...)
	}
	if top.value() == hidden || len(raw) >= minLiteral && !bytes.Equal(m.ownIn(raw), raw) {
		return append(dst, `"`+masked+`"`...)
	}
	return append(dst, raw...)
}
