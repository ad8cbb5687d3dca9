package mapping

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// takings is the part of a [Fold] that shows messages which dialects split (see
// [apart]).
type takings struct {
	memories map[string]*memory // by task
	pieces   pieces
	inputs   []input        // that the agent waits for
	hinted   int            // how many things the user was told that there are
	thoughts past[struct{}] // that were shown whole, by their hash
	// givenUp: the agent repeats a question that was answered, and would repeat it for
	// ever.
	givenUp bool
}

// maxStreamed is how much of a text is kept to compare with the whole of it.
const maxStreamed = 1 << 20

// begin begins a turn. What has been streamed is whole by now; IDs that were made go on.
func (t *takings) begin() {
	t.givenUp, t.hinted = false, 0
	if len(t.memories) > maxTasks {
		t.memories = nil
	}
	for _, m := range t.memories {
		*m = memory{lines: m.lines, made: m.made, diffs: m.diffs}
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

// findApart notes which dialect an event shows its agent to speak. One that is known
// to speak a dialect already is not looked at again.
func (f *Fold) findApart(ev *a2a.Event) {
	if f.spoken != 0 {
		return
	}
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
	at := &carrier{held: f.whole, mem: f.takings.memory(f.TaskID)}
	if f.event != nil {
		at.metadata, at.state = f.event.Metadata, f.event.State
		at.ends = f.event.EndsLeg || f.event.State.Terminal()
	}
	return at
}

// apartMessage shows a message that a dialect splits; false if none does.
func (f *Fold) apartMessage(m *a2a.Message, how carriage) bool {
	d := f.apart()
	if d == nil {
		return false
	}
	p := &f.takings.pieces
	*p = pieces{}
	at := f.carrier()
	at.newest = f.event != nil && m == &f.event.Message
	if !d.message(m, at, p) {
		return false
	}
	f.showPieces(d, at, m.ID, false, func(text string) {
		plain := *m
		plain.Parts = onlyText(text)
		f.plainMessage(&plain, how)
	})
	return true
}

// apartEvent shows what a dialect finds in the metadata of a status update.
func (f *Fold) apartEvent(ev *a2a.Event) {
	d := f.apart()
	t, ok := d.(teller)
	if !ok || ev.Metadata == "" && !ev.State.Terminal() || f.echo && !f.behind {
		return
	}
	p := &f.takings.pieces
	*p = pieces{}
	at := f.carrier()
	t.event(at, p)
	f.showPieces(d, at, "status", false, func(string) {})
}

// apartArtifact shows an artifact that a dialect splits; false if none does.
func (f *Fold) apartArtifact(a *a2a.Artifact, appends, last bool) bool {
	d := f.apart()
	if d == nil {
		return false
	}
	p := &f.takings.pieces
	*p = pieces{}
	at := f.carrier()
	at.appends, at.last = appends, last
	at.seen = f.texts.of(a.ID, true).n > 0
	if !d.artifact(a, at, p) {
		return false
	}
	f.showPieces(d, at, a.ID, true, func(text string) {
		plain := *a
		plain.Parts = onlyText(text)
		if f.whole {
			f.heldArtifact(&plain)
		} else {
			f.artifact(&plain, appends, last)
		}
	})
	return true
}

func onlyText(text string) (parts a2a.Parts) {
	parts.FastPath().Only = &a2a.Part{Kind: a2a.PartText, Text: text}
	return parts
}

// showPieces shows pieces in their order. Text to which A2A's own rules apply is shown
// by plain, all of it at the place of its first piece.
func (f *Fold) showPieces(d apart, at *carrier, id string, artifact bool, plain func(string)) {
	p := &f.takings.pieces
	if p.usage != "" && !at.held {
		f.Usage = cloneJSON(p.usage)
	}
	list := p.list
	var all strings.Builder
	for i := range list {
		if list[i].kind == pieceText {
			all.WriteString(list[i].text)
		}
	}
	for i := range list {
		piece := &list[i]
		sh := f.texts.of(id, artifact)
		if piece.alone != "" {
			sh = f.texts.of(piece.alone, artifact)
		}
		switch piece.kind {
		case pieceText:
			if all.Len() > 0 {
				plain(all.String())
				all.Reset()
			}
		case pieceDelta, pieceWhole:
			f.streamedText(at, sh, piece)
		case pieceThought, pieceWholeThought:
			f.streamedThought(at, sh, piece)
		case pieceCall:
			f.apartCall(d, at, id, artifact, &piece.call)
		case pieceOutput:
			f.showCalls(f.calls.More(piece.call.ID, piece.text, textMax, nil))
		case piecePart:
			if sum := markSum(string(piece.part.Raw)); f.texts.once(sh, sum) {
				f.missed(!artifact)
				s := Step{Kind: StepPart, MessageID: id, Part: &piece.part, Shown: f.texts.partName(sh), mark: partMark(sh, sum)}
				if artifact {
					s.ArtifactID = id
				}
				f.add(s)
			}
		case pieceInput:
			f.wantInput(d, sh, piece.input)
		case pieceNotice:
			if !at.held {
				f.add(Step{Kind: StepNotice, Text: piece.text})
			}
		case pieceError:
			if f.Err == "" {
				f.Err = strings.Clone(piece.text)
				f.add(Step{Kind: StepError, Text: f.Err})
			}
		}
	}
}

// streamedText shows text of which the dialect knows whether it is new or a repetition.
func (f *Fold) streamedText(at *carrier, sh *shown, p *piece) {
	text := p.text
	if at.held || f.echoed(sh, "") {
		return // a snapshot's pieces of a text do not tell which they are
	}
	if p.kind == pieceWhole {
		was := string(at.mem.streamed)
		at.mem.streamed = nil
		if rest, ok := strings.CutPrefix(text, was); ok && was != "" {
			f.texts.adopt(sh, text[:len(was)])
			text = rest
		} else if rest, ok := f.texts.said.covers(text); ok {
			text = rest
		} else {
			f.texts.epoch++ // it is another text, under the same name
		}
		if text == "" {
			return
		}
	} else if len(at.mem.streamed)+len(text) <= maxStreamed {
		at.mem.streamed = append(at.mem.streamed, text...)
	}
	if sh.run != nil && sh.run.epoch != f.texts.epoch {
		f.texts.said.begin(sh.artifact)
	}
	s := Step{MessageID: sh.id, Append: sh.n > 0}
	if sh.artifact {
		s.ArtifactID = sh.id
	}
	may := asRead
	if sh.artifact || p.fresh {
		may = never
	}
	f.text(sh, text, nil, s, may)
}

// streamedThought shows a thought, or what was not shown of it.
func (f *Fold) streamedThought(at *carrier, sh *shown, p *piece) {
	text, mem := p.text, at.mem
	sum := markSum("thought", f.TaskID, p.text)
	if p.kind == pieceWholeThought {
		again := !f.takings.thoughts.once(sum) && at.held || mem.lastThought == sum && mem.inArtifact != sh.artifact
		mem.lastThought, mem.inArtifact = sum, sh.artifact
		was := string(mem.thinking)
		mem.thinking = nil
		if rest, ok := strings.CutPrefix(text, was); ok {
			text = rest
		}
		if again || strings.TrimSpace(text) == "" {
			return
		}
	} else if at.held {
		return
	} else if len(mem.thinking)+len(text) <= maxStreamed {
		mem.thinking = append(mem.thinking, text...)
	}
	if text == "" {
		return
	}
	f.missed(!sh.artifact)
	follows := len(mem.thinking) > len(text)
	if !follows && sh.thought != "" && p.kind == pieceThought {
		sh.thought = "" // another thought
	}
	f.texts.epoch++
	f.add(Step{Kind: StepThought, MessageID: sh.id, Shown: f.texts.thoughtName(sh), Description: text, Append: follows})
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
	if c.Asks && !at.held && d.traits().AsksAgain && f.asksAgain(c) {
		return
	}
	if c.Status.Ended() && f.calls.Deferred(c.ID) { // somebody else has answered it
		f.takings.inputs = slices.DeleteFunc(f.takings.inputs, func(in input) bool { return in.call != nil && in.call.ID == c.ID })
	}
	f.calls.Result(c)
	f.showCalls(f.calls.Say(c, id, f.verb(), nil))
	at.mem.streamed, at.mem.thinking = nil, nil
}

// asksAgain reports whether an agent repeats a question that was answered: such an
// agent takes no answers, and would ask for ever.
func (f *Fold) asksAgain(c *ToolCall) bool {
	if c.QuestionID == "" || !f.calls.Repeats(c) {
		return false
	}
	f.takings.givenUp = true
	f.Err = fmt.Sprintf("it asks about %s again, though you have answered: it does not take the answers of its clients, so a2astdio stops here and the next prompt begins a new task", Title(c))
	f.add(Step{Kind: StepError, Text: f.Err, State: a2a.StateFailed})
	return true
}

// GivenUp reports whether continuing the task is useless: see asksAgain.
func (f *Fold) GivenUp() bool { return f.takings.givenUp }
