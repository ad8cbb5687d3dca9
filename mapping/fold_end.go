package mapping

import "slices"

// EndTurn appends a step for each call that has not ended though the turn has, so that
// no call is shown as running for ever: the agent will say nothing more of it, or the
// bridge does not listen any more. all: every such call. Otherwise those that the user
// was asked about, and those that have not begun (Gemini's server drops the second of
// two edits when the first is rejected); others may go on, and are ended only if their
// end may be lost. A call that the agent mentions again later is shown again. failed:
// the turn ends with an error, which tells more than a notice that something may be
// missing.
func (f *Fold) EndTurn(all, failed bool, steps []Step) []Step {
	f.steps = steps
	f.loss.resumed = 0
	if !failed {
		f.tellLossAtEnd()
	}
	all = all || f.loss.told
	f.texts.end(f.WaitsForWords())
	var open []*call
	for _, c := range f.calls.task.calls {
		if !c.Status.Ended() && !c.deferred && (all || c.questioned || c.Status <= ToolPending) {
			open = append(open, c)
		}
	}
	slices.SortFunc(open, func(a, b *call) int { return a.order - b.order })
	for _, c := range open {
		f.closeCall(c, failed)
	}
	steps, f.steps = f.steps, nil
	return steps
}

// Unended reports whether a call that the agent has begun in this turn is shown as at work.
func (f *Fold) Unended() bool {
	for _, c := range f.calls.task.calls {
		if c.Status == ToolExecuting && c.order > f.calls.before {
			return true
		}
	}
	return false
}

// closeCall shows a call as ended of which the agent has not said that. failed: see endStatus.
func (f *Fold) closeCall(c *call, failed bool) {
	end := *c.ToolCall
	end.Asks, end.OutputSoFar = false, ""
	end.Status, end.Error = c.endStatus(failed)
	c.ToolCall, c.closed = &end, true
	f.calls.asks(c)
	f.calls.run(c.ID, false)
	f.add(Step{Kind: StepTool, Tool: c.ToolCall, Changed: ToolState | ToolContent})
	f.steps[len(f.steps)-1].TaskID = c.task
	f.calls.strip(c)
}

// unsaidEnd is the error of a call that may have run.
const unsaidEnd = "The agent has not said what became of this call."

// EndUnknown reports whether the bridge has ended a call that may have run, since the agent
// has left it without an end. Its status is [ToolCancelled].
func (c *ToolCall) EndUnknown() bool {
	return c.Status == ToolCancelled && c.Error != nil && c.Error.Message == unsaidEnd
}

// endStatus is the final state of a call that the agent has left without one. failed: the
// turn has failed, so that it is not known whether the agent has taken the answer.
func (c *call) endStatus(failed bool) (ToolStatus, *ErrorDetails) {
	switch {
	case c.answered && c.Bare && !c.rejected && !failed:
		return ToolSucceeded, nil // nothing is known of it but that it was allowed
	case c.rejected:
		return ToolCancelled, &ErrorDetails{Message: "Not run: it was rejected."}
	case c.answered || !c.questioned || c.Status > ToolPending && !c.Asks: // it may have begun by itself
		return ToolCancelled, &ErrorDetails{Message: unsaidEnd}
	}
	return ToolCancelled, &ErrorDetails{Message: "Not allowed: it was not answered."}
}
