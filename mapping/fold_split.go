package mapping

import (
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file shows messages and artifacts that a dialect splits into pieces.

// A splitState is what a [Fold] remembers of what dialects split, and of answers in words.
type splitState struct {
	// streamed is the task that has said pieces of a text since the last whole one; "": none.
	streamed string
	inputs   []input // that agents wait for, also where the answer is on its way
	states   int     // how many were said
}

// maxOutput is how much output is kept of a call that says what follows: no editor shows more.
const maxOutput = 1 << 20

// noteStreamed notes that the task in hand has said a piece of a text, or all of it behind
// those.
func (f *Fold) noteStreamed(pieces bool) {
	switch {
	case pieces:
		f.split.streamed = f.TaskID
	case f.split.streamed == f.TaskID:
		f.split.streamed = ""
	}
}

// addSplit adds the pieces of a message or an artifact, one of which is nil, that a dialect
// splits; false, with nothing added, if none does.
func (f *Fold) addSplit(m *a2a.Message, a *a2a.Artifact, as shown.Item) bool {
	if !f.spoken.Splits() {
		return false
	}
	at := &dialect.Carrier{Held: f.verb.OfTask(), Newest: as.Role != shown.Said, Ends: as.Role == shown.End,
		Streamed: f.TaskID != "" && f.split.streamed == f.TaskID, Turn: f.shown, Calls: f.Calls}
	if f.event != nil {
		at.Metadata, at.State = f.event.Metadata, f.event.State
	}
	if a != nil {
		as.Kind, at.Appends, at.Last = shown.Artifact, as.Append, as.Last
		if at.Held {
			at.Thoughts = f.shown.Thoughts(as.ID)
		}
	}
	p := f.spoken.Split(m, a, at)
	if p == nil {
		return false
	}
	f.addPieces(p, as)
	return true
}

// addPieces adds pieces in their order. Text to which A2A's own rules apply is one item, at the
// place of its first piece; deltas, or wholes, are one if they stand together.
func (f *Fold) addPieces(p *dialect.Pieces, as shown.Item) {
	if p.Usage != "" && !f.verb.OfTask() {
		f.Usage = cloneJSON(p.Usage)
	}
	plain := -1 // where that item is
	for i := range p.List {
		piece := &p.List[i]
		in := as
		in.Parts = partList(a2a.Part{Kind: a2a.PartText, Text: piece.Text})
		switch piece.Kind {
		case dialect.PieceText, dialect.PiecePart:
			if piece.Kind == dialect.PiecePart {
				in.Parts = partList(piece.Part)
			}
			if plain < 0 {
				plain = len(f.items.list)
				f.items.add(in)
				continue
			}
			join(&f.items.list[plain], in.Parts)
		case dialect.PieceDelta, dialect.PieceWhole:
			if n := len(f.items.list); i > 0 && p.List[i-1].Kind == piece.Kind {
				join(&f.items.list[n-1], in.Parts)
				continue
			}
			f.addStreamed(piece, in)
		case dialect.PieceThought, dialect.PieceWholeThought:
			in.Kind, in.Of, in.Hint = shown.Thought, as.Kind, shown.Whole
			if piece.Kind == dialect.PieceThought {
				in.Hint = shown.Piece
			}
			if strings.TrimSpace(piece.Text) != "" || piece.Kind == dialect.PieceThought {
				f.items.add(in)
			}
		default:
			f.items.do(func() { f.doPiece(piece, as) })
		}
	}
}

// join adds parts to an item.
func join(in *shown.Item, parts a2a.Parts) {
	list := in.Parts.FastPath()
	list.List = append(list.List, parts.FastPath().List...)
}

// addStreamed adds text of which the dialect knows whether it is a piece, or the whole that is
// said behind its pieces (PieceDelta, PieceWhole), and notes which has come last.
func (f *Fold) addStreamed(p *dialect.Piece, in shown.Item) {
	if in.Hint = shown.Whole; p.Kind == dialect.PieceWhole {
		f.noteStreamed(false)
	} else if in.Hint, in.Append = shown.Piece, false; p.Text != "" {
		f.noteStreamed(true)
	}
	f.items.add(in)
	if in.Append { // what is appended to the whole is another text
		f.items.do(f.shown.Break)
	}
}

// doPiece shows a call, its output, or a question in words, when the items before are shown.
func (f *Fold) doPiece(p *dialect.Piece, as shown.Item) {
	switch p.Kind {
	case dialect.PieceCall:
		f.splitCall(&p.Call, as)
	case dialect.PieceOutput:
		f.showCalls(f.Calls.More(p.Call.ID, p.Text, maxOutput, nil))
	case dialect.PieceInput:
		f.wantInput(p.Input)
	case dialect.PieceError:
		if p.Text != f.Err {
			f.Err = strings.Clone(p.Text)
			f.add(Step{Kind: StepError, Text: f.Err, State: a2a.StateFailed})
		}
	}
}

// splitCall shows what a piece or a state's metadata tells of a call, unless it is a task's
// artifact, which may be older, or asks again what was answered (giveUpRepeated).
func (f *Fold) splitCall(c *ToolCall, as shown.Item) {
	if f.verb.OfTask() && as.Kind == shown.Artifact && !c.Asks && !c.Status.Ended() && f.Calls.Holds(c.ID) {
		return // a task does not tell whether its message, which may ask, came behind its artifact
	}
	if c.Asks && f.spoken.AsksAgain() && (!f.verb.OfTask() || f.GivenUp()) && f.giveUpRepeated(c) {
		return
	}
	f.Calls.Result(c)
	f.showCalls(f.Calls.Say(c, as.ID, f.mention(), nil))
	f.noteStreamed(false)
}

// giveUpRepeated gives up an agent that repeats a question that was answered, and tells that once,
// as an error: it would ask for ever. False, with nothing done, if the call is no such question.
func (f *Fold) giveUpRepeated(c *ToolCall) bool {
	if c.QuestionID == "" || !f.Calls.Repeats(c) {
		return false
	}
	if f.GivenUp() { // a look at the task shows the same question
		return true
	}
	f.Err = fmt.Sprintf("it asks about %s again, though you have answered: it does not take the answers of its clients, so a2astdio stops here and the next prompt begins a new conversation, in which the agent knows nothing of this one", Title(c))
	f.add(Step{Kind: StepError, Text: f.Err, State: a2a.StateFailed})
	f.has = refused
	return true
}

// GivenUp reports whether continuing the task is useless: the agent takes no answers.
func (f *Fold) GivenUp() bool { return f.has == refused }
