package spell

import (
	"encoding/json"
	"strconv"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// appendToolCall appends a call as the development-tool extension spells it
// (ToolCall), whatever dialect it came in. Members that we do not know are under extra. all: it is for
// a journal, which keeps what the extension has no words for, and what was asked before; its status is a
// number, and JSON in it a string. What most events have is written by hand.
func appendToolCall(dst []byte, c *mapping.ToolCall, all bool) []byte {
	dst = rawjson.AppendString(append(dst, `{"tool_call_id":`...), c.ID)
	if all {
		dst = appendNumber(appendOptional(dst, "shown", c.Shown), "status", uint8(c.Status))
	} else {
		dst = rawjson.AppendField(dst, "status", c.Status.String())
	}
	if c.Name != "" || !all {
		dst = rawjson.AppendField(dst, "tool_name", c.Name)
	}
	dst = appendOptional(dst, "description", c.Description)
	dst = appendJSON(dst, "input_parameters", c.Input, all)
	if c.OutputSoFar != "" {
		dst = append(dst, `,"live_content":"`...)
		dst = append(appendEscaped(dst, c.OutputSoFar, c.OutputJSON()), '"')
	}
	switch o := c.Output; {
	case o == nil:
	case *o == (mapping.ToolOutput{}): // it has one of three, by the RFC
		dst = rawjson.AppendJSON(dst, "output", `{"text":""}`)
	case all:
		dst = appendOutput(dst, o)
	default:
		dst = appendValue(dst, "output", extensionOutput{o, valueOf(o.Data)})
	}
	if c.Error != nil {
		dst = appendValue(dst, "error", c.Error)
	}
	switch q := c.Confirmation; {
	case q == nil:
	case all:
		dst = appendConfirmation(dst, q)
	case c.Asks: // it is there while it is asked, by the RFC
		asked := extensionQuestion(q)
		for _, o := range mapping.NewQuestion(c).Options {
			asked.Options = append(asked.Options, mapping.ConfirmationOption{ID: o.ID, Name: o.Name, Description: o.Description})
		}
		dst = appendValue(dst, "confirmation_request", asked)
	}
	dst = appendJSON(dst, "extra", c.Extra, all)
	if all {
		for _, f := range [...][2]string{{"display_name", c.DisplayName}, {"kind", c.Kind}, {"note", c.Note}, {"question_id", c.QuestionID}} {
			dst = appendOptional(dst, f[0], f[1])
		}
		dst = appendNumber(dst, "dialect", c.Dialect)
		dst = appendTrue(appendTrue(appendTrue(dst, "asks", c.Asks), "bare", c.Bare), "differences", c.Differences)
	}
	return append(dst, '}')
}

// An extensionOutput is an output in the extension's form, where data is no string.
type extensionOutput struct {
	*mapping.ToolOutput
	Data json.RawMessage `json:"structured_data,omitempty"`
}

// A question is what is asked in the extension's form, which has no word for its kind.
type question struct {
	Options []mapping.ConfirmationOption `json:"options,omitempty"`
	mapping.Confirmation
	Unread json.RawMessage `json:"extra,omitempty"`
}

// extensionQuestion returns what is asked, without the options.
func extensionQuestion(q *mapping.Confirmation) *question {
	asked := &question{Confirmation: *q, Unread: valueOf(q.Unread)}
	if q.Generic != nil {
		asked.Generic = &mapping.GenericDetails{Description: q.Generic.Description}
	}
	return asked
}

// valueOf is JSON from outside as it can be written.
func valueOf(value a2a.JSON) json.RawMessage {
	if value == "" {
		return nil
	}
	return rawjson.AppendValue(nil, string(value))
}

// appendValue appends a member whose value is made of strings, numbers and valid JSON.
func appendValue(dst []byte, key string, value any) []byte {
	raw, _ := rawjson.Marshal(value)
	return rawjson.AppendJSON(dst, key, rawjson.View(raw))
}

// appendJSON appends a member whose value is JSON, or a string that holds it.
func appendJSON(dst []byte, key string, value a2a.JSON, asString bool) []byte {
	if asString {
		return appendOptional(dst, key, string(value))
	}
	return rawjson.AppendJSON(dst, key, string(value))
}

func appendTrue(dst []byte, key string, is bool) []byte {
	if !is {
		return dst
	}
	return rawjson.AppendJSON(dst, key, "true")
}

// appendFields appends members whose values are strings: keys and values in turns.
func appendFields(dst []byte, fields ...string) []byte {
	for i := 0; i < len(fields); i += 2 {
		dst = rawjson.AppendField(dst, fields[i], fields[i+1])
	}
	return dst
}

func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return rawjson.AppendField(dst, key, value)
}

func appendNumber(dst []byte, key string, n uint8) []byte {
	if n == 0 {
		return dst
	}
	return rawjson.AppendJSON(dst, key, strconv.Itoa(int(n)))
}
