package spell

import (
	"fmt"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// This file is for elicitations, which ACP and MCP spell in the same way.

// An Elicitation is a question for the user: a page to open, or a form that asks for one of some
// options.
type Elicitation struct {
	acp.ElicitationRequest
	ids map[string]string // of the options, by their words
}

// choiceKey is the member of a form that has the answer.
const choiceKey = "choice"

// NewChoice asks for one of some options. What rejects stands first, and other editors have it
// last: Codex has the first option chosen, and asks itself just before whether the tool may be
// called, so that a second Enter would allow what nobody has read.
func NewChoice(message string, options []mapping.Option) *Elicitation {
	e := &Elicitation{ids: map[string]string{}}
	var no, yes []string
	for _, o := range options {
		word := ask.OneLine(o.Name)
		if o.Allows() && !o.Certain {
			word += " (may allow it)" // its words do not say so
		}
		for n, first := 2, word; e.ids[word] != ""; n++ {
			word = fmt.Sprintf("%s (%d)", first, n)
		}
		if e.ids[word] = o.ID; o.Allows() {
			yes = append(yes, word)
		} else {
			no = append(no, word)
		}
	}
	words := append(no, yes...) // each question has what rejects
	choice := map[string]any{"type": "string", "title": "Your choice", "enum": words, "default": words[0]}
	e.Message = message
	e.Schema = &acp.ElicitationSchema{Type: "object", Required: []string{choiceKey}, Properties: map[string]any{choiceKey: choice}}
	return e
}

// Answer reads what a client has answered: the ID of the option that the user has picked, and
// [acp.ElicitAccept] for a page; "" is no, as is a text that was not offered.
func (e *Elicitation) Answer(raw string) string {
	if e.Mode == acp.ElicitURL {
		return Elicited(raw, "")
	}
	return e.ids[Elicited(raw, choiceKey)]
}

// Elicited is what a user has answered to an elicitation: the text in a member of the form, or,
// without a key, [acp.ElicitAccept] for a page, or a form without members. "" is no. Only what is
// right in each member says yes: clients answer accept to what nobody has seen.
func Elicited(raw, key string) string {
	if !rawjson.Valid([]byte(raw)) || rawjson.Text(only(raw, "action")) != acp.ElicitAccept {
		return ""
	}
	if key != "" {
		return rawjson.Text(only(only(raw, "content"), key))
	}
	if content := rawjson.Member(raw, "content"); content != "" && content != "{}" && content != "null" {
		return "" // it took this for a form
	}
	return acp.ElicitAccept
}

// only is the value of an object's member that is there once: which of two counts nobody knows.
func only(object, key string) (value string) {
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
