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
	modeOpen     mode = iota // what its name or shape shows to be a credential
	modeHidden               // everything
	modeExempt               // shapes only: names mean nothing in a card's security schemes
	modeServers              // MCP servers: a list of settings, or their names and settings
	modeSettings             // only what is on the list, and objects in that
	modePairs                // env, headers or args: a list of strings, or of {"name", "value"}, whose name stays
	modePush                 // in push configurations: the path of the URL
)

// A frame is an open object or list.
type frame struct {
	object   bool
	mode     mode
	key      keyClass // of the current member
	isKey    bool     // the next string is a member's name
	secret   bool     // {"name": the name of a credential, …}
	shown    bool     // in settings: the current member is on the list
	protocol bool     // when redacting: isProtocolMember of the current member
}

// valueMode returns the mode of the next value.
func (f *frame) valueMode() mode {
	switch {
	case f.mode == modePairs && f.object && f.key == keyName:
		return modeOpen
	case f.mode == modeHidden, f.mode == modePairs:
		return modeHidden // except in an object of a list, see enter
	case !f.object:
		return f.mode
	case f.mode == modeExempt, f.key == keyExempt:
		return modeExempt
	case f.key == keyServers:
		return modeServers
	case f.mode == modeServers, f.mode != modeSettings && f.key == keyObject:
		return modeSettings
	case f.mode == modeSettings && f.key == keyEnv:
		return modePairs
	case f.mode == modeSettings && !f.shown:
		return modeHidden
	case f.key == keyPush:
		return modePush
	case f.key == keySecret, f.secret && f.key == keyValue:
		return modeHidden
	}
	return f.mode
}

// enter returns the frame of an object or a list in f.
func (f *frame) enter(object bool) frame {
	next := frame{object: object, mode: f.valueMode(), isKey: object, protocol: f.protocol}
	switch {
	case object && f.mode == modePairs && !f.object:
		next.mode = modePairs
	case object && f.mode == modeServers && !f.object:
		next.mode = modeSettings
	case !object && next.mode == modeSettings && !f.shown, object && next.mode == modePairs:
		next.mode = modeHidden
	}
	return next
}

// json masks a JSON document, and returns it with all other bytes unchanged; the same bytes if
// nothing is masked. The document may be cut off, or not be JSON: it is read token by token.
// nested is how deep JSON in its strings is read as JSON: maxNested in the outermost document.
func (m *masker) json(src []byte, nested int) []byte {
	doc := rawjson.View(src)
	tells := tellsMode(doc)
	stack := append(make([]frame, 0, 32), frame{mode: m.mode})
	if tells && m.mode == modeOpen && pushes(doc) {
		stack[0].mode = modePush
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

// enter is frame.enter for the object or list that doc begins with: it may be settings.
func (m *masker) enter(top *frame, doc string, tells bool) frame {
	next := top.enter(doc[0] == '{')
	if tells && next.object && (next.mode == modeOpen || next.mode == modePush) && areSettings(doc) {
		next.mode = modeSettings
	}
	m.special = m.special || next.mode != modeOpen
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
		if !ok || strings.HasPrefix(rest, `\`) || strings.HasPrefix(normalName(rest[:min(len(rest), 16)]), "path") {
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
		switch normalName(key) {
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
			used := len(m.unescaped)
			defer func() { m.unescaped = m.unescaped[:used] }() // a document in this text uses what follows
			m.unescaped = rawjson.AppendUnescaped(m.unescaped, rawjson.View(text))
			text = m.unescaped[used:]
		}
	}
	is := text
	switch {
	case top.object && top.isKey:
		m.name(rawjson.View(text), top)
		if len(m.literals) > 0 {
			is = m.hide(text, ownOnly)
		}
	case top.valueMode() == modeHidden && len(text) > 0:
		if m.fromClient {
			m.noteHidden(string(text), top)
		}
		return []byte(`"` + stars + `"`)
	default:
		if top.object && top.key == keyName {
			top.secret = len(text) <= maxName && secretParam(rawjson.View(text))
		}
		is = m.member(text, top, nested)
		if m.redact && string(is) != stars && redacts(text, top.protocol) {
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

// idOrMethod masks an ID or a method that a record repeats, as in its document.
func (m *masker) idOrMethod(raw []byte) []byte {
	is, top := raw, frame{object: true, protocol: true}
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

// name takes the name of a member, by which the frame knows what its value is.
func (m *masker) name(name string, top *frame) {
	top.key = m.class(name)
	top.shown = top.mode == modeSettings && shownSetting(name)
	top.protocol = m.redact && isProtocolMember(name)
	if m.isWordHeader(name) {
		top.key = keySecret
	}
}

// member masks a string value by its place.
func (m *masker) member(text []byte, top *frame, nested int) []byte {
	mode := top.valueMode()
	switch {
	case !top.object:
	case mode == modeSettings && looksJSON(text): // in a string
		return m.settingsText(text, nested)
	case mode == modeSettings && top.key == keyURL:
		return []byte(m.settingsURL(string(text)))
	case m.tail != nil && nested == maxNested && top.key == keyText:
		return m.joined(m.tail, text)
	case mode == modePush && top.key == keyURL:
		return []byte(hidePath(m.text(string(text))))
	case mode == modeSettings:
		return []byte(m.hideWords(string(m.value(text, nested))))
	}
	return m.value(text, nested)
}

// noteHidden notes a value that is masked in what a client says: the agent may repeat it.
func (m *masker) noteHidden(text string, top *frame) {
	if !top.object && top.mode == modePairs { // an argument: most are no credentials
		_, after, _ := strings.Cut(text, "=")
		m.noteSecret(after, false)
		return
	}
	m.noteSecret(text, top.key == keySecret && !slices.Contains(m.noted.wordlike, text))
	m.noteWordlike(text)
}

// settingsText masks settings that stand in a string.
func (m *masker) settingsText(text []byte, nested int) []byte {
	if nested == 0 || !json.Valid(text) {
		return []byte(stars)
	}
	defer func(was mode) { m.mode = was }(m.mode)
	m.mode = modeSettings
	return m.json(text, nested-1)
}

// settingsURL masks the URL of a server in settings, whose path may be a password.
func (m *masker) settingsURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return stars
	}
	if m.fromClient {
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
	return m.hide(text, inText)
}

// hidePath removes what follows the host of a URL: a webhook's path is as secret as a
// password.
func hidePath(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return stars
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && rest[i:] != "/" {
		return scheme + "://" + rest[:i] + "/" + stars
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

// scalar is token for what is no string. It keeps false and true, which may tell whether there is a
// credential.
func (m *masker) scalar(raw []byte, top *frame) []byte {
	switch string(raw) {
	case "null", "true", "false":
		return nil
	}
	if top.valueMode() == modeHidden || len(raw) >= minLiteral && !bytes.Equal(m.hide(raw, ownOnly), raw) {
		return []byte(`"` + stars + `"`)
	}
	return nil
}
