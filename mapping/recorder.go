package mapping

// A Recorder picks what of the steps a journal needs. Output that grows is sent
// whole each time: a tool that prints a megabyte in small steps would fill the
// journal with a hundred of them, and push the conversation out of it. So of a
// running call's output only what is twice as long as the last that was picked is
// picked again, which is twice its length in all; what the call comes to in the
// end has all of it. A process that is killed in between loses the newest half of
// such output, and nothing else.
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

// wants reports whether a step is picked, and notes what it tells of its call. What
// else may have changed together with output that has grown waits like that.
func (r *Recorder) wants(s *Step) bool {
	c := s.Tool
	last, known := r.calls[c.ID]
	if c.Status.Ended() {
		delete(r.calls, c.ID)
		return true
	}
	grown := known && !s.New && s.Changed == ToolContent && !c.Asks && len(c.Live) > last.seen
	if grown && len(c.Live) < 2*last.n+recordMore {
		r.calls[c.ID] = recorded{last.n, len(c.Live), true}
		return false
	}
	if last.behind {
		s.Changed |= ToolContent
	}
	if r.calls == nil {
		r.calls = map[string]recorded{}
	}
	r.calls[c.ID] = recorded{n: len(c.Live), seen: len(c.Live)}
	return true
}
