package bridge

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
	inOldEnded                    // an older stream has ended between two events: the task may be over, so this look is not held back
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

	ofStreams = inEvent | inHint | inOldEnded | inEnded | inCut // behind which the leg is as patient as before
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
	// call is at work, until it is believed that it waits for more. perLook is what one look
	// counts. It counts 1, and the wait takes a minute and a half, where the agent's stream has not
	// said that this was all: Gemini's task waits while its tools run, and does not keep their ends.
	// So it does where a subscription is open, and no look has shown words: where nothing runs, the
	// SDKs end it or refuse it, and that counts (countEnd). Of seven recordings whose agent took
	// 5 s to begin, the stream being cut, each lost the rest.
	maxStanding = 9
	perLook     = 3
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
	{"ended, or silent, an older stream has said more", streaming, inEnded | inSilent, func(k *known) bool { return k.state.Terminal() && k.owes }, doLook},
	{"ended, or silent, over", streaming, inEnded | inSilent, func(k *known) bool { return k.terminal() || k.verdict == byLook }, doEnd},
	{"cut, over", streaming, inCut, (*known).saidAll, doEnd},
	{"ended, or cut, no ID", streaming, inEnded | inCut, func(k *known) bool { return k.taskID == "" }, doGiveUp},
	{"asks by its own word", streaming, inEvent | inEnded, func(k *known) bool { return k.pending() && k.byOwnWord() }, doAsk},
	{"rests by its own word: looked at", streaming, inEvent, func(k *known) bool { return k.rests() && k.byOwnWord() }, doLook},
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
	{"hint, a call asks, a subscription has ended, or is silent", away, inHint | inOldEnded | inSettled | inSubClosed | inSilent, nil, doLook},
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

// step has the machine decide about an input, and does what it says, which it returns; of a leg
// that was over, doEnd. That an agent has no subscriptions is noted before (subNever).
func (l *leg) step(in input) action {
	if l.phase == over {
		return doEnd
	}
	if l.subscription == subNone && l.agent.opts.Client.Unsupported().Subscribe {
		l.subscription = subNever
	}
	var do action
	l.phase, do = decide(l.phase, &l.known, in)
	l.act(in, do)
	return do
}

// act does what the machine says about an input. (Before doSoon the wait is set, but behind a
// look. doAsk asks nobody: by turn.view, turn.stream pauses, and the turn asks.)
func (l *leg) act(in input, do action) {
	switch do {
	case doRead:
		if in&ofStreams == 0 {
			l.beMorePatient()
		}
	case doLook:
		if in == inSilent {
			l.beMorePatient()
		}
		l.look(in)
	case doFollow:
		l.subscribe()
	case doLater:
		l.later()
	case doAsk:
		l.clock.stop(atSettle)
		l.settled = l.asked
		l.turn.view = fullView
		l.wait(l.patience)
	case doSoon:
		l.wait(moreSilence)
		l.verdict = byLook
	case doAway:
		l.live = nil
		if l.giveGlance(true) {
			l.later()
		}
	case doEnd:
		if !l.giveGlance(l.verdict == byLook) {
			return
		}
		l.end(nil)
	case doGiveUp:
		l.end(l.givenUp(in))
	case doUnsent:
		l.end(&undeliveredError{l.taskID})
	}
}
