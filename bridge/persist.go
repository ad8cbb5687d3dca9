package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// restWait is how long loading a session waits to hear what became of its task:
// what is known of it is shown before the answer, and an agent that is down
// must not hold that up.
const restWait = 2 * time.Second

// save stores where the session is, so that another process can go on with it.
// A store that does not work costs that, and nothing else.
func (s *Session) save() {
	s.mu.Lock()
	mode := s.mode
	s.mu.Unlock()
	err := s.agent.opts.Store.Put(Record{ID: s.ID, Agent: s.agent.opts.Name, ContextID: s.contextID, TaskID: s.taskID,
		Cwd: s.Cwd, Mode: mode, Title: s.Title, Previous: s.previous})
	if err != nil {
		s.agent.opts.Log.Warn("the session is not stored", "session", s.ID, "err", err)
	}
}

// restore is NewSession for a session that is stored.
func (a *Agent) restore(r Record) *Session {
	s := a.NewSession(r.Cwd)
	s.ID, s.Title = r.ID, r.Title
	s.contextID, s.taskID, s.previous = r.ContextID, r.TaskID, r.Previous
	if s.SetMode(r.Mode) != nil {
		s.mode = a.opts.Mode
	}
	return s
}

// keepJournal opens the session's journal, once.
func (s *Session) keepJournal() {
	if s.journal != nil || s.unstored {
		return
	}
	var err error
	if s.journal, err = s.agent.opts.Store.Journal(s.ID); err != nil {
		s.agent.opts.Log.Warn("the conversation is not stored", "session", s.ID, "err", err)
	}
}

// record appends lines to the journal. They are written before the editor gets
// them, because what is in the journal counts as shown.
func (s *Session) record(lines []byte) {
	if s.journal == nil {
		return
	}
	if err := s.journal.Append(lines); err != nil {
		// A journal with a hole would be loaded as if it were whole, and trying
		// again with each batch would be felt.
		s.agent.opts.Log.Warn("the rest of the conversation is not stored", "session", s.ID, "err", err)
		_ = s.journal.Close()
		s.journal, s.unstored = nil, true
	}
}

// recordPrompt puts the user's own words into the journal.
func (s *Session) recordPrompt(out *mapping.ACP, params []byte) {
	if s.journal == nil {
		return
	}
	blocks := gjson.GetBytes(params, "prompt").Array()
	s.record(out.UserMessage(nil, blocks, s.agent.opts.NewID()))
}

// replay reads the session's journal: show gets its lines, if it is not nil, made
// whole where something is missing before them, and the fold learns what has been
// shown.
func (s *Session) replay(learn bool, show func(line []byte) error) error {
	out := mapping.ACP{Session: s.ID}
	var mender mapping.Mender
	err := s.agent.opts.Store.Replay(s.ID, func(line []byte) error {
		switch {
		case line == nil && show != nil:
			const missing = "[The conversation is not stored from its beginning.]\n"
			return show(out.Append(nil, []mapping.Step{{Kind: mapping.StepNotice, Text: missing}}))
		case line == nil:
			return nil
		}
		if learn {
			s.fold.Restore(line)
		}
		if show == nil || mapping.IsMark(line) {
			return nil
		}
		if line = mender.Mend(line); line == nil {
			return nil
		}
		return show(append(line[:len(line):len(line)], '\n'))
	})
	if errors.Is(err, ErrNoSession) {
		return nil
	}
	return err
}

// catchUp shows what the agent has said since the journal ends. It reports
// whether the task goes on, so that somebody has to follow it.
func (s *Session) catchUp(ctx context.Context, editor Editor) (goesOn bool) {
	if s.taskID == "" {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, restWait)
	defer stop()
	_, w, err := s.agent.Ready(ctx)
	var task *a2a.Event
	if err == nil {
		task, err = s.agent.opts.Client.Get(ctx, s.taskID, allHistory)
	}
	if err != nil {
		// The next prompt finds out whether the task is still there.
		s.agent.opts.Log.Debug("looking for the session's task", "task", s.taskID, "err", err)
		return false
	}
	if steps := s.fold.Event(task, nil); len(steps) > 0 {
		if err := editor.Show(ctx, steps); err != nil {
			return false
		}
	}
	switch {
	case s.fold.State.Terminal():
		s.remember(w)
		s.save()
		return false
	case s.fold.State == a2a.StateInputRequired:
		return len(s.fold.Open()) > 0
	}
	return true
}

// listPage is how many sessions one answer to session/list holds.
const listPage = 100

// listSessions answers session/list: the stored sessions with this agent, newest
// first.
func (a *Agent) listSessions(p acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	r := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	records, err := a.opts.Store.List(a.opts.Name, p.Cwd)
	if err != nil {
		return r, err
	}
	skip := p.Cursor != ""
	for _, record := range records {
		if skip {
			skip = record.ID != p.Cursor
			continue
		}
		if len(r.Sessions) == listPage {
			r.NextCursor = r.Sessions[listPage-1].SessionID
			break
		}
		r.Sessions = append(r.Sessions, acp.SessionInfo{SessionID: record.ID, Cwd: record.Cwd, Title: record.Title,
			UpdatedAt: record.UpdatedAt.UTC().Format(time.RFC3339)})
	}
	return r, nil
}
