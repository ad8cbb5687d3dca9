package mutate

// A mutant is one fault: in file, old gives way to new.
type mutant struct{ name, file, old, new string }

// mutants are the faults that are tried. Add a row for each fault that was ever
// found, by the text of the code as it is now.
var mutants = []mutant{
	{"a message is sent again when its answer is lost", "transport/retry.go",
		`deliverOnce = delivery{patient: true}`,
		`deliverOnce = delivery{patient: true, repeat: true}`},
	{"the end of a stream ends the turn", "bridge/follow.go",
		`return &cutError{"agent: the stream ended in the middle"}`,
		`return nil`},
	{"events of a subscription are shown as they come", "bridge/subscription.go",
		`case s.aligned && s.isNext(events):`,
		`case true:`},
	{"what comes again right behind a snapshot is shown again", "bridge/subscription.go",
		`!says(events) || !s.ahead && time.Since(s.joined) > echoTime`,
		`true`},
	{"a replay is shown as if it were new", "bridge/subscription.go",
		`		case mapping.KnownPerhaps:
			s.kept = append(s.kept, *events[i].Clone())`,
		`		case mapping.KnownPerhaps:
			if err := s.deliver(ctx, events[i:i+1]); err != nil {
				return err
			}`},
	{"a replay that breaks off is shown", "bridge/subscription.go",
		`	said = s.said && len(s.kept) == 0`,
		`	said = s.said
	if err := s.deliver(context.Background(), s.kept); err != nil {
		return said, err
	}`},
	{"what a look has shown is shown again by a replay", "bridge/subscription.go",
		`s.kept, s.repetition, s.aligned, s.again = nil, nil, !s.looked, s.looked`,
		`s.kept, s.repetition, s.aligned, s.again = nil, nil, true, false`},
	{"a gap is never said", "mapping/fold_loss.go",
		`func (f *Fold) tellLoss(at int) {
	if f.loss.said {`,
		`func (f *Fold) tellLoss(at int) {
	if true {`},
	{"a gap is said after every cut", "mapping/fold_loss.go",
		`	default:
		f.loss.state = nothingLost
	}`,
		`	default:
		f.loss.state = lost
	}`},
	{"text is aligned by its length alone", "mapping/fold_texts.go",
		`		if maphash.String(t.seed, whole[at:at+e.n]) != e.sum {
			return whole, true, false`,
		`		if false {
			return whole, true, false`},
	{"a snapshot is shown whole", "mapping/fold_texts.go",
		`	return whole[at:], false, false`,
		`	return whole, false, false`},
	{"a whole is not compared with its parts", "mapping/fold_said.go",
		`	if len(s.text) == 0 || strings.TrimSpace(text) == "" {`,
		`	if true {`},
	{"an artifact that is replaced is not shown", "mapping/fold_whole.go",
		`			f.replace(sh)
			anew = true
		}
	}
	from := len(f.texts.said.text)
	f.artifactParts(sh, a, len(text)-len(rest), last, anew)`,
		`			rest = ""
		}
	}
	from := len(f.texts.said.text)
	f.artifactParts(sh, a, len(text)-len(rest), last, anew)`},
	{"append is not looked at", "mapping/fold.go",
		`f.artifact(&ev.Artifact, ev.Append, ev.LastChunk)`,
		`f.artifact(&ev.Artifact, false, ev.LastChunk)`},
	{"an artifact's ID means the same in all tasks", "mapping/fold_texts.go",
		`	known := t.tasks[task]
`,
		`	task = ""
	known := t.tasks[task]
`},
	{"a user's message that comes back is shown", "mapping/fold.go",
		`	if m.Role == a2a.RoleUser || f.apartMessage(m, how) {`,
		`	if f.apartMessage(m, how) {`},
	{"why a task has failed is not kept", "mapping/fold_facts.go",
		`f.FailText, f.failID = strings.Clone(wholeText(m.Parts)), strings.Clone(m.ID)`,
		`f.FailText, f.failID = "", strings.Clone(m.ID)`},
	{"what was answered is asked again when it is repeated", "mapping/fold_calls_answers.go",
		`		c.answered, c.rejected = true, !allowed`,
		`		c.answered, c.rejected = false, !allowed`},
	{"a call that has ended runs again", "mapping/fold_calls.go",
		`	case f.isOld(now, old):`,
		`	case false:`},
	{"the newest output of a call is not shown", "mapping/fold_calls.go",
		`	if old.content != content {`,
		`	if false {`},
	{"the first question gets all answers", "bridge/turn_ask.go",
		`decisions[i] = t.session.accept(questions[i], a)`,
		`decisions[i] = t.session.accept(questions[0], a)`},
	{"a dismissed dialog is a yes", "bridge/approve.go",
		`		return decision{question: q, option: q.Reject(), unanswered: true, by: ByDismissed}
	}
	if o.Remember`,
		`		yes, _ := q.AllowOnce()
		return decision{question: q, option: yes}
	}
	if o.Remember`},
	{"one answer of a pause is sent", "bridge/turn_ask.go",
		`			answers = append(answers, d.answer())`,
		`			answers = append(answers[:0], d.answer())`},
	{"the user is asked without waiting for other questions", "bridge/turn.go",
		`approvalSettle = 250 * time.Millisecond`,
		`approvalSettle = time.Millisecond`},
	{"the user is asked when it is too late", "bridge/turn.go",
		`approvalSettle = 250 * time.Millisecond`,
		`approvalSettle = 5 * time.Second`},
	{"a message that a task has not got is not told", "bridge/leg_hears.go",
		`	case l.isAsWas(ev):
	case l.begun && !l.mayRestSince():`,
		`	case l.isAsWas(ev):
		return true
	case l.begun && !l.mayRestSince():`},
	{"the next prompt does not go on with the task that has asked", "bridge/session.go",
		`	default:
		s.taskID = f.TaskID
	}`,
		`	default:
		s.taskID = ""
	}`},
	{"a context that the agent changes is not kept", "mapping/fold_facts.go",
		`if ev.ContextID != "" && ev.ContextID != f.ContextID {`,
		`if ev.ContextID != "" && f.ContextID == "" {`},
	{"a task that failed has ended well", "bridge/turn_end.go",
		`case f.State == a2a.StateFailed || f.State == a2a.StateAuthRequired && !f.WaitsForWords():`,
		`case f.State == a2a.StateAuthRequired && !f.WaitsForWords():`},
	{"a rejected task says no reason", "bridge/turn_end.go",
		`if f.FailText != "" {`,
		`if false {`},
	{"the agent does not hear of a cancel", "bridge/cancel.go",
		`if task == "" || known || byTurn || gentle != nil && gentle() {`,
		`if task == "" || known || byTurn || gentle != nil && gentle() || task != "" {`},
	{"a cancelled turn waits for its agent", "bridge/turn.go",
		`		case <-t.graceOver:
			return overdue, nil`,
		`		case <-(chan struct{})(nil):
			return overdue, nil`},
	{"the agent is given up at the first silence", "bridge/follow.go",
		`maxSilence = 5`,
		`maxSilence = 1`},
	{"the first message has no settings", "bridge/session.go",
		`	return m, s.settings(m, w)`,
		`	return m, nil`},
	{"what was shown is not in the journal", "bridge/persist.go",
		`	if s.journal == nil {
		return
	}
	if err := s.journal.Append(lines); err != nil {`,
		`	if true {
		return
	}
	if err := s.journal.Append(lines); err != nil {`},
	{"a loaded session does not look what has become of its task", "bridge/persist.go",
		`	if s.taskID == "" {
		return false
	}
	reading, stop`,
		`	if true {
		return false
	}
	reading, stop`},
	{"a silent connection is waited for without end", "bridge/idle.go",
		`	if limit <= 0 {
		return nil
	}`,
		`	if true {
		return nil
	}`},
	{"a stream that is not read any more is closed", "bridge/follow.go",
		`			case l.over:
				stream.Drain()`,
		`			case l.over:
				stream.Close()`},
}
