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
	session *Session      // its ID is the handle: the agent's name, a dot, and an ID
	waiting sync.Mutex    // held by the call that waits: see serve
	changed chan struct{} // has a token behind a change

	mu sync.Mutex
	mcpState
}

// An mcpState is what a talk's mu guards.
type mcpState struct {
	detach  context.CancelCauseFunc // ends the turn that runs, and not its task; nil: none runs
	journal *store.Journal          // the session's
	out     spell.MCP
	notes   string // lines of ours for the next result
	result  Result // of the last turn
	err     error
	asks    *mcpQuestion // that waits for a person, nil if none does
	back    *mcpQuestion // with which a call was answered last, to come again
}

func (e *mcpEditor) newTalk(session *Session) *mcpTalk {
	session.plain = true
	begins := mcpState{out: spell.MCP{Handle: session.ID, Doing: "working"}}
	return &mcpTalk{editor: e, session: session, changed: make(chan struct{}, 1), mcpState: begins}
}

// now returns a copy of how the conversation stands.
func (t *mcpTalk) now() mcpState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mcpState
}

// change calls by, which changes that, and wakes the call that waits for a change.
func (t *mcpTalk) change(by func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	by()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Show implements [Editor].
func (t *mcpTalk) Show(_ context.Context, steps []mapping.Step) error {
	t.change(func() {
		t.session.noteSteps(steps)
		t.out.Append(steps)
	})
	return nil
}

// start runs a turn that no call waits for, by run, which does not release it; ErrBusy: one runs.
func (t *mcpTalk) start(run func(ctx context.Context, turn Turn) (Result, error)) error {
	turn, err := t.session.Begin()
	if err != nil {
		return err
	}
	ctx, detach := context.WithCancelCause(t.editor.server.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session.keepJournal()
	t.session.save()                                 // so that the handle is found after a kill
	t.journal, t.detach = t.session.journal, detach  // the turn may give its up
	if t.editor.server.spawn(func(context.Context) { // ends with the turn, or by leave
		defer detach(nil)
		r, err := run(ctx, turn)
		t.change(func() {
			Turn{t.session.running()}.release()
			t.detach, t.result, t.err = nil, r, err
		})
	}) {
		return nil
	}
	turn.Discard()
	detach(nil)
	t.detach = nil
	return errors.New("bridge: it ends")
}

// goOn begins a turn, if none runs: one that follows the task which the last turn has lost or, with
// cancels, one that cancels the task which that has left.
func (t *mcpTalk) goOn(cancels bool) error {
	if !cancels && t.now().err == nil {
		return nil
	}
	err := t.start(func(ctx context.Context, turn Turn) (Result, error) {
		switch _, task := t.session.NextIDs(); {
		case task == "" || t.session.completed:
			return t.result, t.err
		case cancels:
			return turn.cancelLeftTask(ctx, task, t)
		}
		return turn.goOn(ctx, t)
	})
	if errors.Is(err, ErrBusy) { // a turn follows it
		return nil
	}
	return err
}

// cancel cancels the turn that runs, if one does. What it has asked is not asked any more.
func (t *mcpTalk) cancel() {
	t.change(func() {
		t.session.Cancel()
		t.asks = nil
	})
}

var errOtherCall = errors.New("editor: another call waits for this task already, and gets what is new: wait for its result")

// serve calls begin, and returns the call's result when no turn runs any more, or the call's time
// is over. errOtherCall: another call waits, and begin was not called.
// What waits for the user is asked by it, and meanwhile the client hears that the call goes on.
func (t *mcpTalk) serve(c *mcpCall, begin func() error) (*mcp.CallResult, error) {
	if !t.waiting.TryLock() {
		return nil, errOtherCall
	}
	defer t.waiting.Unlock() // before the answer: the client's next call may follow at once
	if err := begin(); err != nil {
		return nil, err
	}
	beat := time.NewTicker(mcpBeat)
	defer beat.Stop()
	var asked *mcpQuestion
	var asking sync.WaitGroup // ends with the question, or the call
	for {
		now := t.now()
		switch q := now.asks; {
		case now.detach == nil || c.ctx.Err() != nil:
			asking.Wait() // an answer does not count any more, and the client hears so first
			return t.report(c, nil), nil
		case q == nil || q == asked:
			select {
			case <-t.changed:
			case <-beat.C:
				c.sendProgress(now.out.Doing)
			case <-c.ctx.Done(): // or the client has cancelled it, or the bridge ends
			}
		case !c.can.asks(q.elicit):
			t.answer(q, "", cannotAsk)
		case c.stateless:
			return t.report(c, q), nil
		default:
			asked = q
			asking.Go(func() { c.elicit(t, q) })
		}
	}
}

// report returns a call's result: how the conversation stands, and what is new in it, or the
// question q. nil: the client wants none. If a person has cancelled the call, its task ends.
func (t *mcpTalk) report(c *mcpCall, q *mcpQuestion) *mcp.CallResult {
	if !c.isWanted() {
		if c.fate.Load() == callCancelled {
			t.cancel()
		}
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q != nil {
		return t.askBackLocked(c, q)
	}
	said, content := t.out.Take(maxTaken)
	if t.out.Size() == 0 {
		_ = t.journal.Write([]byte(spell.TakenLine)) // without it, the next process says this again
	}
	state, next, isError := t.standsLocked()
	if t.err != nil && t.detach == nil {
		t.notes = "why: " + strconv.Quote(t.session.agent.opts.Mask(t.err.Error())) + "\n" + t.notes
	}
	head := fmt.Sprintf("state: %s\nhandle: %s\nnext: %s\n%s", state, t.session.ID, next, t.notes)
	result := mcp.Text(head + t.session.agent.fence(beforeDot(t.session.ID), said))
	result.Content, result.IsError, t.notes = append(result.Content, content...), isError, ""
	return result
}

// standsLocked says how the conversation stands, what the model can do next, and whether the result
// is an error.
func (t *mcpTalk) standsLocked() (state, next string, isError bool) {
	r := &t.result
	switch state = cmp.Or(string(r.State), "answered"); {
	case t.asks != nil:
		next = "call wait_task with this handle: it asks the user again. Nobody else can answer\nasks the user: " + strconv.Quote(t.asks.what)
		return "waiting for the user", next, false
	case t.detach != nil:
		return "working", "the task goes on: call wait_task with this handle", false
	case t.out.Size() > 0:
		return state, "call wait_task with this handle: there is more that the agent has said", false
	case r.State == a2a.StateAuthRequired:
		return state, "the agent waits until the user has signed in with it: tell the user, and call wait_task then", false
	case a2a.ErrorOf(t.err).Unauthenticated():
		return "not signed in", "the user has to sign in: tell the user so", true
	case t.err != nil && !errors.As(t.err, new(*mapping.TaskError)):
		return "failed", "tell the user. Do not send the message again unless the user wants it, or it was surely not sent", true
	case r.Waits || r.Question != "":
		return state, "the agent waits for an answer: send it by send_message with this handle, or ask the user first", false
	}
	next = "the task is over. send_message with this handle goes on in the conversation"
	return state, next, t.err != nil || r.State == a2a.StateRejected || r.State == a2a.StateFailed
}

// addNote adds lines of ours to the next result, unless it has them, or too many.
func (t *mcpTalk) addNote(lines string) {
	t.change(func() {
		if len(t.notes) < maxNotes && !strings.Contains(t.notes, lines) {
			t.notes += lines
		}
	})
}
