package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// A mode tells what to mask in a part of a JSON document.
type mode uint8

const (
	open     mode = iota // what its name or shape shows to be a credential
	hidden               // everything
	exempt               // shapes only: names mean nothing in a card's security schemes
	servers              // MCP servers: a list of settings, or their names and settings
	settings             // only what is on the list, and objects in that
	pairs                // env, headers or args: a list of strings, or of {"name", "value"}, whose name stays
	push                 // in push configurations: the path of the URL
)

// A frame is an open object or list.
type frame struct {
	object bool
	mode   mode
	key    keyClass // of the current member
	isKey  bool     // the next string is a member's name
	secret bool     // {"name": the name of a credential, …}
	shown  bool     // in settings: the current member is on the list
	spoken bool     // what the current member says is a word of the protocols
}

// value is the mode of the next value.
func (f *frame) value() mode {
	switch {
	case f.mode == pairs && f.object && f.key == keyName:
		return open
	case f.mode == hidden, f.mode == pairs:
		return hidden // except in an object of a list, see enter
	case !f.object:
		return f.mode
	case f.mode == exempt, f.key == keyExempt:
		return exempt
	case f.key == keyServers:
		return servers
	case f.mode == servers, f.mode != settings && f.key == keyObject:
		return settings
	case f.mode == settings && f.key == keyEnv:
		return pairs
	case f.mode == settings && !f.shown:
		return hidden
	case f.key == keyPush:
		return push
	case f.key == keySecret, f.secret && f.key == keyValue:
		return hidden
	}
	return f.mode
}

// enter returns the frame of an object or a list in f.
func (f *frame) enter(object bool) frame {
	next := frame{object: object, mode: f.value(), isKey: object, spoken: f.spoken}
	switch {
	case object && f.mode == pairs && !f.object:
		next.mode = pairs
	case object && f.mode == servers && !f.object:
		next.mode = settings
	case !object && next.mode == settings && !f.shown, object && next.mode == pairs:
		next.mode = hidden
	}
	return next
}

// json appends a JSON document, masked, with all other bytes unchanged. The document
// may be cut off, or not be JSON: it is read token by token. nested counts the JSON
// documents around this one.
func (m *masker) json(dst, src []byte, nested int) []byte {
	stack := append(make([]frame, 0, 32), frame{})
	if stack[0].mode = m.as; m.as == open && pushes(src) {
		stack[0].mode = push
	}
	for i := 0; i < len(src); {
		top := &stack[len(stack)-1]
		switch c := src[i]; c {
		case '{', '[':
			if len(stack) <= maxDepth {
				next := top.enter(c == '{')
				if c == '{' && (next.mode == open || next.mode == push) && areSettings(src[i:]) {
					next.mode = settings
				}
				stack = append(stack, next)
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

// areSettings reports whether an object is what a client sets an agent to: Gemini's
// settings name themselves, those of the development-tool extension a workspace.
func areSettings(src []byte) bool {
	if !bytes.Contains(src[:min(len(src), 4<<10)], []byte("orkspace")) && !bytes.Contains(src[:min(len(src), 4<<10)], []byte("agent-settings")) {
		return false
	}
	found := false
	s := rawjson.View(src)
	rawjson.Walk(s, 0, func(key string, at int) int {
		end := rawjson.SkipValue(s, at)
		switch plain(key) {
		case "workspacepath", "workspacepaths":
			found = true
		case "kind":
			found = found || s[at:end] == `"agent-settings"`
		}
		return end
	})
	return found
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
		top.key = m.class(string(text))
		top.shown = top.mode == settings && shownSetting(string(text))
		top.spoken = m.redact && spoken(string(text))
		if m.namesWord(string(text)) {
			top.key = keySecret
		}
		return appendMasked(dst, raw, text, m.ownIn(text), whole)
	}
	if top.object && top.key == keyName {
		top.secret = len(text) <= maxName && secretParam(string(text))
	}
	if top.value() == hidden && len(text) > 0 {
		if m.client {
			m.hidden(string(text), top)
		}
		return append(dst, `"`+masked+`"`...)
	}
	is := m.member(text, top, nested)
	if string(is) != masked && m.redacts(text, top.spoken) {
		return fmt.Appendf(dst, `"<%d bytes>"`, len(raw)-2)
	}
	return appendMasked(dst, raw, text, is, whole)
}

// member masks a string value by its place.
func (m *masker) member(text []byte, top *frame, nested int) []byte {
	mode := top.value()
	switch {
	case !top.object:
	case mode == settings && looksJSON(text): // in a string
		return m.settingsText(text, nested)
	case mode == settings && top.key == keyURL:
		return []byte(m.settingsURL(string(text)))
	case m.said != nil && nested == maxNested && top.key == keyText:
		return m.joined(m.said, text)
	case mode == push && top.key == keyURL:
		return []byte(hidePath(m.text(string(text))))
	case mode == settings:
		return []byte(m.withoutWords(string(m.value(text, nested))))
	}
	return m.value(text, nested)
}

// hidden learns a value that is masked in what a client says.
func (m *masker) hidden(text string, top *frame) {
	if !top.object && top.mode == pairs { // an argument: most are no credentials
		_, after, _ := strings.Cut(text, "=")
		m.note(after, false)
		return
	}
	m.note(text, top.key == keySecret && !slices.Contains(m.noted.words, text))
	m.noteWord(text)
}

// settingsText masks settings that stand in a string.
func (m *masker) settingsText(text []byte, nested int) []byte {
	if nested == 0 || !json.Valid(text) {
		return []byte(masked)
	}
	defer func(was mode) { m.as = was }(m.as)
	m.as = settings
	return m.json(nil, text, nested-1)
}

// settingsURL masks the URL of a server in settings, whose path may be a password.
func (m *masker) settingsURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return masked
	}
	if m.client {
		m.noteURL(u)
	}
	return m.address(u)
}

// value masks a string value: its text, or the JSON in it. It returns the same bytes if
// nothing is masked.
func (m *masker) value(text []byte, nested int) []byte {
	if nested > 0 && looksJSON(text) && json.Valid(text) {
		return m.json(nil, text, nested-1)
	}
	return replace(text, m.spans(text))
}

// ownIn masks only the program's own credentials.
func (m *masker) ownIn(text []byte) []byte { return replace(text, m.find(text, true)) }

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
	return rawjson.AppendString(dst, string(is))
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
