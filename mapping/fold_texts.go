package mapping

import (
	"hash/maphash"
	"slices"
	"strings"
)

const (
	// tailLen is how much of the text that grows may wait to be hashed: hashing each
	// piece costs several times as much as copying it.
	tailLen = 8 << 10
	// headLen is how many bytes of each text are kept: a new text that is too short to
	// be compared by its hash is compared with them.
	headLen = 64
	// maxTasks is how many tasks of a conversation are remembered: events of an
	// older one are shown as if they were new.
	maxTasks = 64
)

// texts is the part of a [Fold] that knows what was shown of messages and
// artifacts, without keeping the text but for the turn's own. IDs are known within
// their task (A2A 1.0, §4.1).
type texts struct {
	seed  maphash.Seed
	names names
	// thoughts have names of their own: ACP's thoughts are no messages.
	thoughts names
	tasks    map[string]*taskTexts
	order    []string   // of tasks, for maxTasks
	task     *taskTexts // the one in hand
	kept     []*shown   // what is kept of texts, in the order of their use
	past     past[pastText]
	parts    past[struct{}] // that are not text, and thoughts

	// turn counts prompts. epoch grows with all that separates text for a reader: a
	// tool call, a thought, another turn, another task.
	turn, epoch int
	event       int // how many there were
	snapshots   int // how many there were: see shown.held
	before      int // epoch before the last snapshot
	// sameIDs: the snapshot in hand names messages as the stream does. lastHeld is the
	// message that ends the task in it.
	sameIDs     bool
	lastHeld    string
	adopted     []adopted // in this turn
	coveredFrom int       // where in said the last snapshot says again what was said; -1: nowhere
	heldFrom    int       // where in said the text begins that the last history has brought
	followed    bool      // others follow the message of a history in hand
	ahead       []ahead   // in this turn
	late        bool      // what a snapshot has in hand is older than what was shown

	said    said
	settled int    // up to where said was hashed
	growing *shown // the text that grows: the end of said is its
	// chunks: messages with IDs of their own are chunks of one text. pieces: several
	// events have said one message.
	chunks, pieces bool
}

// taskTexts is what was shown of one task.
type taskTexts struct {
	id    string
	texts map[textID]*shown
	asked string // the ID of the newest message of the user's that a snapshot has held
}

// textID names a message or an artifact within its task.
type textID struct {
	id       string
	artifact bool
}

// shown is what the editor has of one message or artifact.
type shown struct {
	textID
	task string
	key  uint64 // see keyOf
	// used: it was, since it was considered to keep no more than its hash.
	used  bool
	head  string   // the first bytes of the text
	n     int      // bytes of text
	sums  []extent // the hashes of what they were, in runs
	run   *run     // that its newest text is in
	parts bool     // it had parts that are not text
	// newest is the length of what event has added last, chunk its hash once it does
	// not grow.
	newest, event int
	chunk         uint64
	// turn is the newest that it was shown in, pos where in said that began.
	turn, pos int
	// stored is what a journal knows of its beginning, which was shown elsewhere: all that
	// is above tells of the text behind that.
	stored  stored
	thought string // the name that its thoughts are shown under
	// held is the number of the last snapshot that had all that was shown. lacking: the
	// agent held only the newest of it, so that some may be missing.
	held    int
	lacking bool
	// headless: what was shown of it first followed something that was not heard.
	headless bool
	// joint is how many of sums, and joined how many bytes, were shown before this turn: what
	// was may have been replaced unheard.
	joint, joined int
	// short is what the last snapshot had of it, if that was less than was shown.
	short extent
	was   replaced
}

type extent struct {
	n   int
	sum uint64
}

// A run is text that the editor shows as one message.
type run struct {
	name        string
	turn, epoch int
	n           int    // bytes of text in it
	of          *shown // whose its newest text is
	// stream: it is certain that the messages in it are chunks of one text.
	stream bool
}

func newTexts() texts { return texts{seed: maphash.MakeSeed(), tasks: map[string]*taskTexts{}} }

// enter goes on with a task.
func (t *texts) enter(task string) {
	if t.task != nil && t.task.id == task {
		return
	}
	t.seal()
	t.epoch++
	known := t.tasks[task]
	if known == nil {
		known = &taskTexts{id: strings.Clone(task), texts: map[textID]*shown{}}
		t.tasks[known.id] = known
		if t.order = append(t.order, known.id); len(t.order) > maxTasks {
			delete(t.tasks, t.order[0])
			t.order = t.order[1:]
		}
	}
	t.task = known
}

// begin begins a turn. What is said outside of a task belongs to its request
// alone.
func (t *texts) begin(goesOn bool) {
	t.end(goesOn)
	t.turn++
	t.epoch++
	if none := t.tasks[""]; none != nil {
		none.texts = map[textID]*shown{}
	}
}

// end ends a turn: its text is not needed any more, unless the next one goes on with it.
func (t *texts) end(goesOn bool) {
	t.seal()
	if t.adopted, t.ahead = nil, nil; !goesOn {
		t.said.clear()
		t.settled = 0
	}
}

// of finds what was shown of a message or an artifact.
func (t *texts) of(id string, artifact bool) *shown {
	if t.growing != nil && t.growing.id == id && t.growing.artifact == artifact && t.growing.task == t.task.id {
		return t.growing
	}
	key := textID{id, artifact}
	sh := t.task.texts[key]
	if sh == nil {
		key.id = strings.Clone(id)
		sh = &shown{textID: key, task: t.task.id, key: t.keyOf(key)}
		t.task.texts[key] = sh
		t.keep(sh)
		return sh
	}
	sh.used = true
	return sh
}

// isShown reports whether text of a message was shown in this turn.
func (t *texts) isShown(id string) bool {
	sh := t.task.texts[textID{id, false}]
	return sh != nil && sh.n > 0 && sh.turn == t.turn && sh.run != nil
}

// join finds the run that text of sh is shown in: the one that it is in, if
// nothing came between, or that of the message before it, if it goes on with that;
// or else a new one.
func (t *texts) join(sh *shown, text string, may joining) {
	if r := sh.run; r != nil && r.turn == t.turn && r.epoch == t.epoch {
		return
	}
	if last := t.growing; may != never && last != nil && !sh.artifact && !last.artifact && last.task == sh.task && last.run.turn == t.turn && last.run.epoch == t.epoch {
		join, sure := t.chunks, t.chunks
		if !join {
			join, sure = joins(t.said.text, last.head, text, last.run.stream, may)
		}
		if join {
			last.run.stream = last.run.stream || sure
			sh.run = last.run
			return
		}
	}
	sh.run = &run{name: t.names.take(sh.id), turn: t.turn, epoch: t.epoch}
}

// saw notes that text was shown, in the run that sh has.
func (t *texts) saw(sh *shown, text string) {
	if t.growing != sh {
		t.seal()
		t.growing = sh
		t.said.late = t.said.late || t.late
		t.said.begin(sh.artifact || t.late) // agents that say the whole of an answer do not say it with that
		sh.pos = len(t.said.text)
	}
	if sh.n < headLen {
		sh.head += strings.Clone(text[:min(len(text), headLen-sh.n)])
	}
	sh.used = true
	sh.n += len(text)
	sh.run.n, sh.run.of = sh.run.n+len(text), sh
	if sh.event != t.event {
		t.pieces = t.pieces || sh.n > 0 && !sh.artifact && sh.turn == t.turn
		sh.event, sh.newest = t.event, 0
	}
	sh.newest += len(text)
	sh.turn = t.turn
	if len(t.said.text)+len(text) > maxSaid {
		t.settle()
	}
	if len(text) > maxSaid/2 {
		sum := maphash.String(t.seed, text)
		sh.sums, sh.chunk = append(sh.sums, extent{len(text), sum}), sum
		t.said.restart(text[len(text)-maxSaid/2:])
		t.settled, t.ahead = len(t.said.text), nil
		return
	}
	if dropped := t.said.add(text); dropped > 0 {
		t.settled, t.ahead = t.settled-dropped, nil
	}
	if len(t.said.text)-t.settled > tailLen {
		t.settle()
	}
}

// settle hashes the end of the text that grows.
func (t *texts) settle() {
	if tail := t.said.text[t.settled:]; t.growing != nil && len(tail) > 0 {
		t.growing.sums = append(t.growing.sums, extent{len(tail), maphash.Bytes(t.seed, tail)})
	}
	t.settled = len(t.said.text)
}

// seal ends the text that grows: more of it would be another text.
func (t *texts) seal() {
	if sh := t.growing; sh != nil {
		t.settle()
		if sh.newest <= len(t.said.text) {
			sh.chunk = maphash.Bytes(t.seed, t.said.text[len(t.said.text)-sh.newest:])
		}
	}
	t.growing, t.settled = nil, len(t.said.text)
}

// isNewest reports whether text is what an event has added last to sh.
func (t *texts) isNewest(sh *shown, text string) bool {
	if t.growing == sh && sh.newest <= len(t.said.text) {
		return string(t.said.text[len(t.said.text)-sh.newest:]) == text
	}
	return maphash.String(t.seed, text) == sh.chunk
}

// isAll reports whether text is all that was shown of sh, at once.
func (t *texts) isAll(sh *shown, text string) bool {
	if sh.n == 0 {
		rest, ok := sh.known(text)
		return ok && rest == ""
	}
	if sh.stored.n+sh.n != len(text) {
		return false
	}
	rest, replaced, short := t.rest(sh, text)
	return rest == "" && !replaced && !short
}

// rest returns what part of a whole text has not been shown of it. replaced: what
// was shown is not the beginning of it. short: it is less than what was shown, and
// may be the beginning of that.
func (t *texts) rest(sh *shown, whole string) (rest string, replaced, short bool) {
	if n := sh.stored.n; n > 0 {
		if len(whole) < n || markSum(whole[:n]) != sh.stored.sum {
			return whole, true, false
		}
		whole = whole[n:]
	}
	if n := min(len(whole), len(sh.head)); whole[:n] != sh.head[:n] {
		return whole, true, false
	}
	if len(whole) < sh.n {
		if may, _ := t.mayBegin(sh, whole); !may {
			return whole, true, false
		}
		return "", false, true
	}
	if t.growing == sh {
		t.settle()
	}
	at := 0
	for _, e := range sh.sums {
		if maphash.String(t.seed, whole[at:at+e.n]) != e.sum {
			return whole, true, false
		}
		at += e.n
	}
	return whole[at:], false, false
}

// knows notes that all of a text was shown, in whatever order.
func (t *texts) knows(sh *shown, whole string) {
	t.seal()
	t.note(sh, whole)
	sh.joint, sh.joined = 0, 0
	sh.stored, sh.head, sh.headless = stored{}, strings.Clone(whole[:min(len(whole), headLen)]), false
	sh.n, sh.sums = len(whole), []extent{{len(whole), maphash.String(t.seed, whole)}}
}

// replace forgets what was shown of a text: what comes is shown anew.
func (t *texts) replace(sh *shown) {
	if t.growing == sh {
		t.seal()
	}
	sh.run, sh.n, sh.head, sh.sums, sh.newest, sh.headless, sh.stored = nil, 0, "", nil, 0, false, stored{}
	sh.joint, sh.joined = 0, 0
}

// adopt notes that a text was shown elsewhere, all of it.
func (t *texts) adopt(sh *shown, whole string) {
	t.replace(sh)
	t.note(sh, whole)
	sh.head = strings.Clone(whole[:min(len(whole), headLen)])
	sum := maphash.String(t.seed, whole)
	sh.n, sh.sums, sh.chunk, sh.turn = len(whole), []extent{{len(whole), sum}}, sum, t.turn
	sh.event = t.event // what the same event adds to it is no other piece
}

// note notes for the journal what is known of a text in another way than by its lines.
func (t *texts) note(sh *shown, whole string) {
	if len(t.adopted) == maxWhole { // a journal may do without the older ones
		t.adopted = slices.Delete(t.adopted, 0, maxWhole/2)
	}
	t.adopted = append(t.adopted, adopted{sh.task, sh.textID, stored{len(whole), markSum(whole)}})
}

// stored is a text by its length and its hash (see markSum).
type stored struct {
	n   int
	sum uint64
}

// An adopted text was shown elsewhere.
type adopted struct {
	task string
	id   textID
	stored
}

// known reports whether a journal knows the beginning of a text as shown, and
// returns the rest.
func (sh *shown) known(text string) (rest string, ok bool) {
	n := sh.stored.n
	if sh.n > 0 || n == 0 || len(text) < n || markSum(text[:n]) != sh.stored.sum {
		return text, false
	}
	return text[n:], true
}

// partName is the name of the message that a part is shown in which is not text.
func (t *texts) partName(sh *shown) string {
	if r := sh.run; r == nil || r.turn != t.turn || r.epoch != t.epoch {
		sh.run = &run{name: t.names.take(sh.id), turn: t.turn, epoch: t.epoch}
	}
	return sh.run.name
}

// thoughtName is the name that the thoughts of a message are shown under.
func (t *texts) thoughtName(sh *shown) string {
	if sh.thought == "" {
		sh.thought = t.thoughts.take(sh.id)
	}
	return sh.thought
}
