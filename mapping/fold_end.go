package mapping

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
	f.connection.resumed = 0
	if failed {
		f.shown.Told()
	}
	f.shown.End()
	all = all || f.connection.gap
	f.showCalls(f.calls.EndTurn(all, failed, nil))
	steps, f.steps = f.steps, nil
	return steps
}
