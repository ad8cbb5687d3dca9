package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An Editor shows a turn to the user, and asks the user.
type Editor interface {
	// Show shows steps, which are valid until it returns. One goroutine at a time calls
	// it, also while another one waits for Ask. It blocks while the editor is slow: that is
	// what slows the agent. An error ends the turn, which returns it, and cancels its task:
	// nobody sees what the agent does from then on.
	Show(ctx context.Context, steps []mapping.Step) error
	// Ask puts questions to the user and returns an answer to each, in the order of the
	// questions: [mapping.Answer.Call] is not read. An OptionID that the question does not
	// offer, or an empty one, rejects the call.
	//
	// ctx ends when the answers do not count any more: the turn is cancelled, or the agent
	// has gone on without them. Ask returns at once then, with anything.
	//
	// [ErrPause] ends the turn with the calls pending: see [Result.Pending]. Any other
	// error, or too few answers, says that the user cannot be asked. The turn returns it and
	// cancels its task, as after an error of Show. The agent gets no answer then.
	Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error)
}

// An [Editor] returns ErrPause from Ask to answer later: see [Turn.Answer]. A prompt in
// place of the answer gives the calls up, and agents need not tell what becomes of them.
var ErrPause = errors.New("the questions are answered later")

// A Session is a conversation with the agent: an A2A context, and the task in it
// that the next prompt goes on with.
type Session struct {
	ID  string
	Cwd string
	// Title is what the session is called in lists; the turn that runs may set it.
	Title string
	agent *Agent

	approvals approvals

	mu sync.Mutex
	// queue has the turns that were accepted and are not over. The first one runs, the others
	// wait for those before them: see beginLoaded, maxHeld.
	queue    []*turn
	watching *watcher // follows the task while no turn runs; nil: none does
	shutting bool     // the editor has closed it; the turn that runs is its last

	// These are not written after the session was opened, but for additional.
	queues     bool              // prompts may wait for others
	plain      bool              // no prompt is a slash command, though it may look like one: a model has written it
	mcp        []json.RawMessage // the editor's MCP servers
	additional []string          // directories beside Cwd
	// own is the MCP server of the editor's tools, which endOwn ends; nil: there is none.
	// asking has a token while a question of its, or of a turn, is put: some editors show one
	// at a time.
	own    json.RawMessage
	endOwn func() error
	asking chan struct{}

	// These belong to the turn that runs.
	watchFails int       // turns in a row that have lost the task
	pushes     *pushFeed // what the agent pushes of taskID, nil if it is not asked to
	webhook    string    // the name of its address
	fold       *mapping.Fold
	agentExit  <-chan struct{} // of the agent's process, when it was last spoken to
	contextID  string
	named      bool // the caller has named contextID: it is not replaced by another one
	taskID     string
	previous   []string // tasks of this context that have ended: the last one
	journal    *store.Journal
	entries    spell.Journal // spells the journal's lines
	dialects   int           // how many of fold.Dialects the journal has, of this turn
	places     spell.Places  // where an editor of ACP's version 2 shows what
	lineBuf    []byte        // room for lines of the journal
	unfinished bool          // the journal that was read ends in the middle of a turn
	ended      a2a.State     // the last task's state, as that journal leaves it
	unkept     error         // why the conversation is not kept, which the user does not know
	// paused is the leg of a turn that ended with calls pending while its stream was
	// open: what else it asks belongs to the same pause. decided are the decisions of
	// that pause that have not been sent, by [mapping.ToolCall.Shown].
	paused           *leg
	decided          map[string]decision
	completed        bool // taskID is a task that is completed, and may be continued
	lostConversation bool // the agent has lost the conversation, and the user does not know
	// beginsWithCommand: it is a slash command's of A2A lines, whose task has had no message yet.
	beginsWithCommand bool
	namedTask         string     // the task that the caller has named, which is not replaced either
	leftOff           string     // the task that an earlier process has left: how, is not known, but it is replaced once it is over
	refused           string     // the task that has refused an answer of the user's: another refusal is believed, unless a look finds it waiting
	unseen            bool       // taskID is the caller's, and nothing of it was shown: see takeUnseen
	noticesShown      onceNotice // what the user was told
}

// NewSession begins a conversation in a directory. The agent is not contacted.
func (a *Agent) NewSession(cwd string) *Session {
	a.enterDirs(cwd)
	return &Session{ID: a.opts.NewID(), Cwd: cwd, agent: a, approvals: approvals{mode: a.opts.Mode}, fold: mapping.NewFold(), decided: map[string]decision{}}
}

// Resume makes the session go on in a context, and a task, that exist already. Either
// may be empty. If the agent does not know one of them, that is an error: nothing new
// takes its place. It is for a session that has had no prompt yet.
func (s *Session) Resume(contextID, taskID string) {
	s.contextID, s.taskID, s.named, s.namedTask, s.unseen = contextID, taskID, contextID != "", taskID, taskID != ""
}

// Continue is Resume for where an earlier process has left off, by its [Session.NextIDs]: if the task is
// over, and takes no message, a new one in its context takes its place.
func (s *Session) Continue(contextID, taskID string) {
	s.Resume(contextID, taskID)
	s.leftOff = taskID
}

// NextIDs returns where the next prompt goes on: the context, and the task in it, if
// there is one to go on with. It is called between turns.
func (s *Session) NextIDs() (contextID, taskID string) { return s.contextID, s.taskID }

// Result is how a turn ended. Beside an error it has what was known by then: see
// [Turn.Run].
type Result struct {
	// StopReason is one of ACP's.
	StopReason string
	// State is the task's last, empty if the agent answered without a task.
	State     a2a.State
	TaskID    string
	ContextID string
	// Pending names the calls that still wait for an answer, after [ErrPause].
	Pending []string
	// Unanswered says what was rejected because nobody answered, by the titles of
	// its calls.
	Unanswered []string
	// Usage is the agent's count of tokens, as it gave it.
	Usage a2a.JSON
	// Execution is what the agent has said of the slash command that it was asked to
	// run; the zero value if it has not, or was not.
	Execution dialect.Execution
	// Question is what the agent asks in prose, with the state input-required; empty if
	// that came without words. The next prompt answers it.
	Question string
	// Waits: the task waits for the user's next prompt, or for a sign-in, and for no call. It
	// is not set for agents whose turns end with input-required though nothing is asked.
	Waits bool
	// Unread: the agent has answered, and nothing of that could be shown; the editor was told.
	Unread bool
}

const busy = "editor: a prompt or an answer of this session is still running: wait for its result, or cancel it"

// ErrBusy is the error of [Session.Begin] while another turn of the session runs: agents
// drop what comes in between. [Session.Cancel] ends that turn.
var ErrBusy = errors.New(busy)

// busyText is ErrBusy for editors.
const busyText = busy + " (ACP: session/cancel, A2A lines: $/cancel_request)"

// A Turn is a prompt that has been accepted and waits to be run.
type Turn struct{ *turn }

// Begin accepts a prompt: from now on the session is busy, and [Session.Cancel]
// reaches it. The caller runs the turn, once, or gives it up by [Turn.Discard]. The only
// error is [ErrBusy].
func (s *Session) Begin() (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.queue)
	switch {
	case n == 0:
		s.unwatchLocked()
	case s.queues && n <= maxHeld, n == 1 && s.queue[0].isLoaded:
	default:
		return Turn{}, ErrBusy
	}
	t := s.addTurnLocked()
	t.afterEnd = n == 0 || n == 1 && s.queue[0].endShown
	return Turn{t}, nil
}

// addTurnLocked makes a turn, the last of the queue.
func (s *Session) addTurnLocked() *turn {
	t := newTurn(s)
	s.queue = append(s.queue, t)
	return t
}

// unpause takes the leg that was paused out of the session; nil: there is none.
func (s *Session) unpause() *leg {
	leg := s.paused
	s.paused = nil
	return leg
}

// giveUpPause forgets the pending calls, because something else begins.
func (s *Session) giveUpPause() {
	if leg := s.unpause(); leg != nil {
		leg.leave(false)
	}
	clear(s.decided)
}

// Cancel ends the turn that runs and those that wait, or cancels a task that is watched: see [Turn.Run].
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.queue {
		t.cancel()
	}
	if w := s.watching; w != nil && len(s.queue) == 0 {
		// The turn that cancels the task begins here: a prompt that is read next is behind it.
		w.cancels = s.addTurnLocked()
		w.cancels.endShown = true
		s.unwatchLocked()
	}
}

// Run sends a prompt and shows the editor what comes of it, until the turn is
// over. A turn that was cancelled ends within two seconds of it with
// StopReason cancelled, whatever the agent does.
//
// Some errors are worth branching on. Ask for them in this order, since one error may be
// several:
//
//   - the editor's own, of Show or Ask: the task was cancelled.
//   - [*mapping.TaskError]: the task has failed, or has stopped until the user
//     authenticates elsewhere. Its State tells which.
//   - [*mapping.PromptError]: the prompt cannot be sent as it is. Nothing was sent.
//   - [*dialect.CommandError]: the agent has not started the slash command.
//   - [transport.ErrExited]: the process of the agent has ended.
//   - [transport.ErrPossiblyDelivered] and [transport.ErrInterrupted]: the agent may have
//     got the prompt, and may still work on it. The user decides whether to send it again.
//   - [transport.ErrUnreachable]: the prompt was not sent, and may be sent again.
//   - [*a2a.Error]: the agent has refused the prompt, or has lost its task. If it is
//     Unauthenticated, the user has to sign in.
//   - ctx's.
//
// The others, such as that of a Dialect that does not exist, have only a text for the user.
//
// Beside a TaskError the Result is complete. Beside other errors it has the State, TaskID
// and ContextID that were known last, or nothing; its StopReason counts only if it is
// cancelled. The session may be prompted again, and goes on
// with the task if that may still go on.
//
// The end of ctx ends the turn at once, with ctx's error. The agent may work on: its task is
// cancelled only when it says something more, and not at all once [Agent.Close] was called.
// To stop the agent call [Session.Cancel], and wait for Run.
func (t Turn) Run(ctx context.Context, prompt []acp.ContentBlock, editor Editor) (Result, error) {
	defer t.release()
	return t.prompt(ctx, prompt, editor)
}

// Discard gives up a turn that will not be run.
func (t Turn) Discard() { t.release() }

// Prompt is Begin and Run.
func (s *Session) Prompt(ctx context.Context, prompt []acp.ContentBlock, editor Editor) (Result, error) {
	t, err := s.Begin()
	if err != nil {
		return Result{}, err
	}
	return t.Run(ctx, prompt, editor)
}

// message makes the message of a prompt, which goes on where the session is.
func (s *Session) message(parts []a2a.OutPart, w dialect.Writing) (*a2a.Outgoing, error) {
	// The first message names no context: the agent makes it (A2A 1.0, §3.4.1: it
	// may refuse others').
	m := &a2a.Outgoing{ID: s.agent.opts.NewID(), ContextID: s.contextID, TaskID: s.taskID, Parts: parts}
	if s.taskID != "" {
		return m, nil
	}
	// Agents keep settings by task: a new one has neither those of the last task nor
	// its history.
	m.ReferenceTaskIDs = s.references()
	return m, s.applySettings(m, w)
}

// references are the earlier tasks that a message for a new task names; none where the agent refuses
// messages that name any.
func (s *Session) references() []string {
	if s.agent.referencesRefused.Load() {
		return nil
	}
	return s.previous
}

// fillIn adds to a message that somebody else has written what it leaves open: ID, context and
// the settings of a new task.
func (s *Session) fillIn(m *a2a.Outgoing, w dialect.Writing) error {
	if m.ID == "" {
		m.ID = s.agent.opts.NewID()
	}
	if m.TaskID != "" {
		return nil
	}
	m.ContextID = cmp.Or(m.ContextID, s.contextID)
	if w.Settled(m) {
		return nil
	}
	return s.applySettings(m, w)
}

// applySettings writes into m what the first message of a task tells the agent.
func (s *Session) applySettings(m *a2a.Outgoing, w dialect.Writing) error {
	return w.Apply(s.agentSettings(), m)
}

func (s *Session) agentSettings() dialect.AgentSettings {
	return dialect.AgentSettings{Workspace: s.Cwd, Extra: s.agent.opts.AgentSettings, MCPServers: s.servers()}
}

// keepTask has the next prompt go on in the turn's context and, unless it is over, with its
// task. One that is completed can be continued, by the development-tool extension (its
// appendix A, step 10); by the protocol it cannot, and turn.resendRequest sees to an agent
// that will not.
func (s *Session) keepTask(w dialect.Writing) {
	f := s.fold
	if f.ContextID != "" {
		s.contextID, s.named = f.ContextID, false
	} else if s.contextID == "" { // the agent names none: ours, from the second message on
		s.contextID = s.agent.opts.NewID()
	}
	s.completed, s.refused = false, ""
	switch {
	case f.TaskID == "":
	case f.State == a2a.StateCompleted && w.Traits().ContinuesCompleted:
		s.taskID, s.previous = f.TaskID, []string{f.TaskID}
		s.completed = true
	case f.State.Terminal() || f.State == "":
		s.taskID, s.previous = "", []string{f.TaskID}
	default:
		s.taskID = f.TaskID
	}
}

// keepTaskAfterError is keepTask after an error: what the agent has not said is not known, and
// the task may go on.
func (s *Session) keepTaskAfterError() {
	f := s.fold
	if s.contextID = cmp.Or(f.ContextID, s.contextID); f.TaskID != "" && !f.State.Terminal() {
		s.taskID = f.TaskID
	}
}

// dropTask has the next prompt begin a new task, in the same context. What the present one still
// says is not shown.
func (s *Session) dropTask() {
	s.contextID, s.taskID, s.previous = cmp.Or(s.fold.ContextID, s.contextID), "", nil
	if s.fold.TaskID != "" {
		s.previous = []string{s.fold.TaskID}
	}
}
