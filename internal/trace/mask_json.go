package trace

import (
	"bytes"
	"encoding/json"
	"strings"
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
)

// A frame is an object or a list that is open.
type frame struct {
	object bool
	mode   mode
	key    string
	isKey  bool // the next string is a member's name
	secret bool // {"name": what names a credential, …}
}

// value is the mode of the value that comes next.
func (f *frame) value() mode {
	if !f.object {
		if f.mode == list {
			return hidden // but an object in it is a pair: see json
		}
		return f.mode
	}
	switch key := plain(f.key); {
	case f.mode == hidden, f.mode == pairs:
		return hidden
	case f.mode == pair && key == "name":
		return open
	case f.mode == pair:
		return hidden
	case f.mode == exempt, key == "securityschemes", key == "security", key == "securityrequirements":
		return exempt
	case key == "mcpservers":
		return servers
	case f.mode == servers && (key == "env" || key == "environment" || key == "headers" || key == "httpheaders" || key == "args"):
		return pairs
	case secretName(f.key), f.secret && key == "value":
		return hidden
	}
	return f.mode
}

// json masks a JSON document, and leaves every other byte as it is. The document
// may be cut off, or be no JSON at all: it is read token by token.
func (m *masker) json(src []byte) []byte { return m.nested(src, maxNested) }

func (m *masker) nested(src []byte, nested int) []byte {
	dst := make([]byte, 0, len(src)+16)
	stack := []frame{{}}
	for i := 0; i < len(src); {
		top := &stack[len(stack)-1]
		switch c := src[i]; c {
		case '{', '[':
			next := frame{object: c == '{', mode: top.value(), isKey: c == '{'}
			switch {
			case next.object && top.mode == list:
				next.mode = pair
			case !next.object && next.mode == pairs:
				next.mode = list
			case next.object && next.mode == pairs:
				next.mode = hidden
			}
			stack = append(stack, next)
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
	var s string
	whole := json.Unmarshal(raw, &s) == nil
	if !whole {
		s = string(raw) // cut off
	}
	if top.object && top.isKey {
		top.key = s
		return appendMasked(dst, raw, s, m.literal(s), whole)
	}
	if top.object && (top.key == "name" || top.key == "key") {
		top.secret = secretParam(s)
	}
	if top.value() == hidden && s != "" {
		return append(dst, `"`+masked+`"`...)
	}
	return appendMasked(dst, raw, s, m.value(s, nested), whole)
}

// appendMasked appends a string the way it was written, if nothing of it was
// masked.
func appendMasked(dst, raw []byte, was, is string, whole bool) []byte {
	switch {
	case was == is:
		return append(dst, raw...)
	case !whole:
		return append(dst, is...)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(is) != nil {
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
	if top.value() == hidden || m.literal(string(raw)) != string(raw) {
		return append(dst, `"`+masked+`"`...)
	}
	return append(dst, raw...)
}
