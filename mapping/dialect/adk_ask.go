package dialect

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for what ADK asks its client, and how it is answered.

// adkConfirm is the call by which ADK asks whether it may make another one.
const adkConfirm = "adk_request_confirmation"

// confirmation asks about the call that the agent wants to make. Its payload are values
// that the tool goes by, as the agent proposes them.
func (adk) confirmation(id string, args gjson.Result, to *Pieces) {
	original := args.Get("originalFunctionCall")
	hint := args.Get("toolConfirmation.hint").String()
	if strings.Contains(hint, "FunctionResponse") {
		hint = "" // ADK's own words, to a programmer
	}
	c := calls.ToolCall{ID: original.Get("id").String(), QuestionID: id, Name: original.Get("name").String(), Input: a2a.JSON(original.Get("args").Raw),
		Status: calls.Pending, Asks: true, Confirmation: &calls.Confirmation{Generic: &calls.GenericDetails{Description: hint}}}
	if payload := args.Get("toolConfirmation.payload"); payload.Exists() && payload.Type != gjson.Null {
		c.Confirmation.Unread = a2a.JSON(`{"payload":` + payload.Raw + `}`)
	}
	c.ID = cmp.Or(c.ID, id)
	to.call(c)
}

func adkPayload(c *calls.ToolCall) (payload gjson.Result) {
	if c.Confirmation != nil {
		payload = gjson.Get(string(c.Confirmation.Unread), "payload")
	}
	return payload
}

// The choices of a confirmation, which ADK does not name.
const (
	adkAllow  = "allow_once"
	adkReject = "reject_once"
)

func (adk) options(c *calls.ToolCall) []ask.Option {
	if len(c.Confirmation.Options) > 0 {
		return nil // kagent's
	}
	allow, reject := ask.NewOption(calls.ConfirmationOption{ID: adkAllow, Name: "Allow"}), ask.NewOption(calls.ConfirmationOption{ID: adkReject, Name: "Reject"})
	if adkPayload(c).Exists() {
		allow.Name = "Allow with this payload"
	}
	return []ask.Option{allow, reject}
}

// adkResponse is a function response, which is how ADK is answered.
func adkResponse(id, name string, response any, m *a2a.Outgoing) error {
	return addData(m, struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Response any    `json:"response"`
	}{id, name, response}, `{"adk_type":"function_response"}`)
}

// adkConfirmed is the answer to a confirmation. There is no payload without one in the
// question.
type adkConfirmed struct {
	Confirmed bool            `json:"confirmed"`
	Payload   json.RawMessage `json:"payload,omitempty"`
}

func (adk) answer(a ask.Answer, m *a2a.Outgoing) error {
	if a.OptionID == kagentAllow || a.OptionID == kagentReject {
		return kagentDecided(a, m)
	}
	r := adkConfirmed{Confirmed: a.OptionID == adkAllow}
	if payload := adkPayload(a.Call); r.Confirmed && payload.Exists() {
		r.Payload = json.RawMessage(payload.Raw)
	}
	return adkResponse(a.Call.QuestionID, adkConfirm, r, m)
}

// reply is the result of a tool that runs long: an object as it is, any other words as the
// result in one.
func (adk) reply(in Input, text string, m *a2a.Outgoing) error {
	if in.Questions > 0 {
		return kagentReplied(in, text, m)
	}
	if strings.HasPrefix(text, "{") && gjson.Valid(text) {
		return adkResponse(in.ID, in.Name, json.RawMessage(text), m)
	}
	return adkResponse(in.ID, in.Name, map[string]string{"result": text}, m)
}
