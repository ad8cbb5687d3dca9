package calls

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An outputs reads an artifact as the output of the call of its ID: what is next in it, which is
// overwritten behind the event, as a stream's is.
type outputs struct {
	Reader
	next *Sent
}

func (o outputs) OutputSoFar(a *a2a.Artifact) (string, Sent, bool) { return a.ID, *o.next, true }

// TestOutputGrows: output that is appended to what is kept is what reading it anew gives, also in
// JSON, whatever it goes on with and however it is escaped; what was shown before does not change.
func TestOutputGrows(t *testing.T) {
	steps := func(text string) (all []string) {
		for n := range text {
			all = append(all, text[:n])
		}
		return append(all, text)
	}
	for name, texts := range map[string][]string{
		"backticks":              steps("a``b``` ``````` c`` \n``x````"),
		"a screen's padding":     steps("ab  \ncd ef  \n  gh\n\n  i     j"),
		"characters and escapes": steps("make: `x`\n``` \" \\ \u2028\b 世界🌍 ends\n\n  \nand more"),
		"drawn again":            {"abcdef", "abcdefghi", "fghijklmnopq", "abc", "fghijklmnopqrs"},
		"a padded end":           {"ab  \ncd", "ab  \ncd ef gh\n\n", "ab  \ncd ef gh\n\n  ", "ab  \ncd ef gh\n\n  and"},
	} {
		for how, spell := range map[string]func(string) string{
			"plain":  func(s string) string { return string(rawjson.AppendString(nil, s)) },
			"HTML's": func(s string) string { b, _ := json.Marshal(s); return string(b) },
			"ASCII":  asciiJSON,
		} {
			for _, screens := range []string{"no", "yes", "in turns"} {
				c, sent := newConversation().play("X"), new(Sent)
				c.Speak(1, outputs{next: sent}, true)
				shown, was := []string{}, []string{}
				for i, text := range texts {
					raw := []byte(spell(text))
					*sent = Sent{JSON: a2a.JSON(rawjson.View(raw)), Screen: screens == "yes" || screens == "in turns" && i%3 == 1}
					c.Artifact(&a2a.Artifact{ID: "c"}, Live, nil)
					for j := range raw {
						raw[j] = '#'
					}
					if sent.Screen {
						text = plainScreen(text)
					}
					got := c.task1("c")
					if text != "" && (got.OutputSoFar != text || got.OutputJSON() != string(rawjson.AppendEscaped(nil, text))) {
						t.Fatalf("%s, %s, screen: %s: %q, in JSON %s; want %q", name, how, screens, got.OutputSoFar, got.OutputJSON(), text)
					}
					shown, was = append(shown, got.OutputSoFar), append(was, strings.Clone(got.OutputSoFar))
				}
				if a, b := strings.Join(shown, "|"), strings.Join(was, "|"); a != b {
					t.Errorf("%s, %s, screen: %s: what was shown has changed:\n%q\nwas\n%q", name, how, screens, a, b)
				}
			}
		}
	}
}

// asciiJSON is a JSON string of ASCII alone.
func asciiJSON(s string) string {
	var b strings.Builder
	for _, r := range string(rawjson.AppendString(nil, s)) {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// padding is what [TrimScreen] takes off, below what is at the end of a screen.
var padding, below = regexp.MustCompile(` +(\n|\z)`), regexp.MustCompile(`\n*\z`)

// plainScreen is TrimScreen by regular expressions.
func plainScreen(s string) string {
	if !strings.Contains(s, "  \n") && !strings.HasSuffix(s, "  ") {
		return s
	}
	return below.ReplaceAllString(padding.ReplaceAllString(s, "$1"), "") + "\n"
}
