package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A mode tells what to mask in a part of a JSON document.
type mode uint8

const (
	open    mode = iota // what its name or shape shows to be a credential
	hidden              // everything
	exempt              // shapes only: names mean nothing in a card's security schemes
	servers             // in MCP servers: the values of env, headers and args
	pairs               // a value of env, headers or args: a list or an object
	list                // the list: of strings, or of {"name", "value"}
	pair                // such an object: its name stays
	push                // in push configurations: the path of the URL
)

// A frame is an open object or list.
type frame struct {
	object bool
	mode   mode
	key    keyClass // of the current member
	isKey  bool     // the next string is a member's name
	secret bool     // {"name": the name of a credential, …}
}

// value is the mode of the next value.
func (f *frame) value() mode {
	switch {
	case !f.object && f.mode == list:
		return hidden // except in an object, which is a pair: see enter
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

// enter returns the frame of an object or a list in f.
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

// json appends a JSON document, masked, with all other bytes unchanged. The document
// may be cut off, or not be JSON: it is read token by token. nested counts the JSON
// documents around this one.
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

// pushes reports whether a document is a call about push notifications: in A2A 1.0 its
// parameters are the configuration itself.
func pushes(src []byte) bool {
	head := src[:min(len(src), 4<<10)]
	return bytes.Contains(head, []byte("ushNotificationConfig")) && bytes.Contains(head, []byte(`"method"`))
}

// stringEnd returns the end of the string that begins at i.
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
		top.key = m.keys.class(string(text))
		return appendMasked(dst, raw, text, m.ownIn(text), whole)
	}
	if top.object && top.key == keyName {
		top.secret = len(text) <= maxName && m.names.class(string(text)) == keySecret
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

// value masks a string value: its text, or the JSON in it. It returns the same bytes if
// nothing is masked.
func (m *masker) value(text []byte, nested int) []byte {
	if nested > 0 && looksJSON(text) && json.Valid(text) {
		return m.json(nil, text, nested-1)
	}
	if spans := m.spans(text); len(spans) > 0 {
		return replace(nil, text, spans)
	}
	return text
}

// ownIn masks only the program's own credentials.
func (m *masker) ownIn(text []byte) []byte {
	if spans := m.find(text, true); len(spans) > 0 {
		return replace(nil, text, spans)
	}
	return text
}

// hidePath removes what follows the host of a URL: a webhook's path is as secret as a
// password.
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

// looksJSON reports whether b was meant as a JSON document, perhaps cut off.
func looksJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	if len(b) > 0 && b[0] == 0xEF {
		b = bytes.TrimLeft(b, " \t\r\n\ufeff")
	}
	return len(b) > 0 && (b[0] == '{' || b[0] == '[' || b[0] == '"')
}

// appendMasked appends a string; in its original form if nothing was masked.
func appendMasked(dst, raw, was, is []byte, whole bool) []byte {
	switch {
	case string(was) == string(is):
		return append(dst, raw...)
	case !whole:
		return append(append(dst, '"'), is...)
	}
	return appendString(dst, string(is))
}

// appendString appends a string as JSON, without escaping <, > and &.
func appendString(dst []byte, s string) []byte {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029' }) {
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

// scalar masks a number. It keeps false and true, which may tell whether there is a
// credential.
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
