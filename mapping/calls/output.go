package calls

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file keeps the output of a call that runs. Both dialects send all of it each
// time, and an editor of ACP is to get all of it each time; so each byte is processed
// only once, when it first comes: otherwise a megabyte that grows in small steps costs
// minutes.

// Sent is text as an event has it: a JSON string, or plain text where the part
// was made in this process.
type Sent struct {
	JSON a2a.JSON
	Text string
	// Screen says that it may be what is on a pty's screen: see [TrimScreen].
	Screen bool
}

// SetOutputSoFar takes the output so far of a call, as it is written in its data.
func (c *ToolCall) SetOutputSoFar(raw string) {
	c.sent, c.OutputSoFar = Sent{}, ""
	if rawjson.IsString(raw) {
		c.sent = Sent{JSON: a2a.JSON(raw)}
	} else {
		c.OutputSoFar = StringOf(raw)
	}
}

// A growingText is the output of a call that runs. It is only ever appended to, so that the views
// that were given out stay what they are.
type growingText struct {
	sent   []byte // the JSON string that came last, without its closing quote
	text   []byte // what it says
	json   []byte // the same as rawjson.AppendEscaped writes it, without quotes
	screen bool
	// padded: text is not all that sent says, so that nothing can be appended.
	padded bool
}

// readOutput sets a mention's OutputSoFar from what its event has sent, and returns that as it is
// kept: as old's output that has grown, or a new one; nil if the mention has none.
func (now *ToolCall) readOutput(old *kept) *growingText {
	sent := now.sent
	now.sent = Sent{}
	if sent.JSON == "" && sent.Text != "" {
		sent.JSON = a2a.JSON(append(rawjson.AppendEscaped([]byte{'"'}, sent.Text), '"'))
	}
	if len(sent.JSON) <= len(`""`) {
		return nil
	}
	var t *growingText
	if old != nil {
		t = old.growing
	}
	if t == nil || !t.grow(string(sent.JSON), sent.Screen) {
		t = &growingText{screen: sent.Screen}
		t.begin(string(sent.JSON))
	}
	if len(t.text) == 0 {
		return nil
	}
	now.OutputSoFar, now.outputJSON = rawjson.View(t.text), rawjson.View(t.json)
	return t
}

// begin sets the text of a new one.
func (t *growingText) begin(sent string) {
	text := StringOf(sent)
	if t.screen {
		trimmed := TrimScreen(text)
		t.padded = len(trimmed) != len(text)
		text = trimmed
	}
	t.sent = append(t.sent, sent[:len(sent)-1]...)
	t.add(text)
}

// grow appends what sent has beyond the text that is there; false if it does not begin with that.
func (t *growingText) grow(sent string, screen bool) bool {
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
		// Blanks at the end may turn out to be padding before a line feed.
		from := t.text[max(0, len(t.text)-2):]
		if s := string(from) + text; TrimScreen(s) != s {
			return false
		}
	}
	t.sent = appendRoom(t.sent, rest)
	t.add(text)
	return true
}

// add appends to the text, and to its JSON.
func (t *growingText) add(text string) {
	t.text = appendRoom(t.text, text)
	if len(t.json)+len(text)+len(text)/8 > cap(t.json) {
		t.json = slices.Grow(t.json, len(t.json)+len(text)+len(text)/8)
	}
	t.json = rawjson.AppendEscaped(t.json, text)
}

// appendRoom is append that doubles what is long: append grows it by a quarter.
func appendRoom(dst []byte, s string) []byte {
	if len(dst) > 0 && len(dst)+len(s) > cap(dst) {
		dst = slices.Grow(dst, len(dst)+len(s))
	}
	return append(dst, s...)
}

// TrimScreen takes away the blanks that a pty pads each line with, and the empty
// lines below the last one. Text without padding is returned as it is.
func TrimScreen(s string) string {
	if !strings.Contains(s, "  \n") && !strings.HasSuffix(s, "  ") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// Result gives a mention that ends a call without a result the call's output so far, with the note
// about its end, as the result.
func (c *Calls) Result(now *ToolCall) {
	now.outputInResult = now.Status.Ended()
	text := now.Note
	if text != "" {
		text = "[" + text + "]"
	}
	if old := c.task.calls[now.ID]; old != nil && old.OutputSoFar != "" && now.Output == nil {
		text = strings.TrimPrefix(strings.TrimSuffix(old.OutputSoFar, "\n")+"\n"+text, "\n")
	}
	switch {
	case !now.Status.Ended() || text == "" || now.Output != nil:
	case now.Status == Succeeded:
		now.Output = &Output{Text: text}
	case now.Error == nil:
		now.Error = &ErrorDetails{Message: text}
	default:
		now.Error = &ErrorDetails{Message: text + "\n" + now.Error.Message}
	}
}
