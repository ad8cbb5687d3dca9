package agent

// DevTool is the URI of the development-tool extension, in which calls are told.
const DevTool = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

// The statuses of a call.
const (
	Pending   = "PENDING"
	Executing = "EXECUTING"
	Succeeded = "SUCCEEDED"
	Cancelled = "CANCELLED"
)

// A Call is a tool call, in one status.
type Call struct {
	ID, Name, Status string
	// Options are those of a question; an option that rejects begins with "cancel".
	Options      []string
	Live, Output string
}

// kinds are the kinds of a DevelopmentToolEvent (development-tool extension, section 3.2).
func kinds(kind string) map[string]any {
	return map[string]any{DevTool: map[string]any{"kind": kind, "model": "m"}}
}

// Step is the event that tells of a call.
func (c *Call) Step(state State) *Step {
	data := map[string]any{"tool_call_id": c.ID, "status": c.Status, "tool_name": c.Name, "description": "does " + c.Name,
		"input_parameters": map[string]any{"of": c.Name}}
	kind := "TOOL_CALL_UPDATE"
	if c.Live != "" {
		data["live_content"] = c.Live
	}
	switch {
	case c.Status == Pending && len(c.Options) > 0:
		kind = "TOOL_CALL_CONFIRMATION"
		var options []any
		for _, id := range c.Options {
			options = append(options, map[string]any{"id": id, "name": id})
		}
		data["confirmation_request"] = map[string]any{"options": options, "execute_details": map[string]any{"command": "run " + c.Name}}
	case c.Output != "":
		data["output"] = map[string]any{"text": c.Output}
	}
	return &Step{State: state, Message: &Message{ID: "call-" + c.ID + "-" + c.Status + c.Live, Parts: []Part{{Data: data}}}, Metadata: kinds(kind), Call: c}
}

// Ask is the step of a call that asks.
func Ask(state State, id, name string, options ...string) *Step {
	if len(options) == 0 {
		options = []string{"proceed_once", "cancel"}
	}
	return (&Call{ID: id, Name: name, Status: Pending, Options: options}).Step(state)
}

// Run are the steps of a call that runs and succeeds.
func Run(id, name, output string) []*Step {
	return []*Step{(&Call{ID: id, Name: name, Status: Executing}).Step(Working), (&Call{ID: id, Name: name, Status: Succeeded, Output: output}).Step(Working)}
}

// Think is a thought.
func Think(id, subject string) *Step {
	return &Step{State: Working, Metadata: kinds("THOUGHT"),
		Message: &Message{ID: id, Parts: []Part{{Data: map[string]any{"subject": subject, "description": "about " + subject}}}}}
}
