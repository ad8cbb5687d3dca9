package bridge

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An arrival is what a leg hands to its turn: events, or what became of the
// connection. Events are valid until the turn has taken the next arrival.
type arrival struct {
	events     []a2a.Event
	connection *mapping.Connection
	join       join
	// aligns is the task that was asked for when the events had come, nil if it was not.
	aligns *a2a.Event
	// ahead: what that task holds behind the events comes on the stream, too.
	ahead bool
	// again: the agent says again what it had said before the cut, and not all of that
	// was heard.
	again bool
	// unheard: the task is beyond what its stream has said.
	unheard bool
	// unlooked: the task was asked for, did not come, and may hold more.
	unlooked bool
	// pushed: the event was pushed, perhaps late.
	pushed bool
	// lost: a stream was lost that had gone on from what was shown, and that is not told as
	// another lost connection.
	lost bool
}

// isTask reports whether it is a task alone, or one that was asked for, and no event has
// said that the leg is over.
func (n *arrival) isTask() bool {
	if n.aligns != nil {
		return !endsLeg(n.events)
	}
	return len(n.events) == 1 && n.events[0].Kind == a2a.EventTask
}

// A join says how the events of an arrival go on from what was shown.
type join int

const (
	joinNext     join = iota // they come next
	joinEcho                 // they are older than the snapshot before them
	joinBehind               // right behind a snapshot, and the agent cannot be asked whether it has them
	joinCut                  // they are the first that are known of the task after a cut, or what it has become since
	joinBlind                // the same, and the agent cannot be asked what was said meanwhile
	joinFirst                // the same: one event, the task that a subscription begins with
	joinRepeated             // there are none: the agent has said again all that it had said before the cut
)

// resumed reports whether the connection was cut before the events, and is no more.
func (j join) resumed() bool { return j >= joinCut }

// A leg is what follows from one request to the agent, over as many streams as that
// takes: a connection that was cut is made anew.
//
// Its goroutine, started by [Agent.follow], reads; it has no queue, so that a
// slow reader of arrivals slows the agent. It ends when the leg does, when the Agent
// is closed, or, after leave, when the stream has been handed to the client.
type leg struct {
	agent    *Agent
	request  *request
	arrivals chan arrival
	taken    chan struct{}
	// ended is closed when no more arrivals come; err, read after that, is nil if
	// the agent has said that the leg is over.
	ended chan struct{}
	err   error
	// dropped is closed by leave. cancel, set before, asks for the task to be
	// cancelled once it has an ID.
	dropped chan struct{}
	cancel  bool

	// stream is the one that is being read, for hangUp.
	stream atomic.Pointer[transport.Stream]
	hungUp atomic.Bool

	taskID string
	state  a2a.State
	over   bool // an event has ended the leg
	bare   bool // the end of the stream has ended it, while the task waited
	// unseen is the first event that has come after the turn had left, as JSON.
	unseen atomic.Pointer[string]
	failed error // the agent did not start what it was asked for
	// lossTold: the turn knows that the connection was lost, and since then the task was
	// only looked at.
	lossTold bool
	// news: since then a stream has brought more than the task.
	news bool
	// polled: the agent has answered without a stream. None was lost, and its task
	// is looked at.
	polled bool
	// running: a call of Gemini's server is at work, whose state does not tell. The
	// turn says so before it has taken the arrival that do.
	running atomic.Bool
	// asking: calls wait for the user's answer. The turn says so as it does running.
	asking atomic.Bool
	// joining and uncertain are for unsettled, from any goroutine. adrift: no stream tells
	// what the agent says.
	joining, uncertain, adrift atomic.Bool
	// refused: the agent's answer to the message is an error, so that it has not taken it.
	refused bool
	delivery
	standing
	// repetition is what the task had said before the connection was lost. The turn sets
	// it before it has taken the arrival of that.
	repetition *mapping.Repetition
	// older: the task that a subscription has begun with holds less than was shown, or what
	// was pushed was known. The turn sets it before it has taken that, and has shown nothing
	// of it then.
	older bool
	// pushedAt is when the task was last asked for because the agent pushed; blind: what
	// was pushed was shown itself.
	pushedAt time.Time
	blind    bool
	// resumed: the task was subscribed to, behind a cut.
	resumed bool
	// looked: more was shown than repetition knows.
	looked bool
	// lookedOver: the last look at the task has told that it is over.
	lookedOver bool
	// refusedAt is since when the agent refuses connections, zero if it does not.
	refusedAt time.Time
	// malformed is what broke the stream, if that was an event that cannot be read.
	malformed error
	// spoke counts the messages that the agent has answered with, outside of a task.
	// The protocol allows one; some agents send more. worded: one of them is not empty;
	// some agents begin with an empty one.
	spoke  int
	worded bool
	// newest is the ID of the message that a subscription, or a look at the task, has brought
	// last.
	newest string
	// beyond: the task is known to be beyond its beginning.
	beyond bool
	// alone counts the subscriptions that have ended behind a task that was known.
	alone int
	// authRepeats is how many subscriptions in a row have said nothing but that the
	// user has to authenticate.
	authRepeats int
}

// follow makes a request and follows what comes of it.
func (a *Agent) follow(r *request) *leg {
	l := &leg{agent: a, request: r, taskID: r.taskID, beyond: r.beyond || r.message != nil && r.taskID != "", arrivals: make(chan arrival), taken: make(chan struct{}),
		ended: make(chan struct{}), dropped: make(chan struct{})}
	if r.message != nil {
		l.message = r.message.ID
	}
	r.pushes.listen(false)
	a.legs.Go(func() { // ends as the type says
		l.err = l.explain(l.run(a.ctx))
		close(l.ended)
	})
	return l
}

// leave ends the turn's interest in the leg. The rest of the stream is drained, because
// closing a connection makes some agents cancel work; cancel asks for the task to be
// cancelled, as soon as it has an ID. It is called once, by the turn, and does nothing
// to a leg that has ended.
func (l *leg) leave(cancel bool) {
	l.cancel = cancel
	close(l.dropped)
}

// brings returns the arrivals of a leg; where there is no leg, nothing ever comes.
func (l *leg) brings() <-chan arrival {
	if l == nil {
		return nil
	}
	return l.arrivals
}

// ends returns what is closed when a leg has ended; where there is no leg, nothing ever is.
func (l *leg) ends() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.ended
}

// isOver reports whether there is a leg, and the agent has said that it is over.
func (l *leg) isOver() bool { return l != nil && l.hasEnded() && l.err == nil }

// hasEnded reports whether no more arrivals come, so that err may be read.
func (l *leg) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// unsettled reports whether more calls may wait for the user than are known: events are
// still compared with what was shown, or an answer may not have come.
func (l *leg) unsettled() bool { return l.joining.Load() || l.uncertain.Load() }

// mayFollow reports whether more may follow an event that ends a leg by the protocol.
func (l *leg) mayFollow(ev *a2a.Event) bool {
	return ev.Kind == a2a.EventMessage || l.request.goesOnAsking && ev.State == a2a.StateInputRequired
}

func (l *leg) note(ev *a2a.Event) {
	if ev.TaskID != "" && ev.TaskID != l.taskID {
		l.taskID = strings.Clone(ev.TaskID)
	}
	if l.beginsAsBefore(ev) {
		return
	}
	l.beyond = l.beyond || ev.State != "" && ev.State != a2a.StateSubmitted
	if ev.State != "" && ev.State != l.state {
		l.authRepeats = 0
		l.state = a2a.State(strings.Clone(string(ev.State)))
	}
	if l.unheard && ev.State != "" {
		l.doubt(!l.hears(ev))
	}
	if ev.Kind == a2a.EventMessage {
		l.spoke++
		l.worded = hasWords(&ev.Message) || l.worded
	}
	l.noteStanding(ev)
	if l.resumed && (ev.State == a2a.StateWorking || ev.State == a2a.StateSubmitted) { // what has come before was an older end
		l.over = false
	}
	l.over = l.over || ev.EndsLeg && !l.unheard && !l.stands && !l.mayFollow(ev)
	if ev.Kind == a2a.EventUnknown {
		l.noteExecution(ev)
	}
}

// noteExecution reads the first event of a slash command's stream.
func (l *leg) noteExecution(ev *a2a.Event) {
	if e, ok := mapping.ReadExecution(ev.Raw); ok {
		if e.ID != "" {
			l.taskID = e.ID
		}
		l.failed = e.Err()
	}
}

// deliver hands events to the turn and waits until it has shown them.
func (l *leg) deliver(ctx context.Context, events []a2a.Event) error {
	for i := range events {
		l.note(&events[i])
	}
	if l.failed != nil {
		return l.failed
	}
	return l.give(ctx, arrival{events: events})
}

// drop notes events that come after leave.
func (l *leg) drop(events []a2a.Event) {
	if len(events) > 0 {
		raw := strings.Clone(string(events[0].Raw))
		l.unseen.CompareAndSwap(nil, &raw)
	}
}

// compare takes what a lost connection had brought, to know it again. nil: that is not known,
// so that an older one has to do.
func (l *leg) compare(r *mapping.Repetition) {
	if l.looked = r == nil; r != nil {
		l.repetition = r
	}
}

// missed reports whether the agent has, or may have, said something between the end of
// this leg and the first event of the next. Many agents send each event on all open
// streams of a task.
func (l *leg) missed(first *a2a.Event) bool {
	if unseen := l.unseen.Load(); unseen != nil && !l.bare {
		return *unseen != string(first.Raw)
	}
	stream := l.stream.Load()
	return l.bare || l.adrift.Load() || stream != nil && stream.Unread()
}

func (l *leg) tell(ctx context.Context, c mapping.Connection) {
	_ = l.give(ctx, arrival{connection: &c}) // that the turn has left shows at the next arrival
}

func (l *leg) give(ctx context.Context, n arrival) error {
	select {
	case l.arrivals <- n:
	case <-l.dropped:
		l.drop(n.events)
		return errDropped
	case <-ctx.Done():
		return ctx.Err()
	}
	l.news = l.news || len(n.events) > 0 && n.aligns == nil && n.join != joinFirst && !n.pushed
	select {
	case <-l.taken:
		if l.unheard && (l.moved && l.request.answers || l.told && l.begun) {
			l.doubt(false)
		}
		if n.isTask() && l.mayGoOn() {
			l.over, l.stands = false, true
		}
		return nil
	case <-l.dropped:
		return errDropped
	case <-ctx.Done():
		return ctx.Err()
	}
}
