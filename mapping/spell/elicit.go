package spell

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// An Elicitation is a question for the user as ACP and MCP put it: a page to open, or a form.
type Elicitation struct {
	acp.ElicitationRequest
	member string            // of the form, "" if it has none
	ids    map[string]string // of the options of a choice, by their words; else nil
}

// NewPage asks to open a page.
func NewPage(message, url, id string) *Elicitation {
	return &Elicitation{ElicitationRequest: acp.ElicitationRequest{Mode: acp.ElicitURL, Message: message, URL: url, ElicitationID: id}}
}

// NewConsent asks for an agreement, by a form without members.
func NewConsent(message string) *Elicitation {
	return &Elicitation{ElicitationRequest: acp.ElicitationRequest{Message: message,
		Schema: &acp.ElicitationSchema{Type: "object", Properties: map[string]any{}}}}
}

// newForm asks for the one member of a form.
func newForm(message, member string, field any) *Elicitation {
	e := NewConsent(message)
	e.member, e.Schema.Properties[member], e.Schema.Required = member, field, []string{member}
	return e
}

// NewProse asks for an answer in words.
func NewProse(question string) *Elicitation {
	return newForm(question, "answer", json.RawMessage(`{"type":"string","title":"Answer","minLength":1}`))
}

// NewChoice asks for one of some options. What rejects stands first, and other questions have it
// last: Codex has the first option chosen, and asks itself just before whether the tool may be
// called, so that a second Enter would allow what nobody has read.
func NewChoice(message string, options []mapping.Option) *Elicitation {
	ids, again := map[string]string{}, map[string]int{}
	var no, yes []string
	for _, o := range options {
		word := ask.OneLine(o.Name)
		if o.Allows() && !o.Certain {
			word += " (may allow it)" // its words do not say so
		}
		for first := word; ids[word] != ""; {
			again[first]++
			word = fmt.Sprintf("%s (%d)", first, 1+again[first])
		}
		if ids[word] = o.ID; o.Allows() {
			yes = append(yes, word)
		} else {
			no = append(no, word)
		}
	}
	words := append(no, yes...) // each question has what rejects
	e := newForm(message, "choice", map[string]any{"type": "string", "title": "Your choice", "enum": words, "default": words[0]})
	e.ids = ids
	return e
}

// Answer reads what the user has answered: the words, the ID of the option that was picked, or
// [acp.ElicitAccept] for a page and a consent; "" is no. Only what is right in each member says yes:
// clients answer accept to what nobody has seen, or with a text that was not offered.
func (e *Elicitation) Answer(raw string) string {
	if !rawjson.Valid([]byte(raw)) || rawjson.Text(onlyMember(raw, "action")) != acp.ElicitAccept {
		return ""
	}
	if e.member == "" {
		content := strings.Join(strings.Fields(rawjson.Member(raw, "content")), "") // {} may be written with space
		if content != "" && content != "{}" && content != "null" {
			return "" // it took this for another form
		}
		return acp.ElicitAccept
	}
	text := rawjson.Text(onlyMember(onlyMember(raw, "content"), e.member))
	if e.ids != nil {
		return e.ids[text]
	}
	return text
}

// onlyMember is the value of an object's member, "" unless it is there once: which of two counts nobody
// knows.
func onlyMember(object, key string) (value string) {
	n := 0
	rawjson.EachMember(object, func(k, v string) bool {
		if k == key {
			n, value = n+1, v
		}
		return true
	})
	if n != 1 {
		return ""
	}
	return value
}
