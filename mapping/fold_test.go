package mapping_test

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// textParts makes the parts of a message, one for each text.
func textParts(texts ...string) (parts a2a.Parts) {
	for _, text := range texts {
		parts.FastPath().List = append(parts.FastPath().List, a2a.Part{Kind: a2a.PartText, Text: text})
	}
	return parts
}

// onePart makes a list of one part.
func onePart(p *a2a.Part) (parts a2a.Parts) {
	parts.FastPath().Only = p
	return parts
}

// callEvent is an event of Gemini's server about a call, data what is behind its
// status.
func callEvent(id, status, data string) *a2a.Event {
	return dataEvent(fmt.Sprintf(`{"request":{"callId":%q,"name":"shell","args":{"command":"ls"}},"status":%q,"tool":{"kind":"execute"}%s}`, id, status, data))
}

func dataEvent(data string) *a2a.Event {
	raw := a2a.JSON(data)
	return &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", ContextID: "c", State: a2a.StateWorking, HasMessage: true, Raw: raw,
		Message: a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: onePart(&a2a.Part{Kind: a2a.PartData, Data: raw, Raw: raw})}}
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

// TestLongSession: the ten-thousandth event takes as long as the first ones, for every kind
// of event. It compares the quickest of several laps of two folds, an old and a young one, in
// turns, so that a busy machine does not matter. A cost that grows with the session would be tens of times as high.
func TestLongSession(t *testing.T) {
	status := func(id string, p a2a.Part) *a2a.Event {
		return &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
			Message: a2a.Message{ID: id, Role: a2a.RoleAgent, Parts: onePart(&p)}}
	}
	text := a2a.Part{Kind: a2a.PartText, Text: "hello there", TextJSON: `"hello there"`}
	data := func(format string, i int) a2a.Part {
		d := a2a.JSON(fmt.Sprintf(format, i))
		return a2a.Part{Kind: a2a.PartData, Data: d, Raw: d}
	}
	for name, event := range map[string]func(i int) *a2a.Event{
		"text of one message":         func(i int) *a2a.Event { return status("m", text) },
		"text of many messages":       func(i int) *a2a.Event { return status(fmt.Sprint(i), text) },
		"text of two, in turns":       func(i int) *a2a.Event { return status(fmt.Sprint(i%2), text) },
		"thoughts of one message":     func(i int) *a2a.Event { return status("m", data(`{"subject":"s","description":"%d"}`, i)) },
		"data of one message":         func(i int) *a2a.Event { return status("m", data(`{"n":%d}`, i)) },
		"tool calls that have ended":  func(i int) *a2a.Event { return status("m", data(endedCall, i)) },
		"one tool call, again and on": func(i int) *a2a.Event { return status("m", data(runningCall, i)) },
		"data of one artifact": func(i int) *a2a.Event {
			p := data(`{"n":%d}`, i)
			return &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: true, Artifact: a2a.Artifact{ID: "a", Parts: onePart(&p)}}
		},
	} {
		old, young := speaking(), speaking()
		const perLap, before, laps = 300, 50, 10
		lap := func(fold *mapping.Fold, n int) time.Duration {
			var steps []mapping.Step
			begin := time.Now()
			for i := range perLap {
				steps = fold.Event(shown.Live, event(n*perLap+i), steps[:0])
			}
			return time.Since(begin)
		}
		for n := range before {
			lap(old, n)
		}
		first, last := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for n := range laps { // in turns, so that what else the machine does meets both
			first, last = min(first, lap(young, n)), min(last, lap(old, before+n))
		}
		if last > 10*first {
			t.Errorf("%s: %v for an event, and %v at the end", name, first/perLap, last/perLap)
		}
	}
}

const (
	endedCall   = `{"request":{"callId":"c%d","name":"run_shell_command","args":{}},"status":"success","response":{}}`
	runningCall = `{"request":{"callId":"c","name":"run_shell_command","args":{"n":%d}},"status":"executing"}`
)

// TestHintsOfOthers: hints of other tasks do not make room for themselves where a call waits.
func TestHintsOfOthers(t *testing.T) {
	f := speaking()
	f.Event(shown.Live, callEvent("one", "awaiting_approval", `,"confirmationDetails":{"type":"exec","command":"ls"}`), nil)
	for i := range 100 {
		f.Hint(&a2a.Event{Kind: a2a.EventStatus, TaskID: fmt.Sprint("other", i), State: a2a.StateWorking}, nil)
	}
	must.Equal(t, len(f.Calls.Open()), 1)
}
