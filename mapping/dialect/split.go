package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A splitter is a dialect whose agents put several things into one message or artifact:
// thoughts, calls, repeated text. It splits them into pieces.
type splitter interface {
	dialect
	// recognizes reports whether an event is surely of such an agent: it looks for keys of
	// its own, never at a shape alone. It is asked of each event of most agents, so it is quick.
	recognizes(ev *a2a.Event) bool
	// message and artifact split one into pieces; false: it is read by A2A's rules, and the pieces are dropped.
	message(m *a2a.Message, at *Carrier, to *Pieces) bool
	artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool
	// ofUser reports whether a message of the user's role is the agent's: message splits it.
	ofUser(m *a2a.Message) bool
}

// A Carrier is what a message or an artifact came in.
type Carrier struct {
	Metadata a2a.JSON // the event's
	State    a2a.State
	// Appends and Last are of an artifact.
	Appends, Last bool
	// Held: a snapshot has it. Ends: it is the status message that ends the leg.
	Held, Ends bool
	// Newest: it is the task's status message, and not one of its history.
	Newest bool
	// Streamed: the task has said pieces of a text since the last whole one.
	Streamed bool
	// Thoughts are what was shown as thoughts under the ID of an artifact that is held.
	Thoughts string
	// Turn tells whether the turn has shown a text.
	Turn interface{ HasSaid(text string) bool }
	// Calls tells whether a call of the task is known.
	Calls interface{ Knows(id string) bool }
}

// Pieces are what a message or an artifact consists of, in order.
type Pieces struct {
	List  []Piece
	Usage a2a.JSON
}

// PieceKind says what a [Piece] is.
type PieceKind uint8

// The kinds of pieces.
const (
	// PieceText is text as A2A has it: it follows, or replaces, as its carrier says.
	PieceText PieceKind = iota
	// PieceDelta is text that follows what was said, whatever its carrier says.
	PieceDelta
	// PieceWhole is text that was streamed, and is said again.
	PieceWhole
	// PieceThought is a thought, or what follows one.
	PieceThought
	// PieceWholeThought are thoughts that may have been streamed.
	PieceWholeThought
	PieceCall
	// PieceOutput is what a call has put out, beyond what it had.
	PieceOutput
	PiecePart
	// PieceInput is what the user answers in words.
	PieceInput
	// PieceError is why the agent is about to fail.
	PieceError
)

// A Piece is one thing that a message or an artifact says. Its kind tells which of the others
// count.
type Piece struct {
	Kind  PieceKind
	Text  string
	Call  calls.ToolCall
	Part  a2a.Part
	Input Input
}

// An Input is what an agent waits for that the user answers in words: see [WriteReply].
type Input struct {
	ID, Name string
	Text     string // the bridge's, that asks
	// Questions is how many questions it asks, 0 if the answer is the result of a call.
	Questions int

	dialect uint8
}

func (p *Pieces) text(kind PieceKind, text string) {
	p.List = append(p.List, Piece{Kind: kind, Text: text})
}

func (p *Pieces) call(c calls.ToolCall) { p.List = append(p.List, Piece{Kind: PieceCall, Call: c}) }

func (p *Pieces) output(id, text string) {
	p.List = append(p.List, Piece{Kind: PieceOutput, Text: text, Call: calls.ToolCall{ID: id}})
}

func (p *Pieces) part(part *a2a.Part) { p.List = append(p.List, Piece{Kind: PiecePart, Part: *part}) }

// parts adds parts: texts as pieces of a kind, others as they are.
func (p *Pieces) parts(parts a2a.Parts, kind PieceKind) {
	for part := range parts.All() {
		if part.Kind == a2a.PartText {
			p.text(kind, part.Text)
		} else {
			p.part(part)
		}
	}
}

func (p *Pieces) ask(in Input) { p.List = append(p.List, Piece{Kind: PieceInput, Input: in}) }

// base is a dialect that does nothing, that of calls which came in none: others embed it, and write
// only the methods that they need.
type base struct{}

func (base) about() about                                            { return about{} }
func (base) extensions() []string                                    { return nil }
func (base) matchesCard(*a2a.Card) bool                              { return false }
func (base) settings(AgentSettings, string) (string, map[string]any) { return "", nil }
func (base) commands() SlashCommands                                 { return SlashCommands{} }
func (base) readMeta(a2a.JSON, *Meta) bool                           { return false }
func (base) CallID(calls.Object) (string, bool)                      { return "", false }
func (base) Answered(calls.Object) (string, bool)                    { return "", false }
func (base) ToolCall(calls.Object, *calls.ToolCall)                  {}
func (base) Repeats(string) bool                                     { return false }
func (base) OutputSoFar(*a2a.Artifact) (string, calls.Sent, bool)    { return "", calls.Sent{}, false }
func (base) Question(string, *calls.ToolCall) bool                   { return false }
func (base) options(*calls.ToolCall) []ask.Option                    { return nil }
func (base) artifact(*a2a.Artifact, *Carrier, *Pieces) bool          { return false }
func (base) message(*a2a.Message, *Carrier, *Pieces) bool            { return false }
func (base) ofUser(*a2a.Message) bool                                { return false }

// answer: agents that ask nothing get no answer.
func (base) answer(ask.Answer, *a2a.Outgoing) error { return nil }

func (base) reply(_ Input, text string, m *a2a.Outgoing) error {
	m.Parts = append(m.Parts, a2a.OutPart{Text: text})
	return nil
}

// addData adds an answer to a message, as a data part with metadata, if that is not "".
func addData(m *a2a.Outgoing, data any, metadata string) error {
	raw, err := rawjson.Marshal(data)
	p := a2a.OutPart{Data: raw}
	if metadata != "" {
		p.Metadata = json.RawMessage(metadata)
	}
	m.Parts = append(m.Parts, p)
	return err
}

// declares reports whether a card declares an extension whose URI begins with prefix.
func declares(card *a2a.Card, prefix string) bool {
	return slices.ContainsFunc(card.Extensions, func(e a2a.Extension) bool { return strings.HasPrefix(e.URI, prefix) })
}
