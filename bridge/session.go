package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An Editor is what a turn needs of whoever it is for.
type Editor interface {
	// Show shows steps, which are valid until it returns. It blocks while the
	// editor is slow: that is what slows the agent.
	Show(ctx context.Context, steps []mapping.Step) error
	// Ask puts questions to the user and returns an answer to each, in order. It
	// returns at once when ctx ends. [ErrPause] ends the turn instead, with the
	// calls pending.
	Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error)
}

// ErrPause is what an [Editor] returns that answers later: see [Turn.Answer].
var ErrPause = errors.New("the questions are answered later")

// A Session is a conversation with the agent: an A2A context, and the task in it
// that the next prompt goes on with.
type Session struct {
	ID  string
	Cwd string
	// Title is what the session is called in lists; the turn that runs may set it.
	Title string
	agent *Agent

	mu   sync.Mutex
	mode string
	// always holds what the user has allowed for the rest of the session.
	always []string
	turn   *turn // the one that runs, nil if none
	mcp    []json.RawMessage

	// These belong to the turn that runs.
	fold      *mapping.Fold
	contextID string
	taskID    string
	previous  []string // tasks of this context that have ended: the last one
	journal   *Journal
	recorder  mapping.Recorder
	unstored  bool // the journal could not be written, and is given up
	completed bool // taskID is a task that is completed, and may be continued
	anew      bool // the agent has lost the conversation, and the user does not know
}

// NewSession begins a conversation in a directory. The agent is not contacted.
func (a *Agent) NewSession(cwd string) *Session {
	return &Session{ID: a.opts.NewID(), Cwd: cwd, agent: a, mode: a.opts.Mode, fold: mapping.NewFold()}
}

// Resume makes the session go on in a context, and a task, that exist already.
// Either may be empty. It is for a session that has had no prompt yet.
func (s *Session) Resume(contextID, taskID string) {
	s.contextID, s.taskID = contextID, taskID
}

// SetMode changes how approvals are given from now on.
func (s *Session) SetMode(mode string) error {
	if !slices.Contains(Modes(), mode) {
		return fmt.Errorf("editor: no mode %q: there are %v", mode, Modes())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
	return nil
}

// Mode returns the mode that the session is in.
func (s *Session) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// The permission modes. They live in the bridge, so that they work with every
// agent and in the middle of a turn.
const (
	ModeDefault     = "default"      // the user is asked whenever the agent asks
	ModeAcceptEdits = "accept-edits" // file edits are allowed
	ModeYolo        = "yolo"         // everything is
)

// Modes lists the permission modes.
func Modes() []string { return []string{ModeDefault, ModeAcceptEdits, ModeYolo} }

// Result is how a turn ended.
type Result struct {
	// StopReason is one of ACP's.
	StopReason string
	// State is the task's last, empty if the agent answered without a task.
	State     a2a.State
	TaskID    string
	ContextID string
	// Pending names the calls that still wait for an answer.
	Pending []string
	// Usage is the agent's count of tokens, as it gave it.
	Usage a2a.JSON
}

// errBusy says that a session has one turn at a time: agents drop what comes in
// between.
var errBusy = fmt.Errorf("editor: a prompt of this session is still running: wait for its result, or cancel it with session/cancel")

// A Turn is a prompt that has been accepted and waits to be run.
type Turn struct{ t *turn }

// Begin accepts a prompt: from now on the session is busy, and [Session.Cancel]
// reaches it. The caller runs it, once.
func (s *Session) Begin() (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		return Turn{}, errBusy
	}
	s.turn = newTurn(s)
	return Turn{s.turn}, nil
}

// busy reports whether a turn is running.
func (s *Session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn != nil
}

// Cancel ends the running turn, if there is one: see [Turn.Run].
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.requestCancel()
	}
}

// Run sends a prompt and shows the editor what comes of it, until the turn is
// over. A turn that was cancelled ends within two seconds of it with
// StopReason cancelled, whatever the agent does. Errors are the agent's
// ([a2a.Error]), the transport's (see package transport), or ctx's.
func (t Turn) Run(ctx context.Context, prompt []acp.ContentBlock, editor Editor) (Result, error) {
	defer t.t.release()
	return t.t.run(ctx, editor, true, func(ctx context.Context) (*request, error) {
		if r := t.t.command(ctx, prompt); r != nil {
			return r, nil
		}
		parts, err := mapping.Prompt(prompt, t.t.card)
		if err != nil {
			return nil, err
		}
		m, err := t.t.session.message(parts, t.t.writing)
		if err != nil {
			return nil, err
		}
		return t.t.say(m), nil
	})
}

// Abandon gives up a turn that will not be run.
func (t Turn) Abandon() { t.t.release() }

// Prompt is Begin and Run.
func (s *Session) Prompt(ctx context.Context, prompt []acp.ContentBlock, editor Editor) (Result, error) {
	t, err := s.Begin()
	if err != nil {
		return Result{}, err
	}
	return t.Run(ctx, prompt, editor)
}

// message builds the prompt's message for the agent.
func (s *Session) message(parts []a2a.OutPart, w mapping.Writing) (*a2a.Outgoing, error) {
	if s.contextID == "" && s.taskID == "" { // a task knows its own
		s.contextID = s.agent.opts.NewID()
	}
	m := &a2a.Outgoing{ID: s.agent.opts.NewID(), ContextID: s.contextID, TaskID: s.taskID, Parts: parts, Prompt: true}
	if s.taskID != "" {
		return m, nil
	}
	// A new task knows nothing of the one before it, nor of its settings: agents
	// keep them by task.
	m.ReferenceTaskIDs = s.previous
	return m, s.settings(m, w)
}

// settings writes what the first message of a task tells the agent.
func (s *Session) settings(m *a2a.Outgoing, w mapping.Writing) error {
	settings := mapping.AgentSettings{Workspace: s.Cwd, Extra: s.agent.opts.AgentSettings}
	if s.agent.opts.ForwardMCP {
		settings.MCPServers = s.mcp
	}
	return w.Apply(settings, m)
}

// remember keeps where the next prompt goes on. A task that is completed can be
// continued, by the development-tool extension (its appendix A, step 10); by
// the protocol it cannot, and [Session.refused] sees to an agent that will not.
func (s *Session) remember(w mapping.Writing) {
	f := s.fold
	if f.ContextID != "" {
		s.contextID = f.ContextID
	}
	s.completed = false
	switch {
	case f.TaskID == "":
	case f.State == a2a.StateCompleted && w.Dialect == mapping.DialectDevtool:
		s.taskID, s.previous = f.TaskID, []string{f.TaskID}
		s.completed = true
	case f.State.Terminal() || f.State == "":
		s.taskID, s.previous = "", []string{f.TaskID}
	default:
		s.taskID = f.TaskID
	}
}

// keep is remember after an error: what the agent has not said is not known, and
// the task may go on.
func (s *Session) keep() {
	if f := s.fold; f.ContextID != "" {
		s.contextID = f.ContextID
	}
	if f := s.fold; f.TaskID != "" && !f.State.Terminal() {
		s.taskID = f.TaskID
	}
}

// forget gives up a task that was abandoned: what it still says is not shown,
// and the next prompt starts another one in the same context.
func (s *Session) forget() {
	if s.fold.ContextID != "" {
		s.contextID = s.fold.ContextID
	}
	s.taskID, s.previous = "", nil
	if s.fold.TaskID != "" {
		s.previous = []string{s.fold.TaskID}
	}
}

// allowed reports whether a question needs no user: by the session's mode, or by
// what was always allowed.
func (s *Session) allowed(q mapping.Question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.mode == ModeYolo:
		return true
	case s.mode == ModeAcceptEdits && q.Call.Confirmation != nil && q.Call.Confirmation.Edit != nil:
		return true
	}
	keys := mapping.AlwaysKeys(q.Call)
	for _, k := range keys {
		if !slices.Contains(s.always, k) {
			return false
		}
	}
	return len(keys) > 0
}

// allow notes what the user has always allowed.
func (s *Session) allow(keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		if !slices.Contains(s.always, k) {
			s.always = append(s.always, k)
		}
	}
}
