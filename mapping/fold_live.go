package mapping

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file keeps the output of a call that runs. Both dialects send all of it
// each time, and an editor of ACP is to get all of it each time; so whatever else
// is done for each byte is done when that byte comes first, or a megabyte that
// grows in small steps costs minutes.

// A sentText is text as an event has it: a JSON string, or, of a part that was
// not read off a wire, its text.
type sentText struct {
	json a2a.JSON
	text string
	// screen says that it may be what is on a pty's screen: see trimScreen.
	screen bool
}

// setLive takes the live output of a call, as it is written in its data.
func (c *ToolCall) setLive(raw string) {
	if rawjson.IsString(raw) {
		c.sent = sentText{json: a2a.JSON(raw)}
	} else {
		c.Live = stringOf(raw)
	}
}

// A knownText is what is known of a text: json is how appendString writes it,
// without the quotes, sum is its hash, ticks the longest row of backticks in it.
type knownText struct {
	json  string
	sum   uint64
	ticks int
}

// A liveText is a text that grows. What is kept of it is only ever appended to, so
// that the views that were given out stay what they are.
type liveText struct {
	sent   []byte // the JSON string that came last, without its closing quote
	text   []byte // what it says
	json   []byte // the same as appendString writes it, without quotes
	hash   maphash.Hash
	screen bool
	// padded: text is not all that sent says, and cannot be gone on with.
	padded bool
	// ticks is the longest row of backticks, open the one that text ends with.
	ticks, open int
}

// readLive reads what a call has put out so far, and returns what is kept of it;
// nil if it says nothing of that.
func (f *Fold) readLive(c *ToolCall, old *call) *liveText {
	sent := c.sent
	c.sent = sentText{}
	if sent.json == "" && sent.text != "" {
		sent.json = a2a.JSON(appendString(nil, sent.text))
	}
	if len(sent.json) <= len(`""`) {
		return nil
	}
	var t *liveText
	if old != nil {
		t = old.live
	}
	if t == nil || !t.grow(string(sent.json), sent.screen) {
		t = &liveText{screen: sent.screen}
		t.hash.SetSeed(f.seed)
		t.begin(string(sent.json))
	}
	if len(t.text) == 0 {
		return nil
	}
	c.Live, c.live = rawjson.View(t.text), knownText{rawjson.View(t.json), t.hash.Sum64(), t.ticks}
	return t
}

// begin takes text that is not what was there and more.
func (t *liveText) begin(sent string) {
	text := stringOf(sent)
	if t.screen {
		trimmed := trimScreen(text)
		t.padded = len(trimmed) != len(text)
		text = trimmed
	}
	t.sent = append(t.sent, sent[:len(sent)-1]...)
	t.add(text)
}

// grow takes text that begins with what is there; false if it does not.
func (t *liveText) grow(sent string, screen bool) bool {
	n := len(t.sent)
	if t.padded || t.screen != screen || len(sent) <= n || sent[:n] != string(t.sent) {
		return false
	}
	rest := sent[n : len(sent)-1]
	if rest == "" {
		return true
	}
	// Half a character, or half of an escaped pair of surrogates, means something
	// else with its other half. (What comes through transport has none.)
	if !utf8.RuneStart(rest[0]) || len(rest) > 3 && rest[:2] == `\u` && rest[2]|0x20 == 'd' {
		return false
	}
	text := rest
	if strings.IndexByte(rest, '\\') >= 0 {
		text = rawjson.Unescape(rest)
	}
	if t.screen {
		// Two blanks may meet their line feed only now.
		from := t.text[max(0, len(t.text)-2):]
		if s := string(from) + text; trimScreen(s) != s {
			return false
		}
	}
	t.sent = appendRoom(t.sent, rest)
	t.add(text)
	return true
}

// add appends text that was not there.
func (t *liveText) add(text string) {
	t.text = appendRoom(t.text, text)
	if len(t.json)+len(text)+len(text)/8 > cap(t.json) {
		t.json = slices.Grow(t.json, len(t.json)+len(text)+len(text)/8)
	}
	t.json = appendEscaped(t.json, text)
	t.hash.WriteString(text)
	for text != "" {
		n := len(text) - len(strings.TrimLeft(text, "`"))
		if n > 0 {
			t.open += n
			t.ticks = max(t.ticks, t.open)
			text = text[n:]
			continue
		}
		if n = strings.IndexByte(text, '`'); n < 0 {
			n = len(text)
		}
		t.open = 0
		text = text[n:]
	}
}

// appendRoom is append that doubles: what grows is longer than what append grows
// by half or less was made for.
func appendRoom(dst []byte, s string) []byte {
	if len(dst) > 0 && len(dst)+len(s) > cap(dst) {
		dst = slices.Grow(dst, len(dst)+len(s))
	}
	return append(dst, s...)
}
