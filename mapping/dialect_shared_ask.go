package mapping

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for what codex-a2a and opencode-a2a ask, while the run goes on.

// The options of what is answered in words, or agreed to.
const (
	sharedWords = "answer_in_words"
	sharedDone  = "done"
)

// asked asks what the agent wants to be allowed or told.
func (d shared) asked(i gjson.Result, to *pieces) {
	id, kind, details := i.Get("request_id").String(), i.Get("type").String(), i.Get("details")
	c := ToolCall{ID: "interrupt-" + id, QuestionID: id, Name: kind, Status: ToolPending, Asks: true, Bare: true, Extra: a2a.JSON(i.Raw)}
	q := &Confirmation{Generic: &GenericDetails{Kind: kind, Description: details.Get("display_message").String()}}
	c.Confirmation = q
	option := func(id, name string) { q.Options = append(q.Options, ConfirmationOption{ID: id, Name: name}) }
	describe := func(text string) {
		q.Generic.Description = strings.TrimSpace(q.Generic.Description + "\n" + text)
	}
	switch kind {
	case "permission":
		if name := details.Get("permission").String(); name != "" {
			c.Name = name
		}
		details.Get("patterns").ForEach(func(_, p gjson.Result) bool { describe(p.String()); return true })
		option("always", "Always allow")
		option("once", "Allow once")
	case "question":
		describe(d.words(&c).text)
	case "permissions":
		q.Unread = a2a.JSON(details.Get("permissions").Raw)
		option("session", "Allow in this session")
		option("turn", "Allow once")
	case "elicitation":
		if name := details.Get("server_name").String(); name != "" {
			describe("(MCP server " + name + ")")
		}
		describe(details.Get("url").String())
		if hasFields(details) {
			describe(fieldsText(d.words(&c).fields))
		} else {
			option(sharedDone, "Accept")
		}
	default:
		q.Unread = a2a.JSON(details.Raw)
	}
	option("reject", "Reject")
	to.call(c)
}

// hasFields reports whether an elicitation is a form. Any other is only agreed to.
func hasFields(details gjson.Result) bool {
	return len(details.Get("requested_schema.properties").Map()) > 0
}

// words are the fields of a question, or of a form.
func (shared) words(c *ToolCall) input {
	i := gjson.Parse(string(c.Extra))
	if i.Get("type").Str == "question" {
		in := questionsInput(c.QuestionID, i.Get("details.questions"))
		in.name, in.data = "question", ""
		return in
	}
	return input{id: c.QuestionID, name: "elicitation", text: i.Get("details.display_message").String(), fields: schemaFields(i.Get("details.requested_schema"))}
}

// options are the choices of a question. They are no permission, so none is certain to
// allow or to reject. A question with several answers, or with free text, is answered
// in words.
func (d shared) options(c *ToolCall) (options []Option) {
	i := gjson.Parse(string(c.Extra))
	kind, questions := i.Get("type").Str, i.Get("details.questions").Array()
	if kind == "question" && len(questions) == 1 && !questionField(questions[0]).many {
		first(questions[0], "options", "choices").ForEach(func(_, o gjson.Result) bool {
			label := cmp.Or(first(o, "label", "value").String(), o.String())
			options = append(options, Option{ID: "answer:" + label, Name: label, Description: o.Get("description").String(), Kind: acp.OptionAllowOnce})
			return true
		})
	}
	if kind == "question" || kind == "elicitation" && hasFields(i.Get("details")) {
		options = append(options, Option{ID: sharedWords, Name: "Answer in words", Kind: acp.OptionAllowOnce, Words: true})
	}
	return options
}

// aside is the request that answers a question.
func (shared) aside(a Answer, _ *a2a.Outgoing) (SideRequest, error) {
	kind := gjson.Get(string(a.Call.Extra), "type").Str
	params := map[string]any{"request_id": a.Call.QuestionID}
	method := "a2a.interrupt." + kind + ".reply"
	rejects := a.OptionID == "reject"
	switch {
	case kind == "question" && rejects:
		method = "a2a.interrupt.question.reject"
	case kind == "question":
		params["answers"] = [][]string{{strings.TrimPrefix(a.OptionID, "answer:")}}
	case kind == "permissions" && rejects:
		params["permissions"] = map[string]any{}
	case kind == "permissions":
		params["permissions"], params["scope"] = gjson.Get(string(a.Call.Extra), "details.permissions").Value(), a.OptionID
	case kind == "elicitation" && rejects && a.Dismissed:
		params["action"] = "cancel" // MCP: without an explicit choice
	case kind == "elicitation" && rejects:
		params["action"] = "decline"
	case kind == "elicitation":
		params["action"] = "accept"
	default:
		params["reply"] = a.OptionID
	}
	return SideRequest{Method: method, Params: params}, nil
}

// reply is the request that answers in words: a list for each question, or a form's
// content.
func (shared) reply(in input, values []a2a.JSON, _ string, _ *a2a.Outgoing) (SideRequest, error) {
	params := map[string]any{"request_id": in.id}
	if in.name == "elicitation" {
		params["action"], params["content"] = "accept", json.RawMessage(filled(in.fields, values))
		return SideRequest{Method: "a2a.interrupt.elicitation.reply", Params: params}, nil
	}
	var answers []json.RawMessage
	for _, v := range values {
		answers = append(answers, listOf(v))
	}
	params["answers"] = answers
	return SideRequest{Method: "a2a.interrupt.question.reply", Params: params}, nil
}
