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
	steps []Step
}

type recorded struct {
	n      int  // bytes of output in the last snapshot that was picked
	behind bool // the editor has been shown more
}

// recordMore is how much output may always come before it is picked again.
const recordMore = 1 << 10

// Pick returns the steps to record of those that the editor is shown, valid until
// the next Pick: the same slice if it is all of them.
func (r *Recorder) Pick(steps []Step) []Step {
	for i := range steps {
		if steps[i].Kind == StepTool {
			return r.pick(steps)
		}
	}
	return steps
}

func (r *Recorder) pick(steps []Step) []Step {
	r.steps = r.steps[:0]
	for i := range steps {
		s := steps[i]
		if s.Kind == StepTool && !r.wants(&s) {
			continue
		}
		r.steps = append(r.steps, s)
	}
	return r.steps
}

func (r *Recorder) wants(s *Step) bool {
	c := s.Tool
	last, known := r.calls[c.ID]
	if c.Status.Ended() {
		delete(r.calls, c.ID)
		return true
	}
	if known && !s.New && s.Changed == ToolContent && !c.Asks && len(c.Live) < 2*last.n+recordMore {
		r.calls[c.ID] = recorded{last.n, true}
		return false
	}
	if last.behind {
		s.Changed |= ToolContent
	}
	if r.calls == nil {
		r.calls = map[string]recorded{}
	}
	r.calls[c.ID] = recorded{n: len(c.Live)}
	return true
}
