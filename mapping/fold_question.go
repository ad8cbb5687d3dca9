package mapping

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// question keeps what the agent asks in prose. Text that came before the state is not
// taken for a question: Gemini's server ends every turn with input-required, without a
// message.
func (f *Fold) question(ev *a2a.Event) {
	switch {
	case ev.State.Terminal():
		f.dropInputs(f.TaskID)
	case ev.State == a2a.StateWorking: // the agent has gone on without an answer
		f.split.inputs = slices.DeleteFunc(f.split.inputs, func(in input) bool { return in.task == f.TaskID && in.given == nil })
	}
	switch {
	case ev.State == "":
	case !ev.State.Terminal() && f.WaitsForWords():
		f.Question = f.inputText()
		if n := f.asked(); n > 1 && n != f.split.hinted {
			f.split.hinted = n
			f.add(Step{Kind: StepNotice, Text: "\n[" + linesHint(n) + "]\n"})
		}
	case ev.State == a2a.StateInputRequired && ev.HasMessage && ev.Message.Role != a2a.RoleUser:
		f.Question = strings.Clone(strings.TrimSpace(ev.Message.Parts.Text()))
	case f.Question != "":
		f.Question = ""
	}
}
