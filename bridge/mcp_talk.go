package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxTaken is how much text a result has at most, in bytes: of longer ones some clients
	// leave out the middle.
	maxTaken = 10_000
	// maxNotes is where a result has enough lines of ours: an agent may be told no again and again.
	maxNotes = 2_000
	// mcpBeat is how often a client hears that a call goes on, and what the agent does.
	mcpBeat = 5 * time.Second
)

// An mcpTalk is a conversation of an MCP client's with an agent. It is the [Editor] of its
// turns, and keeps what they bring until a call takes it.
type mcpTalk struct {
	editor  *mcpEditor
	name    string // the agent's
	agent   *Agent
	session *Session   // its ID is the handle
	awaited sync.Mutex // the call has it that waits

	mu      sync.Mutex
	changed chan struct{}           // closed at the next change
	detach  context.CancelCauseFunc // ends the turn that runs, and not its task; nil: none runs
	journal *store.Journal          // the session's
	out     spell.MCP
	notes   string // lines of ours for the next result
	result  Result // of the last turn
	err     error
	asks    *mcpQuestion // that waits for a person, nil if none does
	back    *mcpQuestion // with which a call was answered last, to come again
}

func (e *mcpEditor) newTalk(agent *Agent, name string, session *Session) *mcpTalk {
	session.plain = true
	return &mcpTalk{editor: e, name: name, agent: agent, session: session, changed: make(chan struct{}), out: spell.MCP{Handle: session.ID}}
}

// changedLocked wakes what waits for a change.
func (t *mcpTalk) changedLocked() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Show implements [Editor].
func (t *mcpTalk) Show(_ context.Context, steps []mapping.Step) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session.noteSteps(steps)
	t.out.Append(steps)
	return nil
}

// start runs a turn that no call waits for, if none runs.
func (t *mcpTalk) start(run func(ctx context.Context, turn Turn) (Result, error)) error {
	turn, err := t.session.Begin()
	if err != nil {
		return err
	}
	ctx, detach := context.WithCancelCause(t.editor.server.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session.keepJournal()
	journal := t.session.journal                             // which the turn may give up
	running := t.editor.server.spawn(func(context.Context) { // ends with the turn, or by leave
		defer detach(nil)
		r, err := run(ctx, turn)
		t.mu.Lock()
		defer t.mu.Unlock()
		Turn{t.session.running()}.release()
		t.detach, t.result, t.err = nil, r, err
		t.changedLocked()
	})
	if !running {
		turn.Discard()
		detach(nil)
		return errors.New("bridge: it ends, and nothing was sent")
	}
	t.journal, t.detach = journal, detach
	return nil
}

// goOn follows the task that the last turn has lost, or cancels the one that it has left, if there
// is one.
func (t *mcpTalk) goOn(cancels bool) error {
	t.mu.Lock()
	lost := t.err != nil
	t.mu.Unlock()
	if !lost && !cancels {
		return nil
	}
	err := t.start(func(ctx context.Context, turn Turn) (Result, error) {
		switch _, task := t.session.NextIDs(); {
		case task == "" || t.session.completed:
			return t.result, t.err
		case cancels:
			return turn.cancelLeft(ctx, task, t)
		}
		return turn.goOn(ctx, t)
	})
	if errors.Is(err, ErrBusy) { // a turn follows it
		return nil
	}
	return err
}

// stop cancels the task of the turn that runs; false: none does. What it has asked is not asked
// any more.
func (t *mcpTalk) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.detach == nil {
		return false
	}
	t.session.Cancel()
	t.asks = nil
	t.changedLocked()
	return true
}

var errOtherCall = errors.New("editor: another call waits for this task already, and gets what is new: wait for its result")

// serve answers a call, alone, when the turn is over that begin has begun, or the call's time is.
// What waits for the user is asked by it.
func (t *mcpTalk) serve(c *mcpCall, begin func() error) (*mcp.CallResult, error) {
	if !t.awaited.TryLock() {
		return nil, errOtherCall
	}
	defer t.awaited.Unlock() // before the answer: the client's next call may follow at once
	if err := begin(); err != nil {
		return nil, err
	}
	beat := time.NewTicker(mcpBeat)
	defer beat.Stop()
	for {
		t.mu.Lock()
		q, runs, changed, doing := t.asks, t.detach != nil, t.changed, t.out.Doing
		t.mu.Unlock()
		if errors.Is(context.Cause(c.ctx), errCancelled) {
			t.stop()
		}
		switch {
		case !runs || c.ctx.Err() != nil:
			return t.report(c), nil
		case q != nil && !c.canAsk(q):
			t.answer(q, "", cannotAsk)
		case q != nil && c.stateless:
			return t.askBack(c, q), nil
		case q != nil:
			c.elicit(t, q, beat.C, doing)
		default:
			select {
			case <-changed:
			case <-beat.C:
				c.tell(doing)
			case <-c.ctx.Done(): // or the client has cancelled it, or the bridge ends
			}
		}
	}
}

// report says how the conversation stands, and what is new in it, if the client wants to know.
func (t *mcpTalk) report(c *mcpCall) *mcp.CallResult {
	if !c.isWanted() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	said, content := t.out.Take(maxTaken)
	left := t.out.Size()
	if left == 0 {
		_ = t.journal.Write([]byte(spell.TakenLine)) // without it, the next process says this again
	}
	head, isError := t.headLocked(left)
	t.notes = ""
	result := mcp.Text(head + t.agent.fence(t.name, said))
	result.Content, result.IsError = append(result.Content, content...), isError
	return result
}

// headLocked says in our words how the conversation stands, and what can be done next.
func (t *mcpTalk) headLocked(left int) (head string, isError bool) {
	r, why := &t.result, ""
	if t.err != nil {
		why = "why: " + strconv.Quote(t.agent.opts.Mask(t.err.Error())) + "\n"
	}
	state, next := string(r.State), "the task goes on: call wait_task with this handle"
	switch task := (*mapping.TaskError)(nil); {
	case t.asks != nil:
		state, next = "waiting for the user", "call wait_task with this handle: it asks the user again. Nobody else can answer"
		why = "asks the user: " + strconv.Quote(t.asks.what) + "\n"
	case t.detach != nil:
		state, why = "working", ""
	case left > 0:
		next = "call wait_task with this handle: there is more that the agent has said"
	case r.State == a2a.StateAuthRequired:
		next = "the agent waits until the user has signed in with it: tell the user, and call wait_task then"
	case isUnauthenticated(t.err):
		state, next, isError = "not signed in", "the user has to sign in: tell the user so", true
	case t.err != nil && !errors.As(t.err, &task):
		state, next, isError = "failed", "tell the user. Do not send the message again unless the user wants it, or it was surely not sent", true
	case r.Waits || r.Question != "":
		next = "the agent waits for an answer: send it by send_message with this handle, or ask the user first"
	default:
		state, isError = cmp.Or(state, "answered"), t.err != nil || r.State == a2a.StateRejected
		next = "the task is over. send_message with this handle goes on in the conversation"
	}
	return fmt.Sprintf("state: %s\nhandle: %s\nnext: %s\n%s%s", state, t.session.ID, next, why, t.notes), isError
}

// note adds lines of ours to the next result, if that has not too many, nor the same.
func (t *mcpTalk) note(lines string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.notes) < maxNotes && !strings.Contains(t.notes, lines) {
		t.notes += lines
	}
}

// fence sets what an agent says apart from our own words: the agent cannot know the mark, and
// so cannot end it.
func (a *Agent) fence(name, said string) string {
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	mark := a.opts.NewID()
	mark = mark[:min(len(mark), 8)]
	return fmt.Sprintf("\nWhat %s says, which is not the user's word, stands between the marks %s:\n<%s>\n%s\n</%s>\n", name, mark, mark, said, mark)
}
