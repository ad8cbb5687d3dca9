package bridge

import (
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A phase is what a leg is doing; a row of the machine is for a set of them.
type phase uint8

const (
	streaming phase = 1 << iota // the stream of its request is read, or awaited
	away                        // there is none: a subscription is open, a look at the task is under way, or a timer runs
	over
)

// An input is what has come to a leg; a row of the machine is for a set of them. 0 is none.
type input uint16

const (
	inEvent     input = 1 << iota // its own stream has said something
	inHint                        // an older stream, a subscription or a push has: look now
	inEnded                       // its own stream has ended between two events
	inCut                         // it was cut
	inSnapshot                    // a look at the task, or the first task of a subscription
	inStale                       // one that shows it older than what is known
	inFailed                      // a look that failed, and may succeed later
	inCannot                      // the agent has no tasks/get
	inGone                        // the agent does not know the task
	inSubClosed                   // the subscription has ended, or was refused
	inSilent                      // nothing has come for as long as that may be
	inTick                        // the timer of doLater
	inSettled                     // calls have asked for approvalSettle

	ofStreams = inEvent | inHint | inEnded | inCut // behind which the leg is as patient as before
)

// An action is what a leg does about it.
type action uint8

const (
	doRead   action = iota // go on
	doLook                 // tasks/get
	doFollow               // subscribe, or look where that is not possible
	doLater                // start the timer
	doAsk                  // have the turn ask the user, by turn.view
	doSoon                 // read on for a while, then end
	doAway                 // take its own stream for dead, and go on without

	// Those that end the leg: they are the last.
	doEnd    // well: the agent is done
	doGiveUp // by an error that says what may still run, mostly: see givenUp
	doUnsent // by an error: the message may not have come
)

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
	subNever               // the agent has none
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

// verdict is what tells that a task is over, where its state does not.
type verdict uint8

const (
	noVerdict       verdict = iota
	byLook                  // a look, on an open stream, doSoon ago
	bySubscriptions         // subscriptions, for overPatience, and by no look
	byMessage               // its own stream has ended behind a message, and for lonePatience no look has brought more
)

// heard is what the fold knows that a leg decides by. It is as the turn has shown something last.
type heard struct {
	asked int  // how many questions were asked so far
	moved bool // of each call that was answered something was said since
	calls work
}

// known is all that a decision depends on, but for the phase and the input.
type known struct {
	heard
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

const (
	// maxTries is how many looks in a row may fail before a task is given up, maxOwn before
	// what its stream has said last is believed.
	maxTries = 5
	maxOwn   = 3
	// maxMissing is how many looks must show that the message has not come before that is
	// believed: at first it may be on its way. maxAwaited is the same while the stream is open, also
	// of a task that is unknown: the agent may take its time, without telling that it has it.
	maxMissing = 3
	maxAwaited = 6
	// maxStanding is how much a task may stand as it did before the user's answers, or wait while a
	// call is at work, until it is believed that it waits for more. standing is what one look
	// counts. It counts 1, and the wait takes a minute and a half, where the agent's stream has not
	// said that this was all: Gemini's task waits while its tools run, and does not keep their ends.
	// So it does where a subscription is open, and no look has shown words: where nothing runs, the
	// SDKs end it or refuse it, and that counts (countEnd). Of seven recordings whose agent took
	// 5 s to begin, the stream being cut, each lost the rest.
	maxStanding = 9
	standing    = 3
	// maxAuths is how many looks in a row may bring auth-required and nothing else.
	maxAuths = 5
)

// A row of the machine says what is done about an input in some phases.
type row struct {
	name string
	in   phase               // or phases
	on   input               // or inputs
	when func(k *known) bool // nil: always
	do   action
}

// decide is the machine: it returns the next phase, and what is done, by the first row that fits;
// where none does, the leg goes on (doRead). Each row was measured by what goes wrong without it,
// in worlds of agents and networks that were enumerated; those that were not needed are gone.
func decide(p phase, k *known, in input) (phase, action) {
	do := doRead
	if r := rowFor(p, k, in); r != nil {
		do = r.do
	}
	switch {
	case do >= doEnd:
		return over, do
	case in == inEnded || in == inCut || do == doAway:
		return away, do
	}
	return p, do
}

// rowFor returns the first row that fits, nil if none does.
func rowFor(p phase, k *known, in input) *row {
	for i := range machine {
		if r := &machine[i]; r.on&in != 0 && r.in&p != 0 && (r.when == nil || r.when(k)) {
			return r
		}
	}
	return nil
}

var machine = []row{
	// trpc-agent-go answers what fails with a message behind the task's first state, and forgets the task.
	{"task unknown, and a message was the last word", away, inGone, func(k *known) bool { return k.parted && !k.pending() }, doEnd},
	// An agent that keeps no tasks asks in prose. (33 of 4,316 conversations that were cut, at agents by shape.)
	{"task unknown, rests by its own word", away, inGone, func(k *known) bool { return k.byOwnWord() && k.rests() }, doEnd},
	{"task unknown, rests by its stream", streaming, inGone, (*known).rests, doEnd},
	// An agent that keeps no tasks, or not before their end, says so of one whose stream lives.
	{"task unknown, and its stream is silent", streaming, inGone, func(k *known) bool { return k.unknown >= maxAwaited }, doGiveUp},

	// Its own stream. That it ends, or says that the task waits, is no end by itself.
	{"over, more may come", streaming, inEvent, (*known).terminal, doSoon},
	{"ended, or silent, an older stream has said more", streaming, inEnded | inSilent, func(k *known) bool { return k.state.Terminal() && k.owes }, doLook},
	{"ended, or silent, over", streaming, inEnded | inSilent, func(k *known) bool { return k.terminal() || k.verdict == byLook }, doEnd},
	{"cut, over", streaming, inCut, (*known).saidAll, doEnd},
	{"ended, or cut, no ID", streaming, inEnded | inCut, func(k *known) bool { return k.taskID == "" }, doGiveUp},
	{"asks by its own word", streaming, inEvent | inEnded, func(k *known) bool { return k.pending() && k.byOwnWord() }, doAsk},
	{"rests by its own word: looked at", streaming, inEvent, func(k *known) bool { return k.rests() && k.byOwnWord() }, doLook},
	{"rests, and does not say that it is all", streaming, inEvent, (*known).rests, doSoon},
	{"asks for 250 ms", streaming, inSettled, (*known).pending, doAsk},
	{"cut", streaming, inCut, nil, doLater},
	{"ended, or silent: looked at", streaming, inEnded | inSilent, func(k *known) bool { return k.taskID != "" }, doLook},

	// A look, while its own stream is open.
	{"not come", streaming, inSnapshot | inStale, func(k *known) bool { return !k.arrived() && k.missing >= maxAwaited }, doUnsent},
	{"not come yet", streaming, inSnapshot, func(k *known) bool { return !k.arrived() }, doRead},
	{"asks", streaming, inSnapshot, (*known).asks, doAsk},
	{"over by its own word, and by a look", streaming, inSnapshot, func(k *known) bool { return k.byOwnWord() && (k.terminal() || k.rests()) }, doEnd},
	{"over by a look: read on for a while", streaming, inSnapshot, func(k *known) bool { return k.terminal() || k.rests() }, doSoon},
	{"looks bring what the stream does not say: it is dead", streaming, inSnapshot, func(k *known) bool { return k.grown >= 2 }, doAway},
	{"cannot look, or failed, over", streaming, inCannot | inFailed | inGone, func(k *known) bool { return k.terminal() && k.owes }, doEnd},
	{"cannot look, rests", streaming, inCannot, (*known).rests, doEnd},
	{"look failed, rests", streaming, inFailed, func(k *known) bool { return k.rests() && k.tries >= maxOwn }, doEnd},

	// Behind a cut, or an end that told nothing.
	{"tick", away, inTick, nil, doFollow},
	{"hint, a call asks, a subscription has ended, or is silent", away, inHint | inSettled | inSubClosed | inSilent, nil, doLook},
	{"not come, no stream", away, inSnapshot | inStale | inCannot, func(k *known) bool { return !k.arrived() && k.missing >= maxMissing }, doUnsent},
	{"over by its subscriptions, and by no look", away, inSnapshot | inStale, func(k *known) bool { return k.verdict == bySubscriptions && k.arrived() && !k.pending() }, doEnd},
	{"not come yet, no stream", away, inSnapshot, func(k *known) bool { return !k.arrived() }, doLater},
	{"over, or rests", away, inSnapshot, func(k *known) bool { return k.terminal() || k.rests() }, doEnd},
	{"asks, no stream", away, inSnapshot, (*known).asks, doAsk},
	{"has not gone on yet", away, inSnapshot, (*known).waitsForInput, doLater},
	{"auth-required again and again", away, inSnapshot, func(k *known) bool { return k.auths >= maxAuths && !k.followed() }, doGiveUp},
	{"works, and has answered with a message", away, inSnapshot, (*known).concluded, doEnd},
	{"works, or stale, followed", away, inSnapshot | inStale, (*known).followed, doRead},
	{"works, or stale, no stream", away, inSnapshot | inStale, nil, doLater},
	{"failed, asks by its own word", away, inFailed, func(k *known) bool { return k.pending() && k.tries >= maxTries }, doAsk},
	{"failed, over by its own word", away, inFailed, func(k *known) bool {
		return (k.byOwnWord() || k.owes) && (k.terminal() || k.rests() && k.tries >= maxOwn)
	}, doEnd},
	{"failed, over", away, inFailed, func(k *known) bool { return (k.terminal() || k.rests()) && k.tries >= maxTries }, doEnd},
	{"failed, given up", away, inFailed, func(k *known) bool { return k.tries >= maxTries }, doGiveUp},
	{"failed", away, inFailed, nil, doLater},
	{"cannot look, not come yet", away, inCannot, func(k *known) bool { return !k.arrived() && k.subscription == subNone && k.tries < maxTries }, doLater},
	{"cannot look, asks", away, inCannot, func(k *known) bool { return k.arrived() && k.pending() }, doAsk},
	{"cannot look, over by its own word", away, inCannot, func(k *known) bool { return k.arrived() && (k.terminal() || k.rests()) }, doEnd},
	{"cannot look, followed", away, inCannot, (*known).followed, doRead},
	{"cannot look, later", away, inCannot, func(k *known) bool { return k.pushes != nil || k.subscription != subNever && k.tries < maxTries }, doLater},
	{"task unknown, or nothing left", away, inGone | inCannot, nil, doGiveUp},
}
