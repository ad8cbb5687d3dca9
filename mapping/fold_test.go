package mapping_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// textParts makes the parts of a message, one for each text.
func textParts(texts ...string) a2a.Parts {
	raw, _ := json.Marshal(texts)
	return partsBy(string(raw), func(raw string, p *a2a.Part) (string, bool) {
		var texts []string
		if json.Unmarshal([]byte(raw), &texts) != nil || len(texts) == 0 {
			return "", false
		}
		*p = a2a.Part{Kind: a2a.PartText, Text: texts[0]}
		rest, _ := json.Marshal(texts[1:])
		return string(rest), true
	})
}

// partsBy makes a list of parts that next decodes, one by one.
func partsBy(raw string, next func(raw string, p *a2a.Part) (rest string, ok bool)) a2a.Parts {
	parts := a2a.Parts{Raw: a2a.JSON(raw)}
	parts.FastPath().Step = func(raw string, _ *fastpath.Source, p *a2a.Part) (string, bool) { return next(raw, p) }
	return parts
}

// onePart makes a list of one part.
func onePart(p *a2a.Part) (parts a2a.Parts) {
	parts.FastPath().Only = p
	return parts
}

func plainText(text string) a2a.Parts { return onePart(&a2a.Part{Kind: a2a.PartText, Text: text}) }

// callEvent is an event of Gemini's server about a call, data what is behind its
// status.
func callEvent(id, status, data string) *a2a.Event {
	return dataEvent(fmt.Sprintf(`{"request":{"callId":%q,"name":"shell","args":{"command":"ls"}},"status":%q,"tool":{"kind":"execute"}%s}`, id, status, data))
}

func dataEvent(data string) *a2a.Event {
	raw := a2a.JSON(data)
	return &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", ContextID: "c", State: a2a.StateWorking, HasMessage: true, Raw: raw,
		Message: a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: partsBy(data, func(raw string, p *a2a.Part) (string, bool) {
			*p = a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(raw), Raw: a2a.JSON(raw)}
			return "", true
		})}}
}

// speaking is a Fold for an agent that is known to speak both dialects of tool calls in parts of their own.
func speaking() *mapping.Fold {
	f := mapping.NewFold()
	for _, d := range []string{dialect.Devtool, dialect.Gemini} {
		f.Speak(d)
	}
	return f
}

func seq[T any](values []T) iter.Seq[T] { return slices.Values(values) }
