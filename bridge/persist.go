package bridge

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// restWait is how long loading a session waits to hear what became of its task:
// what is known of it is shown before the answer, and an agent that is down
// must not hold that up.
const restWait = 2 * time.Second

// save stores the session's context and task, so that another process can go on with
// it. If the store fails, only that is lost.
func (s *Session) save() {
	if s.agent.opts.NoHistory {
		return
	}
	err := s.agent.opts.Store.Put(store.Record{ID: s.ID, Agent: s.agent.opts.Name, ContextID: s.contextID, TaskID: s.taskID,
		Cwd: s.Cwd, Title: s.Title, Previous: s.previous, Webhook: s.webhook})
	if err != nil {
		s.noteUnkept("the session is not stored", err)
	}
}

// noteUnkept logs what could not be stored, and why, which unkeptNotice tells.
func (s *Session) noteUnkept(what string, err error) {
	s.agent.opts.Log.Warn(what, "session", s.ID, "err", err)
	if s.journal != nil { // only those that have one can be loaded
		s.unkept = err
	}
}

// unkeptNotice says, once, that the conversation cannot be loaded again, at least not
// whole; "" if there is nothing to say.
func (s *Session) unkeptNotice() string {
	if s.unkept == nil || !s.firstTime(ofStore) {
		return ""
	}
	return "[From here on this conversation is not kept for later: " + strings.TrimPrefix(s.unkept.Error(), "bridge: ") + "]\n"
}

// restore is NewSession for a session that is stored. It begins in the mode
// default and remembers no approvals: what a user allowed some days ago in a
// conversation is not what he allows now.
func (a *Agent) restore(r store.Record) *Session {
	s := a.NewSession(r.Cwd)
	s.ID = r.ID
	s.takeRecord(r)
	s.approvals.mode = ModeDefault
	return s
}

// takeRecord takes over where a stored conversation stands.
func (s *Session) takeRecord(r store.Record) {
	s.Title, s.webhook = r.Title, r.Webhook
	s.contextID, s.taskID, s.leftOff, s.previous = r.ContextID, r.TaskID, r.TaskID, r.Previous
}

// keepJournal opens the session's journal, unless it is open, or was given up.
func (s *Session) keepJournal() {
	if s.journal == nil && s.unkept == nil && !s.agent.opts.NoHistory {
		s.journal = s.agent.opts.Store.Journal(s.ID)
	}
}

// record puts lines into the journal, and all that was noted before: what was asked,
// decided, sent or ended is on disk before the next step is taken.
func (s *Session) record(lines []byte) {
	if s.journal != nil {
		if err := s.journal.Write(lines); err != nil {
			s.giveUpJournal(err)
		}
	}
}

// giveUpJournal ends a journal that lacks lines: it would be loaded as if it were whole, and
// trying again with each batch would take too long.
func (s *Session) giveUpJournal(err error) {
	s.noteUnkept("the rest of the conversation is not stored", err)
	_ = s.journal.Close()
	s.journal = nil
}

// noteSent puts into the journal that a message goes to a task that is known: a history tells by its ID what came
// behind it.
func (s *Session) noteSent(m *a2a.Outgoing) {
	if s.journal != nil && m != nil {
		s.append(spell.TaskLine(s.lineBuf[:0], m.TaskID, s.contextID, m.ID))
	}
}

// noteSteps puts what was shown into the journal. The agent's task can tell it again, so it is
// written beside the stream, and a kill costs the last 10 ms of it.
func (s *Session) noteSteps(steps []mapping.Step) {
	if s.journal != nil {
		s.append(s.entries.Append(s.lineBuf[:0], steps))
	}
}

// append puts lines into a journal that is open, beside the stream, and keeps their room.
func (s *Session) append(lines []byte) {
	s.lineBuf = lines
	if err := s.journal.Append(lines); err != nil {
		s.giveUpJournal(err)
	}
}

// noteDialects puts into the journal, once a turn, which dialects the agent speaks: codex-a2a of
// npm shows that by its events alone.
func (s *Session) noteDialects() {
	for ; s.journal != nil && s.dialects < len(s.fold.Dialects); s.dialects++ {
		s.append(spell.SpeaksLine(s.lineBuf[:0], s.fold.Dialects[s.dialects]))
	}
}

// recordPrompt puts the user's own words into the journal.
func (s *Session) recordPrompt(out *spell.ACP, prompt a2a.JSON, id string) {
	if s.journal == nil {
		return
	}
	s.entries.Turn()
	s.dialects = 0
	s.record(out.UserMessage(nil, prompt, id))
}

// readJournal reads the session's journal. learn: fold and session learn what was shown. show, if
// it is not nil, gets the steps that show it again or, beside nil, a line that does.
func (s *Session) readJournal(learn bool, show func(steps []mapping.Step, line []byte) error) error {
	s.record(nil) // what was noted may not be written yet
	var loader spell.Loader
	if learn {
		loader.Fold = s.fold
	}
	err := s.agent.opts.Store.ReadJournal(s.ID, func(line []byte) error {
		var steps []mapping.Step
		if line == nil {
			const missing = "[The conversation is not stored from its beginning.]\n"
			steps = []mapping.Step{{Kind: mapping.StepNotice, Text: missing}}
		} else if steps, line = loader.Line(line); steps == nil && line == nil {
			return nil
		}
		if show == nil {
			return nil
		}
		return show(steps, line)
	})
	if learn {
		s.ended = loader.State
		if s.unfinished = loader.Unfinished(); s.unfinished && loader.ContextID+loader.TaskID != "" {
			s.taskID, s.leftOff, s.contextID = loader.TaskID, loader.TaskID, loader.ContextID // the record may be older
		}
	}
	if errors.Is(err, store.ErrNoSession) {
		return nil
	}
	return err
}

// endedInTurn says, where a session is loaded whose bridge was killed, that the
// agent cannot be asked what it has said since; why follows.
const endedInTurn = "in the middle of this turn, and the agent cannot be asked what it has said since: "

// tellEnded shows how the bridge has ended in a turn, and journals that turn's end. An error
// of Show means that the editor is gone.
func (s *Session) tellEnded(ctx context.Context, editor Editor, how string) {
	_ = editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: "\n[The bridge ended " + how + "]\n"}})
	s.unfinished = false
	s.record(spell.EndLine(nil, ""))
}

// catchUp shows what the agent has said since the journal ends. It reports whether the
// task goes on and has to be followed; if not, a turn that the journal lacks the end of gets it.
func (s *Session) catchUp(ctx context.Context, editor Editor) (goesOn bool) {
	if s.taskID == "" {
		if s.unfinished {
			s.tellEnded(ctx, editor, "before the agent had answered: it may have the message or not")
		}
		return false
	}
	reading, stop := context.WithTimeout(ctx, restWait) // the editor may be slower
	defer stop()
	_, w, err := s.agent.Ready(reading)
	var task *a2a.Event
	if err == nil {
		task, err = s.agent.opts.Client.Get(reading, s.taskID, transport.AllHistory)
	}
	if err != nil {
		// The next prompt finds out whether the task is still there.
		s.agent.opts.Log.Debug("looking for the session's task", "task", s.taskID, "err", err)
		if !s.unfinished {
			return false
		}
		if isLasting(err) {
			s.tellEnded(ctx, editor, endedInTurn+err.Error())
			return false
		}
		s.fold.SetTask(s.taskID)
		s.fold.Cut()
		return true // the caller tries again
	}
	s.fold.Speak(w.Dialect)
	s.fold.SetTask(s.taskID)
	if s.unfinished {
		s.fold.Cut()
	}
	steps := s.fold.Event(shown.Snapshot, task, nil)
	over := s.fold.State.Terminal()
	if !over {
		s.fold.AskAgain(task)
	}
	goesOn = !over && (s.fold.State != a2a.StateInputRequired || s.fold.Calls.Waits() || s.unfinished && (endsWithUser(task) || s.fold.Calls.Running() || s.fold.Calls.Unmoved()))
	var marks []byte
	if s.unfinished && !goesOn {
		marks = spell.EndLine(nil, s.fold.State)
		steps = append(s.fold.EndTurn(over, false, steps), s.failureSteps()...)
	}
	if len(steps) > 0 {
		if err := editor.Show(ctx, steps); err != nil {
			return false
		}
	}
	s.record(marks)
	if over {
		s.keepTask(w)
		s.save()
	}
	return goesOn
}

// endsWithUser reports whether a message of the user's is the last in a task's history:
// an agent that waits may not have begun to go on with it.
func endsWithUser(task *a2a.Event) (last bool) {
	for m := range a2a.Each(task.History) {
		if !task.HasMessage || m.ID != task.Message.ID {
			last = m.Role == a2a.RoleUser
		}
	}
	return last
}

// failureSteps say why the task has failed, or was rejected, of a turn that has no reply any more.
func (s *Session) failureSteps() []mapping.Step {
	f := s.fold
	if step, ok := f.Rejection(); ok {
		return []mapping.Step{step}
	}
	if f.State != a2a.StateFailed {
		return nil
	}
	failure := &mapping.TaskError{State: f.State, Text: f.FailText, Cause: f.Err}
	return []mapping.Step{{Kind: mapping.StepNotice, TaskID: f.TaskID, ContextID: f.ContextID, Text: "\n[" + failure.Error() + "]\n"}}
}

// beginLoaded is Begin for a turn that shows a loaded session, and follows its task if that
// goes on. One prompt may wait for it.
func (s *Session) beginLoaded() (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		return Turn{}, ErrBusy
	}
	s.unwatchLocked()
	t := s.addTurnLocked()
	t.isLoaded = true
	return Turn{t}, nil
}
