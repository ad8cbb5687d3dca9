package calls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func numbered(i int, s Status) *ToolCall {
	return &ToolCall{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Name: "shell", Status: s}
}

func question(i int, command string) *ToolCall {
	c := numbered(i, Pending)
	c.Asks, c.Confirmation = true, &Confirmation{Execute: &ExecuteDetails{Command: command}}
	return c
}

// TestManyOpen: if too many calls are open, the oldest are shown as ended, and go on if the
// agent says so. A call that runs while others end stays open.
func TestManyOpen(t *testing.T) {
	c, ended := New(), map[string]bool{}
	for i := range 2 * maxCalls {
		for _, s := range c.Say(numbered(i, Executing), fmt.Sprint(i), Live, nil) {
			if s.Call.Status.Ended() {
				if ended[s.Call.ID] || s.Call.Error == nil {
					t.Fatalf("%+v", s.Call)
				}
				ended[s.Call.ID] = true
			}
		}
	}
	if n := len(ended); n < maxCalls || n+len(c.running) != 2*maxCalls {
		t.Errorf("%d have ended, %d run", n, len(c.running))
	}
	id := numbered(0, Executing).ID
	if steps := c.Say(numbered(0, Succeeded), "end", Live, nil); len(steps) != 1 || steps[0].Call.Status != Succeeded || steps[0].Call.Shown == id {
		t.Errorf("its end gives %d steps", len(steps))
	}
	c = New()
	long := &ToolCall{ID: "long", Status: Executing}
	c.Say(long, "l", Live, nil)
	for i := range 3 * maxCalls {
		c.Say(numbered(i, Succeeded), fmt.Sprint(i), Live, nil)
	}
	if steps := c.Say(&ToolCall{ID: "long", Status: Succeeded}, "le", Live, nil); len(steps) != 1 || steps[0].New || steps[0].Call.Shown != "long" {
		t.Errorf("it ends with %+v", steps)
	}
}

// TestManyQuestions: the number of open questions is limited, and their bytes. None of them is
// lost, and the calls over the limit are shown as not allowed.
func TestManyQuestions(t *testing.T) {
	c, closed := New(), 0
	for i := range 3 * maxCalls {
		for _, s := range c.Say(question(i, "ls"), fmt.Sprint(i), Live, nil) {
			if s.Call.Status.Ended() {
				closed++
			}
		}
	}
	open := c.Open()
	if len(open) != maxOpen || closed != 3*maxCalls-maxOpen || open[0].ID != numbered(0, Pending).ID || open[0].Confirmation == nil {
		t.Errorf("%d are open, %d closed", len(open), closed)
	}
	for _, call := range open {
		c.Answered(call.ID, true)
	}
	if c.Say(question(maxOpen, "ls"), "new", Live, nil); len(c.Open()) != 1 {
		t.Errorf("asked again, %d are open", len(c.Open()))
	}
	c = New()
	large := strings.Repeat("x", maxBytes/4)
	for i := range 6 {
		c.Say(question(i, large), fmt.Sprint(i), Live, nil)
	}
	if n := len(c.Open()); n < 3 || n > 5 || c.size > 2*maxBytes {
		t.Errorf("%d are open, %d MiB", n, c.size>>20)
	}
}

// TestKept: calls that never end do not fill the memory, and the output of each is shown whole.
func TestKept(t *testing.T) {
	c := New()
	output := strings.Repeat("x", 1<<20)
	say := func(i int, s Status, text string) []Step {
		call := numbered(i, s)
		call.OutputSoFar = text
		return c.Say(call, fmt.Sprint(i, len(text), s), Live, nil)
	}
	for i := range 200 {
		steps := say(i, Executing, output)
		if c.size > maxBytes+4<<20 {
			t.Fatalf("%d MiB are kept of %d calls", c.size>>20, i+1)
		}
		if s := steps[len(steps)-1]; s.Call.OutputSoFar != output {
			t.Fatalf("call %d is shown with %d bytes", i, len(s.Call.OutputSoFar))
		}
	}
	if steps := say(0, Executing, output+"y"); len(steps) != 1 || steps[0].New || steps[0].Changed != Content || steps[0].Call.OutputSoFar != output+"y" {
		t.Errorf("%d steps, changed %b", len(steps), steps[0].Changed)
	}
	for i := range 200 {
		say(i, Succeeded, "")
	}
	must.Equal(t, c.size, 0, "bytes are kept of calls that have ended")
}

// TestStrippedQuestion: a question that was answered is not kept for ever. If the agent says it again, and
// waits, the user is asked by what it says.
func TestStrippedQuestion(t *testing.T) {
	c := New()
	c.Speak(1, commanded{}, false)
	long := strings.Repeat("x", 2*maxInput)
	asks := `{"command":"` + long + `"}`
	c.Data(asks, "q", Live, nil)
	c.Answered("c", true)
	for i := range 1 + maxBytes>>20 {
		call := numbered(i, Executing)
		call.OutputSoFar = strings.Repeat("x", 1<<20)
		c.Say(call, fmt.Sprint(i), Live, nil)
	}
	c.AskNewest(nil)
	if c.AskAgain(true); len(c.Open()) > 0 {
		t.Errorf("asks %+v", c.Open()[0].Confirmation)
	}
	if !c.Undelivered("c") {
		t.Error("the agent is taken to have the answer")
	}
	c.Data(asks, "q2", Live, nil)
	c.AskNewest(nil)
	if open := c.Open(); len(open) != 1 || open[0].Confirmation.Execute == nil || open[0].Confirmation.Execute.Command != long {
		t.Errorf("%d are open: %+v", len(open), open)
	}
}

// commanded is a dialect in which a data part is a command that the call c asks for.
type commanded struct{ callless }

func (commanded) CallID(Object) (string, bool) { return "c", true }
func (commanded) Repeats(string) bool          { return false }
func (commanded) ToolCall(data Object, c *ToolCall) {
	*c = *question(0, StringOf(data.Get("command")))
}

// TestMembers: the memory that reading an object of very many members took is not kept.
func TestMembers(t *testing.T) {
	c := New()
	c.Speak(1, callless{}, true)
	c.Data(`{"a":0`+strings.Repeat(`,"a":0`, 100_000)+`}`, "m", Live, nil)
	if c.DropEvent(); cap(c.data.members) > keepMembers {
		t.Errorf("room for %d members is kept", cap(c.data.members))
	}
}

// TestRepeats: also a tool of 40 KB, as those of MCP servers are with their schema twice, is read
// once, and a bound holds for what is kept. Of two members of one name the first counts, known or not.
func TestRepeats(t *testing.T) {
	c := New()
	c.Speak(1, tooled{}, false)
	for i := range 3 * maxRepeats {
		data := fmt.Sprintf(`{"tool":{"name":"%d","schema":%q}}`, i, strings.Repeat("x", 40<<10))
		c.Data(data, "m", Live, nil)
		if c.IsCall(data); c.data.members[0].repeated == nil {
			t.Fatal("the tool is read again")
		}
		c.DropEvent()
	}
	must.Equal(t, len(c.data.repeats), maxRepeated/(41<<10), "repeats are kept")
	c.Data(`{"tool":null,"tool":{"name":"second"}}`, "m", Live, nil)
	must.Equal(t, c.data.call.Name, "", "the tool that is called")
}

// tooled is a dialect in which a data part is a call of a tool.
type tooled struct{ callless }

func (tooled) CallID(Object) (string, bool) { return "c", true }
func (tooled) Repeats(member string) bool   { return member == "tool" }
func (tooled) ToolCall(data Object, c *ToolCall) {
	c.Name = StringOf(data.Object("tool").Get("name"))
}

// callless is a dialect in whose data there is no call.
type callless struct{ Reader }

func (callless) CallID(Object) (string, bool)    { return "", false }
func (callless) Question(string, *ToolCall) bool { return false }
