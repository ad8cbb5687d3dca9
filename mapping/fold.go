package mapping

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Fold turns what an agent says in one conversation into steps, each shown once:
// whatever has been shown, and is said again (a repeated event, a snapshot of
// the task after a lost connection), gives no step. It keeps lengths and hashes
// of what was shown, not the text, but for the newest few kilobytes; of tool calls
// that have not ended it keeps all, within bounds.
//
// A Fold is for one context, whose message and tool call IDs are unique, and is
// not safe for concurrent use.
type Fold struct {
	// TaskID, ContextID and State are the last that the agent named.
	TaskID    string
	ContextID string
	State     a2a.State
	// Err is the last unexpected error that an event reported, in the agent's
	// words, unless it has said something since.
	Err string
	// FailText is the text of the status message of a task that failed or was
	// rejected: shown as the error, not as a message.
	FailText string
	// Usage is the agent's count of tokens, as a JSON object, if it gave one.
	Usage a2a.JSON
	// Asked counts the questions so far: that it has grown tells a new one.
	Asked int
	// Gap says of the last snapshot that the agent does not hold all that it
	// said: text was shown that is not in it, or it holds no history at all. What
	// was said meanwhile may be lost.
	Gap bool

	snapshots int  // how many there were: see shown.held
	echo      bool // the event may be in the snapshot before it

	texts   map[string]*shown
	live    *shown // the text that grows; the end of it is in tail
	tail    []byte
	seed    maphash.Seed
	calls   map[string]*call
	running map[string]bool // calls that are executed, as far as is known
	kept    int             // what is kept of calls, in bytes: see maxKept
	asked   []*call         // calls that ask, in the order of asking
	later   map[string]int  // within a snapshot: how often it still names a call
	steps   []Step
	meta    meta
	event   *a2a.Event
	known   knownMeta
	like    likeness
	part    a2a.Part // the one in hand, kept so that no walk allocates one
	data    callData // the data part in hand, likewise
}

// NewFold returns a Fold for a conversation of which nothing has been shown.
func NewFold() *Fold {
	return &Fold{texts: map[string]*shown{}, calls: map[string]*call{}, seed: maphash.MakeSeed()}
}

// Begin forgets what belongs to the turn before: its state, its errors, the
// questions that were left open. What was shown stays known.
func (f *Fold) Begin() {
	f.State, f.Err, f.FailText, f.Usage = "", "", "", ""
	f.asked, f.running = nil, nil
}

// Event appends to steps what the event adds to what has been shown.
func (f *Fold) Event(ev *a2a.Event, steps []Step) []Step {
	if f.goesOn(ev) {
		return f.goOn(ev, steps)
	}
	f.steps, f.event = steps, ev
	failed := f.Err != ""
	f.note(ev)
	switch ev.Kind {
	case a2a.EventTask:
		f.snapshot(ev)
	case a2a.EventStatus:
		f.state(ev)
		if ev.HasMessage && !f.failure(&ev.Message) {
			f.message(&ev.Message, false)
		}
	case a2a.EventMessage:
		f.message(&ev.Message, false)
	case a2a.EventArtifact:
		f.artifactUpdate(ev)
	default:
		if _, ok := ReadExecution(ev.Raw); !ok { // whoever follows has read that
			f.add(Step{Kind: StepUnknown})
		}
	}
	if failed && f.meta.err == "" && slices.ContainsFunc(f.steps[len(steps):], func(s Step) bool { return s.Kind == StepText }) {
		f.Err = "" // it has gone on all the same
	}
	f.learn(ev, f.steps[len(steps):])
	steps, f.steps, f.event = f.steps, nil, nil
	f.letGo()
	return steps
}

// letGo drops what points into the event: between turns it would hold on to the
// buffer that the event was read into, which may be large.
func (f *Fold) letGo() {
	f.part, f.meta, f.data.call = a2a.Part{}, meta{}, ToolCall{}
	if cap(f.data.members) > keepMembers {
		f.data.members = nil
	}
	clear(f.data.members[:cap(f.data.members)])
}

// note keeps what every event may say.
func (f *Fold) note(ev *a2a.Event) {
	if ev.TaskID != "" && ev.TaskID != f.TaskID {
		f.TaskID = strings.Clone(ev.TaskID)
	}
	if ev.ContextID != "" && ev.ContextID != f.ContextID {
		f.ContextID = strings.Clone(ev.ContextID)
	}
	f.readMeta(ev.Metadata)
	if f.meta.usage != "" {
		f.Usage = cloneJSON(f.meta.usage)
	}
	if f.meta.err != "" && f.meta.err != f.Err {
		f.Err = strings.Clone(f.meta.err)
		f.add(Step{Kind: StepError, Text: f.Err})
	}
}

func (f *Fold) add(s Step) {
	s.TaskID, s.ContextID = f.TaskID, f.ContextID
	s.Model, s.UserTier, s.Raw = f.meta.model, f.meta.userTier, f.event.Raw
	f.steps = append(f.steps, s)
}

func (f *Fold) state(ev *a2a.Event) {
	if ev.State == "" || ev.State == f.State || f.echo {
		return
	}
	f.State = a2a.State(strings.Clone(string(ev.State)))
	if f.State.Terminal() {
		f.running = nil // whatever ran ran in the task
	}
	f.add(Step{Kind: StepState, State: f.State})
}

// failure keeps the text of a status message that says why the task has failed;
// false if it says something else.
func (f *Fold) failure(m *a2a.Message) bool {
	if f.State != a2a.StateFailed && f.State != a2a.StateRejected {
		return false
	}
	var text strings.Builder
	for p := range m.Parts.All() {
		if p.Kind != a2a.PartText {
			return false
		}
		text.WriteString(p.Text)
	}
	f.FailText = text.String()
	return true
}

// message shows a message: in a stream its text follows what the same message
// has said before, in a snapshot it is all that the message has said.
func (f *Fold) message(m *a2a.Message, whole bool) {
	if m.Role == a2a.RoleUser {
		return
	}
	id := m.ID
	var sh *shown
	text := 0 // bytes of this message's text seen so far, in a snapshot
	differs := false
	p := &f.part
	for left := m.Parts; left.Next(p); {
		if p.Kind == a2a.PartData {
			if f.toolCall(string(p.Data), whole) {
				continue
			}
			if subject, description, ok := thought(gjson.Parse(string(p.Data)), f.meta.kind); ok {
				if sh = f.of(sh, id); f.once(sh, "thought", subject, description) {
					f.marked(Step{Kind: StepThought, MessageID: id, Subject: subject, Description: description},
						sh, "thought", subject, description)
				}
				continue
			}
		}
		sh = f.of(sh, id)
		switch {
		case p.Kind == a2a.PartText && whole:
			rest, replaced := f.rest(sh, p.Text, text)
			text += len(p.Text)
			if replaced {
				// Less than was shown, or something else: the agent holds only
				// part of what it said. What the user has is better.
				differs = true
				continue
			}
			f.text(sh, rest, nil, Step{MessageID: id})
		case f.echoed(sh):
		case p.Kind == a2a.PartText:
			f.text(sh, p.Text, p, Step{MessageID: id})
		case f.once(sh, string(p.Raw)) || !whole:
			part := *p
			f.marked(Step{Kind: StepPart, MessageID: id, Part: &part}, sh, string(p.Raw))
		}
	}
	if whole && sh != nil && !differs && text >= sh.n {
		sh.held = f.snapshots
	}
}

func (f *Fold) artifactUpdate(ev *a2a.Event) {
	if !f.liveOutput(&ev.Artifact) {
		f.artifact(&ev.Artifact, ev.Append, ev.LastChunk, false)
	}
}

// artifact shows an artifact, or a piece of one. One that replaces what was
// shown (by the book: append is not set) is shown as far as it goes on from
// there; if it does not, it is shown anew, under a name of its own.
func (f *Fold) artifact(a *a2a.Artifact, follows, last, whole bool) {
	sh := f.ofArtifact(a.ID)
	if f.echoed(sh) {
		return
	}
	p := &f.part
	if follows && !whole {
		for rest := a.Parts; rest.Next(p); {
			f.artifactPart(sh, a, p, p.Text, last)
		}
		return
	}
	offset, anew := 0, false
	for parts := a.Parts; parts.Next(p); {
		if p.Kind != a2a.PartText {
			if f.once(sh, string(p.Raw)) {
				f.artifactPart(sh, a, p, "", last)
			}
			continue
		}
		rest, replaced := p.Text, false
		if !anew {
			rest, replaced = f.rest(sh, p.Text, offset)
		}
		offset += len(p.Text)
		if replaced {
			f.seal()
			f.like = likeness{} // it has another name from now on
			sh.again, sh.n, sh.head, sh.sums, anew = sh.again+1, 0, "", nil, true
			rest = p.Text
		}
		if rest != "" {
			f.artifactPart(sh, a, p, rest, last)
		}
	}
	if whole && offset >= sh.n {
		sh.held = f.snapshots
	}
}

func (f *Fold) artifactPart(sh *shown, a *a2a.Artifact, p *a2a.Part, text string, last bool) {
	id := a.ID
	if sh.again > 0 {
		id += "~" + strconv.Itoa(sh.again)
	}
	s := Step{ArtifactID: id, Name: a.Name, LastChunk: last, MessageID: id}
	if p.Kind == a2a.PartText {
		whole := p
		if len(text) != len(p.Text) {
			whole = nil
		}
		first := sh.n == 0
		before := len(f.steps)
		f.text(sh, text, whole, s)
		if len(f.steps) > before {
			f.steps[before].Append = !first
		}
		return
	}
	part := *p
	s.Kind, s.Part, s.Append = StepPart, &part, sh.n > 0 || len(sh.others) > 1
	f.marked(s, sh, string(p.Raw))
}
