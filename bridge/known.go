package bridge

import "github.com/a2astdio/a2astdio/transport/a2a"

// This file has what a leg knows, by which the machine decides, and what the fold knows of calls.

// finality is what the newest state said of what follows.
type finality uint8

const (
	unsaid  finality = iota
	more             // 0.3's final:false
	last             // nothing: 0.3's final, or 1.x by the state; or a look has shown that the task is over
	ownWord          // nothing, of a task that waits or is over, by its own stream or what is believed in its place
)

// subscription is how the subscription stands that a leg follows its task by.
type subscription uint8

const (
	subNone   subscription = iota
	subAsked               // it is asked for
	subOpen                // it has said nothing yet
	subSpeaks              // it has
	subNever               // the agent has none, or would refuse it again (comesAgain)
)

// work is what the calls of a task do.
type work uint8

const (
	callsRest work = iota
	callsWork      // one is at work, and nothing waits for the user
	callsWait      // for the user's answer, which was not given; or the agent has asked in words
)

// progress is how far a leg's message has got, and the answer to it.
type progress uint8

const (
	notCome       progress = iota // as far as is known
	hasCome                       // the message has, or there is none
	saidSomething                 // so has its own stream
	saidState                     // which has said another state than that in which the task stood
)

// replies are the messages that came, in a task or outside.
type replies uint8

const (
	noReply    replies = iota
	emptyReply         // one, with nothing in it: some agents begin so
	oneReply
	manyReplies
)

// with is what they are with another message.
func (r replies) with(m *a2a.Message) replies {
	switch {
	case r != noReply:
		return manyReplies
	case hasWords(m):
		return oneReply
	}
	return emptyReply
}

// callFacts are what the fold knows of calls, as far as a leg decides by it. They are as the turn has shown something last.
type callFacts struct {
	asked int  // how many questions were asked so far
	moved bool // of each call that was answered something was said since
	calls work
}

// known is all that a decision depends on, but for the phase and the input.
type known struct {
	callFacts
	taskID       string    // "": it has none yet
	state        a2a.State // by the leg's own stream, what is believed in its place, or a look that counts; "": none yet
	finality     finality
	subscription subscription
	progress     progress
	replies      replies
	pushes       *pushFeed // of what the agent says, nil if it is not asked to push
	owes         bool      // an older stream has said something that no look has shown
	parted       bool      // what a stream has said last is a message outside of the task
	verdict      verdict

	settled int // what asked was when calls had asked for approvalSettle, or the user was asked
	grown   int // looks in a row that held more, while the open stream said nothing
	tries   int // looks in a row that failed, or could not be while there was no subscription
	unknown int // looks in a row, while the stream said nothing, at which the agent did not know the task
	missing int // looks in a row, or silences where none can be, by which the message had not come
	stood   int // how long the task waits, by looks, though a call is at work or has not moved
	auths   int // looks that brought nothing but auth-required
}

// terminal reports whether the task is over by its newest state or, before any state, a message
// has come. More may follow all the same: see saidAll.
func (k *known) terminal() bool { return k.state.Terminal() || k.isMessage() }

// byOwnWord reports whether the task waits or is over by the agent's own last word: its
// stream's, or what is believed in its place, and no look's.
func (k *known) byOwnWord() bool { return k.finality == ownWord }

// arrived reports whether the leg's message has come.
func (k *known) arrived() bool { return k.progress >= hasCome }

// isMessage reports whether the agent has answered with messages, and named no state of a task.
func (k *known) isMessage() bool { return k.replies != noReply && k.state == "" }

// followed reports whether a subscription is open, or asked for.
func (k *known) followed() bool { return k.subscription != subNone && k.subscription != subNever }

// pending reports whether something waits for the user's answer, which was not given.
func (k *known) pending() bool { return k.calls == callsWait }

func (k *known) waitsForInput() bool { return k.state == a2a.StateInputRequired }

// concluded reports whether a task that works is taken for done, since its last word was a
// message (byMessage).
func (k *known) concluded() bool {
	return k.verdict == byMessage && k.arrived() && !k.followed() && k.calls == callsRest
}

// asks reports whether the user is to be asked now. A task that still works may not take an answer
// yet: agents say that a call asks before they wait for it (the demo refuses it until then).
func (k *known) asks() bool { return k.pending() && (k.settled == k.asked || k.waitsForInput()) }

// rests reports whether the task waits for the user's next prompt. Not while a call is at work.
// Not while nothing was said of a call since its answer, even if the stream says that the task
// waits; until a few looks in a row have found it so.
func (k *known) rests() bool {
	return k.waitsForInput() && !k.pending() && (k.moved && k.calls == callsRest || k.stood >= maxStanding)
}

// saidAll reports whether the task is over, and surely nothing follows what the stream has said
// last: 0.3 may say that more does, and of several messages it is not known.
func (k *known) saidAll() bool {
	return k.terminal() && k.finality != more && !(k.isMessage() && k.replies == manyReplies)
}

// callFacts are what the fold knows of calls now.
func (t *turn) callFacts(l *leg) callFacts {
	return callFacts{
		asked: t.fold.Calls.Asked(),
		moved: !l.request.answers || !t.fold.Calls.Unmoved(l.request.calls...),
		calls: t.callsDo(),
	}
}

// callsDo is what the calls do that the fold knows of.
func (t *turn) callsDo() work {
	switch {
	case t.fold.Calls.Waits() || t.fold.WaitsForWords():
		return callsWait
	case t.fold.Calls.Running():
		return callsWork
	}
	return callsRest
}
