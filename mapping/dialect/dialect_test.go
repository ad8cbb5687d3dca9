package dialect

import (
	"testing"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestForgotten: whatever a dialect has not said of a call, the call can be asked about, and
// answered. A call may also come from a journal of another version, with more dialects.
func TestForgotten(t *testing.T) {
	reject := "no"
	for _, c := range []calls.ToolCall{{}, {Asks: true}, {Asks: true, Bare: true}, {Asks: true, Confirmation: &calls.Confirmation{}},
		{ID: "c", Asks: true, Confirmation: &calls.Confirmation{Options: []calls.ConfirmationOption{{}}}}} {
		for place := range len(dialects()) + 2 {
			c := c
			c.Dialect = uint8(place)
			q := NewQuestion(&c)
			if c.Confirmation != nil && q.Reject().ID == "" {
				t.Errorf("nothing rejects %+v", c)
			}
			var m a2a.Outgoing
			if err := (Writing{}).Answers([]ask.Answer{{Call: &c, OptionID: q.Reject().ID}, {Call: &c}, {Call: &c, NewContent: &reject}}, &m); err != nil {
				t.Error(err)
			}
			if err := WriteReply(Input{dialect: uint8(place)}, "text", &m); err != nil || len(m.Parts) == 0 {
				t.Errorf("the user's words to dialect %d are lost, %v", place, err)
			}
		}
	}
}

// A forgetful dialect has nothing but what the compiler asks for, and calls that say nothing.
type forgetful struct{ base }

func (forgetful) name() string                               { return "forgetful" }
func (forgetful) sign() string                               { return "forgetful" }
func (forgetful) CallID(data calls.Object) (string, bool)    { return "c", data.Has("asks") }
func (forgetful) ToolCall(_ calls.Object, c *calls.ToolCall) { c.Asks = true }

// TestForgetful: a dialect that forgets each field of a call is heard, and its question has an
// answer.
func TestForgetful(t *testing.T) {
	c := calls.New()
	c.Speak(uint8(len(dialects())+1), forgetful{}, false)
	steps, ok := c.Data(`{"asks":true}`, "m", calls.Live, nil)
	if !ok || len(steps) != 1 || len(c.Open()) != 1 {
		t.Fatalf("%d steps, %d questions", len(steps), len(c.Open()))
	}
	q := NewQuestion(c.Open()[0])
	var m a2a.Outgoing
	if len(q.Options) == 0 || (Writing{}).Answers([]ask.Answer{{Call: q.Call, OptionID: q.Options[0].ID}}, &m) != nil {
		t.Errorf("the question has the options %+v", q.Options)
	}
}
