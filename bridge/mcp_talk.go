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
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxTaken is how much text a result has at most, in bytes: of longer ones some clients
	// leave out the middle.
	maxTaken = 10_000
	// maxUntaken is how much may wait to be taken, before the agent has to wait.
	maxUntaken = 4 << 20
	// mcpBeat is how often a client hears at least that a call goes on, mcpPace how often at
	// most.
	mcpBeat = 10 * time.Second
	mcpPace = time.Second
)

// An mcpTalk is a conversation of an MCP client's with an agent. It is the [Editor] of its
// turns, and keeps what they bring until a call takes it.
type mcpTalk struct {
	editor  *mcpEditor
	name    string // the agent's
	agent   *Agent
	session *Session // its ID is the handle

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	call    *mcpCall      // that waits, nil if none does
	runs    bool          // a turn is running
	detach  context.CancelCauseFunc
	journal *store.Journal // the session's
	past    bool           // the turn looks what has come of an earlier process's task
	deaf    bool           // the turn was cancelled: what is said need not be taken, and nobody is asked
	out     spell.MCP
	notes   []string // lines of ours for the next result
	state   a2a.State
	taskID  string // the last task
	result  Result
	err     error
	asks    *mcpQuestion // that waits for a person, nil if none does
	page    string       // the last question that was a page, of a call that comes again
}

func (e *mcpEditor) newTalk(agent *Agent, name string, session *Session) *mcpTalk {
	return &mcpTalk{editor: e, name: name, agent: agent, session: session, changed: make(chan struct{}), out: spell.MCP{Handle: session.ID}}
}

// changedLocked wakes what waits for a change.
func (t *mcpTalk) changedLocked() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Show implements [Editor].
func (t *mcpTalk) Show(ctx context.Context, steps []mapping.Step) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.out.Size() > maxUntaken && !t.deaf && !t.past { // what is past no call can take yet
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		t.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	t.session.noteSteps(steps)
	t.out.Append(steps)
	for i := range steps {
		if s := &steps[i]; s.Kind == mapping.StepState {
			t.state = a2a.State(strings.Clone(string(s.State)))
			t.taskID = strings.Clone(s.TaskID)
		}
	}
	t.changedLocked()
	return nil
}

// start runs a turn that no request waits for.
func (t *mcpTalk) start(turn Turn, run func(ctx context.Context, turn Turn) (Result, error)) {
	e := t.editor
	ctx, detach := context.WithCancelCause(e.server.ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.closing {
		detach(nil)
		turn.Discard()
		t.past, t.err = false, errors.New("bridge: it ends, and nothing was sent")
		return
	}
	t.session.keepJournal()
	t.journal = t.session.journal // which the turn may give up
	t.runs, t.detach, t.deaf, t.err, t.result, t.state = true, detach, false, nil, Result{}, ""
	e.turns.Go(func() { // ends with the turn, or by leave or the end of the bridge's work
		defer detach(nil)
		r, err := run(ctx, turn)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.runs, t.past, t.result, t.err = false, false, r, err
		if r.State != "" {
			t.state = r.State
		}
		if r.TaskID != "" {
			t.taskID = strings.Clone(r.TaskID)
		}
		t.changedLocked()
	})
}

// awaitPast waits until it is known what has come of the task of an earlier process.
func (t *mcpTalk) awaitPast(ctx context.Context) error {
	for {
		t.mu.Lock()
		past, changed := t.past, t.changed
		t.mu.Unlock()
		if !past {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.New("agent: it has not said in time how the task stands: call again")
		}
	}
}

func (t *mcpTalk) endPast() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.past = false
	t.changedLocked()
}

// leave is for the end of the process: see mcpEditor.leave.
func (t *mcpTalk) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.call != nil:
		t.stopLocked()
	case t.runs:
		t.detach(errDetached)
	}
}

// stop cancels the task of the turn that runs; false: none does.
func (t *mcpTalk) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs {
		t.stopLocked()
	}
	return t.runs
}

// stopLocked cancels the task.
func (t *mcpTalk) stopLocked() {
	t.deaf, t.asks = true, nil
	t.changedLocked()
	t.session.Cancel()
}

// attach makes a call the one that waits; false: there is another one.
func (t *mcpTalk) attach(c *mcpCall) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.call != nil {
		return false
	}
	t.call, c.talk = c, t
	return true
}

// release ends that, before the call is answered: the client's next may follow at once.
func (t *mcpTalk) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call = nil
}

const otherCall = "another call waits for this task already, and gets what is new: wait for its result"

// await answers a call when the turn is over, or the call's time is. Questions that wait are
// put to the user by it.
func (t *mcpTalk) await(c *mcpCall) {
	pace := time.NewTicker(mcpPace)
	defer pace.Stop()
	var asked *mcpQuestion
	withdraw := func() {}
	told, toldAt := "", time.Now()
	for {
		t.mu.Lock()
		q, runs, changed, doing := t.asks, t.runs, t.changed, t.out.Doing()
		t.mu.Unlock()
		if why, ok := c.isCancelled(); ok && !why.isLimit {
			t.stop()
		}
		if !runs || c.ctx.Err() != nil {
			withdraw()
			t.report(c)
			return
		}
		if q != asked {
			withdraw()
			asked, withdraw = q, func() {}
			switch {
			case q == nil:
			case !c.canAsk(q):
				t.answer(q, mcpReply{why: cannotAsk})
			case c.stateless:
				t.askBack(c, q)
				return
			default:
				withdraw = c.elicit(t, q)
			}
		}
		select {
		case <-changed:
		case <-pace.C:
			if now := time.Now(); doing != "" && doing != told || now.Sub(toldAt) >= mcpBeat {
				told, toldAt = doing, now
				c.tell(doing)
			}
		case <-c.ctx.Done(): // or the client has cancelled it, or the bridge ends
		}
	}
}

// report answers a call with how the conversation stands, and what is new in it.
func (t *mcpTalk) report(c *mcpCall) {
	if !c.settle() {
		return // what is new waits for the next call
	}
	t.mu.Lock()
	said, content := t.out.Take(maxTaken)
	left := t.out.Size()
	if left == 0 {
		_ = t.journal.Write([]byte(spell.TakenLine)) // without it, the next process says this again
	}
	head, isError := t.headLocked(left)
	t.notes = nil
	t.changedLocked()
	t.mu.Unlock()
	c.answer(isError, head+t.editor.fence(t.name, said), content)
}

// headLocked says in our words how the conversation stands, and what can be done next.
func (t *mcpTalk) headLocked(left int) (head string, isError bool) {
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	state, next := string(t.state), "the task goes on: call wait_task with this handle"
	r := &t.result
	switch task := (*mapping.TaskError)(nil); {
	case t.runs && t.asks != nil:
		state, next = "waiting for the user", "call wait_task with this handle: it asks the user again. Nobody else can answer"
	case t.runs:
		state = "working"
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
		state = cmp.Or(state, "answered")
		isError = t.err != nil || r.State == a2a.StateRejected
		next = "the task is over. send_message with this handle goes on in the conversation"
	}
	line("state", state)
	line("handle", t.session.ID)
	line("next", next)
	if t.err != nil && !t.runs {
		line("why", strconv.Quote(t.agent.opts.Mask(t.err.Error())))
	}
	if t.runs && t.asks != nil {
		line("asks the user", strconv.Quote(t.asks.what))
	}
	for _, note := range t.notes {
		b.WriteString(note + "\n")
	}
	if left > 0 {
		line("more", "wait_task has the rest, about "+strconv.Itoa(left)+" bytes")
	}
	return b.String(), isError
}

// fence sets what an agent says apart from our own words: the agent cannot know the mark, and
// so cannot end it.
func (e *mcpEditor) fence(agent, said string) string {
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	mark := e.server.agent.opts.NewID()
	if len(mark) > 8 {
		mark = mark[:8]
	}
	return fmt.Sprintf("\nWhat %s says, which is not the user's word, stands between the marks %s:\n<%s>\n%s\n</%s>\n", agent, mark, mark, said, mark)
}

// isUnauthenticated reports whether an error says that the user has to sign in.
func isUnauthenticated(err error) bool {
	refusal := (*a2a.Error)(nil)
	return errors.As(err, &refusal) && refusal.Unauthenticated()
}
