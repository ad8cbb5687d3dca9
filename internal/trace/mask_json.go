package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

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

// json masks a JSON document, and returns it with all other bytes unchanged; the same bytes if
// nothing is masked. The document may be cut off, or not be JSON: it is read token by token.
// nested counts the JSON documents around this one.
func (m *masker) json(src []byte, nested int) []byte {
	doc := rawjson.View(src)
	tells := tellsMode(doc)
	stack := append(make([]frame, 0, 32), frame{mode: m.as})
	if tells && m.as == open && pushes(doc) {
		stack[0].mode = push
	}
	var out []byte
	done := 0 // so much of src is in out
	for i, end := 0, 0; i < len(src); i = end {
		top := &stack[len(stack)-1]
		var is []byte // in place of src[i:end]
		end = i + 1
		switch src[i] {
		case '{', '[':
			if len(stack) <= maxDepth {
				stack = append(stack, m.enter(top, doc[i:], tells))
			}
		case '}', ']':
			stack = stack[:max(1, len(stack)-1)]
		case ',':
			top.isKey = top.object
		case ':':
			top.isKey = false
		case ' ', '\t', '\r', '\n':
		case '"':
			end = rawjson.SkipString(doc, i)
			m.notePlace(span{i, end}, top, nested)
			is = m.token(src[i:end], top, nested)
		default:
			for end < len(src) && strings.IndexByte(" \t\r\n{}[],:\"", src[end]) < 0 {
				end++
			}
			is = m.scalar(src[i:end], top)
		}
		if is != nil {
			out = append(append(out, src[done:i]...), is...)
			done = end
		}
	}
	if done == 0 {
		return src
	}
	return append(out, src[done:]...)
}

// enter returns the frame of the object or list that a document begins with.
func (m *masker) enter(top *frame, doc string, tells bool) frame {
	next := top.enter(doc[0] == '{')
	if tells && next.object && (next.mode == open || next.mode == push) && areSettings(doc) {
		next.mode = settings
	}
	m.special = m.special || next.mode != open
	return next
}

// tellsMode reports whether a document may have settings that are known by a member, or is about push
// notifications. It searches for parts of words that begin with a rare letter, which is fast.
func tellsMode(doc string) bool {
	if strings.Contains(doc, "gent-settings") || strings.Contains(doc, "NotificationConfig") {
		return true
	}
	for {
		_, rest, ok := strings.Cut(doc, "kspace") // workspacePath, workspace_path, but not "in the workspace"
		if !ok || strings.HasPrefix(rest, `\`) || strings.HasPrefix(plain(rest[:min(len(rest), 16)]), "path") {
			return ok
		}
		doc = rest
	}
}

// areSettings reports whether an object is what a client sets an agent to: Gemini's
// settings name themselves, those of the development-tool extension a workspace.
func areSettings(doc string) (found bool) {
	head := doc[:min(len(doc), 4<<10)]
	if !strings.Contains(head, "kspace") && !strings.Contains(head, "gent-settings") {
		return false
	}
	rawjson.Walk(doc, 0, func(key string, at int) int {
		end := rawjson.SkipValue(doc, at)
		switch plain(key) {
		case "workspacepath", "workspacepaths":
			found = true
		case "kind":
			found = found || doc[at:end] == `"agent-settings"`
		}
		return end
	})
	return found
}

// pushes reports whether a document is a call about push notifications: in A2A 1.0 its
// parameters are the configuration itself.
func pushes(doc string) bool {
	head := doc[:min(len(doc), 4<<10)]
	return strings.Contains(head, "NotificationConfig") && strings.Contains(head, `"method"`)
}

// token masks a string: a member's name or a value. It returns nil if nothing is masked.
func (m *masker) token(raw []byte, top *frame, nested int) []byte {
	text, whole := raw[1:], len(raw) > 1 && raw[len(raw)-1] == '"'
	if whole {
		text = raw[1 : len(raw)-1]
	}
	if bytes.IndexByte(text, '\\') >= 0 {
		if whole = whole && rawjson.Valid(raw); whole {
			used := len(m.plain)
			defer func() { m.plain = m.plain[:used] }() // a document within this text uses what follows
			m.plain = rawjson.AppendUnescaped(m.plain, rawjson.View(text))
			text = m.plain[used:]
		}
	}
	is := text
	switch {
	case top.object && top.isKey:
		m.name(rawjson.View(text), top)
		if len(m.literals) > 0 {
			is = m.ownIn(text)
		}
	case top.value() == hidden && len(text) > 0:
		if m.client {
			m.hidden(string(text), top)
		}
		return []byte(`"` + masked + `"`)
	default:
		if top.object && top.key == keyName {
			top.secret = len(text) <= maxName && secretParam(rawjson.View(text))
		}
		is = m.member(text, top, nested)
		if m.redact && string(is) != masked && redacts(text, top.spoken) {
			return fmt.Appendf(nil, `"<%d bytes>"`, len(raw)-2)
		}
	}
	switch {
	case string(is) == string(text):
		return nil
	case !whole:
		return append([]byte{'"'}, is...)
	}
	return rawjson.AppendString(nil, string(is))
}

// named masks an ID or a method that a record repeats, as in its document.
func (m *masker) named(raw []byte) []byte {
	is, top := raw, frame{object: true, spoken: true}
	if rawjson.IsString(rawjson.View(raw)) {
		is = m.token(raw, &top, maxNested)
	} else if len(raw) > 0 {
		is = m.scalar(raw, &top)
	}
	if is == nil {
		return raw
	}
	return is
}

// name takes the name of a member.
func (m *masker) name(name string, top *frame) {
	top.key = m.class(name)
	top.shown = top.mode == settings && shownSetting(name)
	top.spoken = m.redact && spoken(name)
	if m.namesWord(name) {
		top.key = keySecret
	}
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
	return m.json(text, nested-1)
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
		return m.json(text, nested-1)
	}
	return replace(text, m.spans(text))
}

// ownIn masks only the program's own credentials.
func (m *masker) ownIn(text []byte) []byte {
	spans, _ := m.find(text, 0, ownOnly)
	return replace(text, spans)
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
	if len(b) > 0 && b[0] > ' ' && b[0] < utf8.RuneSelf { // most
		return b[0] == '{' || b[0] == '[' || b[0] == '"'
	}
	b = bytes.TrimLeft(b, " \t\r\n\ufeff")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[' || b[0] == '"')
}

// scalar is token for a number. It keeps false and true, which may tell whether there is a
// credential.
func (m *masker) scalar(raw []byte, top *frame) []byte {
	switch string(raw) {
	case "null", "true", "false":
		return nil
	}
	if top.value() == hidden || len(raw) >= minLiteral && !bytes.Equal(m.ownIn(raw), raw) {
		return []byte(`"` + masked + `"`)
	}
	return nil
}
