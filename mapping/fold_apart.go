package mapping

import (
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// takings is the part of a [Fold] that shows messages which dialects split (see
// [apart]).
type takings struct {
	memories map[string]*memory // by task
	inputs   []input            // that the agent waits for
	hinted   int                // how many things the user was told that there are
	// givenUp: the agent repeats a question that was answered, and would repeat it for
	// ever.
	givenUp bool
}

// maxTasks is how many tasks of a conversation are remembered.
const maxTasks = 64

// maxStreamed is how much of a text is kept to compare with the whole of it.
const maxStreamed = 1 << 20

// maxOutput is how much is kept of the output of a call that says what follows: no editor is
// shown more at once.
const maxOutput = 1 << 20

// begin begins a turn. What has been streamed is whole by now.
func (t *takings) begin() {
	t.givenUp, t.hinted = false, 0
	if len(t.memories) > maxTasks {
		t.memories = nil
	}
	for _, m := range t.memories {
		*m = memory{}
	}
}

func (t *takings) memory(task string) *memory {
	m := t.memories[task]
	if m == nil {
		m = &memory{}
		if t.memories == nil || len(t.memories) >= 2*maxTasks {
			t.memories = map[string]*memory{}
		}
		t.memories[strings.Clone(task)] = m
	}
	return m
}

// maxSought is in how many events a second dialect is looked for: agents of Google's ADK may
// declare the extension for tools, too.
const maxSought = 64

// findApart notes which dialect an event shows its agent to speak. One whose messages a
// dialect splits is not looked at again.
func (f *Fold) findApart(ev *a2a.Event) {
	if f.apart() != nil || f.spoken != 0 && f.sought > maxSought {
		return
	}
	f.sought++
	// The sign is searched for in tasks only: looking at each message of a task costs
	// more than the search. In other events the search through a long text would cost
	// more.
	search := ev.Kind == a2a.EventTask
	for i, d := range dialects() {
		if a, ok := d.(apart); ok && (!search || strings.Contains(string(ev.Raw), a.sign())) && a.knows(ev) {
			f.spoken |= 1 << i
			return
		}
	}
}

// apart returns the dialect that splits the agent's messages, nil if none does.
func (f *facts) apart() apart {
	if f.spoken == f.taking {
		return f.taker
	}
	f.taking, f.taker = f.spoken, nil
	for i, d := range dialects() {
		if a, ok := d.(apart); ok && f.speaks(i) {
			f.taker = a
			break
		}
	}
	return f.taker
}

func (f *Fold) carrier() *carrier {
	at := &carrier{held: f.inState, mem: f.takings.memory(f.TaskID)}
	if f.event != nil {
		at.metadata, at.state = f.event.Metadata, f.event.State
	}
	return at
}

// addApart adds the pieces of a message or an artifact that a dialect splits; false if none
// does.
func (f *Fold) addApart(m *a2a.Message, a *a2a.Artifact, as shown.Item) bool {
	d := f.apart()
	if d == nil {
		return false
	}
	p, at := &pieces{}, f.carrier()
	at.newest, at.ends = as.Status, as.Ends
	if a != nil {
		as.Kind = shown.Artifact
		at.appends, at.last = as.Append, as.Last
		if !d.artifact(a, at, p) {
			return false
		}
	} else if !d.message(m, at, p) {
		return false
	}
	f.addPieces(d, at, p, as)
	return true
}

// addPieces adds pieces in their order. Text to which A2A's own rules apply is one item, at
// the place of its first piece.
func (f *Fold) addPieces(d apart, at *carrier, p *pieces, as shown.Item) {
	if p.usage != "" && !at.held {
		f.Usage = cloneJSON(p.usage)
	}
	plain := -1 // where that item is
	for i := range p.list {
		piece := &p.list[i]
		in := as
		in.Parts = partList(a2a.Part{Kind: a2a.PartText, Text: piece.text})
		switch piece.kind {
		case pieceText, piecePart:
			if piece.kind == piecePart {
				in.Parts = partList(piece.part)
			}
			if plain < 0 {
				plain = len(f.items.list)
				f.items.add(in)
				continue
			}
			list := f.items.list[plain].Parts.FastPath()
			list.List = append(list.List, in.Parts.FastPath().List...)
		case pieceDelta, pieceWhole:
			if n := len(f.items.list); i > 0 && p.list[i-1].kind == piece.kind {
				f.items.list[n-1].Parts.FastPath().List = append(f.items.list[n-1].Parts.FastPath().List, in.Parts.FastPath().List...)
				continue
			}
			f.addStreamed(at, piece, in)
		case pieceThought, pieceWholeThought:
			in.Kind, in.Hint = shown.Thought, shown.Whole
			if piece.kind == pieceThought {
				in.Hint = shown.Piece
			}
			if strings.TrimSpace(piece.text) != "" || piece.kind == pieceThought {
				f.items.add(in)
			}
		default:
			f.items.do(func() { f.doPiece(d, at, piece, as) })
		}
	}
}

// addStreamed adds text of which the dialect knows whether it is a piece, or the whole that
// is said behind its pieces (L10).
func (f *Fold) addStreamed(at *carrier, p *piece, in shown.Item) {
	if in.Hint = shown.Whole; p.kind == pieceDelta {
		in.Hint, in.Append = shown.Piece, false
		if len(at.mem.streamed)+len(p.text) <= maxStreamed {
			at.mem.streamed = append(at.mem.streamed, p.text...)
		}
	} else {
		at.mem.streamed = nil
	}
	f.items.add(in)
}

// doPiece does what is no text of an item.
func (f *Fold) doPiece(d apart, at *carrier, p *piece, as shown.Item) {
	switch p.kind {
	case pieceCall:
		f.apartCall(d, at, as.ID, as.Kind == shown.Artifact, &p.call)
	case pieceOutput:
		f.showCalls(f.calls.More(p.call.ID, p.text, maxOutput, nil))
	case pieceInput:
		f.wantInput(d, p.input)
	}
}

// apartCall shows a call, or what has become of one, that the message or artifact of that ID
// tells of.
func (f *Fold) apartCall(d dialect, at *carrier, id string, artifact bool, c *ToolCall) {
	if c.Differences = d.traits().Differences; c.Dialect == 0 {
		c.Dialect = placeOf(d)
	}
	if c.ID == "" {
		c.ID = "call-" + c.Name // events of two such calls cannot be told apart
	}
	if at.held && artifact && !c.Asks && !c.Status.Ended() && f.calls.Holds(c.ID) {
		return // a task does not tell whether its message, which may ask, came behind its artifact
	}
	if c.Asks && d.traits().AsksAgain && (!at.held || f.takings.givenUp) && f.asksAgain(c) {
		return
	}
	f.calls.Result(c)
	f.showCalls(f.calls.Say(c, id, f.mention(), nil))
	at.mem.streamed = nil
}

// asksAgain reports whether an agent repeats a question that was answered: such an
// agent takes no answers, and would ask for ever.
func (f *Fold) asksAgain(c *ToolCall) bool {
	if c.QuestionID == "" || !f.calls.Repeats(c) {
		return false
	}
	if f.takings.givenUp { // a look at the task shows the same question
		return true
	}
	f.takings.givenUp = true
	f.Err = fmt.Sprintf("it asks about %s again, though you have answered: it does not take the answers of its clients, so a2astdio stops here and the next prompt begins a new conversation, in which the agent knows nothing of this one", Title(c))
	f.add(Step{Kind: StepError, Text: f.Err, State: a2a.StateFailed})
	return true
}

// GivenUp reports whether continuing the task is useless: see asksAgain.
func (f *Fold) GivenUp() bool { return f.takings.givenUp }
