package mapping

// A Recorder picks what of the steps a journal needs. Output that grows is sent whole
// each time: a tool that prints a megabyte in small steps would fill the journal with a
// hundred of them, and push the conversation out of it. So the output of a running call
// is picked again only when it is twice as long as the last that was picked: together
// that is twice its length. The call's end has all of it. A process that is killed in
// between loses at most the newest half of such output.
//
// The zero value is ready. It is for one session, and not safe for concurrent use.
type Recorder struct {
	calls map[string]recorded
}

type recorded struct {
	n      int  // bytes of output in the last snapshot that was picked
	seen   int  // and in the last one that the editor was shown
	behind bool // they are not the same
}

// recordMore is how much output may always come before it is picked again.
const recordMore = 1 << 10

// Pick returns the steps to record of those that the editor is shown: steps itself
// if it is all of them as they are.
func (r *Recorder) Pick(steps []Step) []Step {
	var kept []Step
	differs := false
	for i := range steps {
		s := steps[i]
		wanted := s.Kind != StepTool || r.wants(&s)
		if !differs {
			if wanted && s.Changed == steps[i].Changed {
				continue
			}
			differs, kept = true, append(make([]Step, 0, len(steps)), steps[:i]...)
		}
		if wanted {
			kept = append(kept, s)
		}
	}
	if !differs {
		return steps
	}
	return kept
}

// wants reports whether a step is picked, and notes what it tells of its call. Other
// changes in a step whose output has grown wait with the output.
func (r *Recorder) wants(s *Step) bool {
	c := s.Tool
	last, known := r.calls[c.Shown]
	if c.Status.Ended() {
		delete(r.calls, c.Shown)
		return true
	}
	grown := known && !s.New && s.Changed == ToolContent && !c.Asks && len(c.OutputSoFar) > last.seen
	if grown && len(c.OutputSoFar) < 2*last.n+recordMore {
		r.calls[c.Shown] = recorded{last.n, len(c.OutputSoFar), true}
		return false
	}
	if last.behind {
		s.Changed |= ToolContent
	}
	if r.calls == nil {
		r.calls = map[string]recorded{}
	}
	r.calls[c.Shown] = recorded{n: len(c.OutputSoFar), seen: len(c.OutputSoFar)}
	return true
}
