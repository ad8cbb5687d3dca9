package shown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A run is text that the editor shows as one message.
type run struct {
	name          string
	epoch, pauses int // Shown's, when it began: while they are the same, text may join it
	kind          Kind
	growth        growth
	at            int    // where in said it begins
	joinedAt      int    // where in said the newest text begins that was joined to it; 0: none was
	pieces        int    // how many artifacts it is made of, if each is a piece of the text; else 0
	title         string // the name that these have
}

// growth says how the messages of a run have grown.
type growth uint8

const (
	unseen     growth = iota
	byPieces          // each message has said what follows the one before
	certain           // so it has, and all that follows surely does
	cumulative        // each has said all of it
)

// naming says what IDs of messages name.
type naming uint8

const (
	anyText  naming = iota // a message, or a chunk of a text
	messages               // a message: one of this turn has come in several events
	chunks                 // a chunk of a text, for views: a dialect knows it (Gemini's server 0.25.2)
	growing                // a message as it is so far: a dialect knows it (LangGraph's server)
)

// Chunks notes that messages with IDs of their own are chunks of one text.
func (s *Shown) Chunks() { s.naming = chunks }

// Grows notes that messages with IDs of their own are what one message is so far, also where the
// next one says the same.
func (s *Shown) Grows() { s.naming = growing }

// enter settles the run that text of an item is shown in (it.run): it goes on with the item's,
// or joins it to another. in is nil where the item grows (Shown.Grow). An artifact that has not
// begun may be a piece: see isNextPiece.
func (s *Shown) enter(it *item, text string, in *Item) {
	piece := in != nil && in.Kind == Artifact && it.n == 0
	switch r := it.run; {
	case s.InPlace && r != nil && s.held.askedFor() && it.turn == s.turn:
		// What a task knows beyond what was shown goes where that is.
	case r == nil || r.epoch != s.epoch || r.pieces > 1: // an artifact that grows is no single piece, and leaves those
		s.join(it, text, piece && it.life == first && s.isNextPiece(in, text))
	case r != s.last: // two items grow in turns
		s.last, r.at = r, len(s.said.text)
	}
	if it.run.pieces++; !piece || in.Last {
		it.run.pieces = 0
	} else if it.run.pieces == 1 {
		it.run.title = strings.Clone(in.Name)
	}
}

// join settles the run that text of an item is shown in: that of the message before it, if it
// goes on with that, else a new one. piece: it is an artifact, a piece as those before it may
// be.
func (s *Shown) join(it *item, text string, piece bool) {
	r := s.last
	isOpen := r != nil && r.epoch == s.epoch && r.pauses == s.pauses && r.kind == it.kind
	if isOpen && (it.kind == Message && s.naming != growing && (s.naming != messages || goesOn(text)) || piece && r.pieces > 0) {
		join, sure := joins(s.said.text[r.at:], r.growth == certain && !s.concludes(text) || s.naming == chunks, text)
		join = join && !(r.growth == cumulative && !goesOn(text))                                              // it would say all of it
		if join && !s.standsAlone(sure) && !(s.state.Waits() && !meetBetweenWords(s.said.text[r.at:], text)) { // L8
			s.joinRun(it, sure)
			return
		}
	}
	it.run = s.newRun(it.kind, s.TakeName(it.kind, it.id))
}

// joinRun has an item go on in the newest run. sure: it goes on for certain.
func (s *Shown) joinRun(it *item, sure bool) {
	r := s.last
	if it.run, r.growth, r.joinedAt = r, byPieces, len(s.said.text); sure {
		r.growth = certain
	}
}

// concludes reports whether a text behind tokens is a message of its own, unless its words go
// on, by the state that comes with it: a question (inference-gateway's ADK), or a sentence that
// ends the task ("Task completed successfully.", by complete of a2a-python's TaskUpdater).
// Chinese and Japanese put no space between words: there a sentence has to be over before it.
func (s *Shown) concludes(text string) bool {
	if !s.inHand.Terminal() || weight(text) < evidence {
		return s.inHand.Waits()
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRune(s.said.text)
	return !unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana) || strings.ContainsRune(".!?。！？…\n", last)
}

// maxToken is the limit, in characters, of the first two pieces where each piece of a text is an artifact of its
// own. What is longer is a document that begins or ends with a space.
const maxToken = 48

// isNextPiece reports whether an artifact that has not begun is a piece as the one before it,
// which came alike: without a name if it is to be appended (PromptKit), and by the space
// between (each update of an SDK's TaskUpdater is an artifact of its own, where its caller
// gives no ID: Microsoft's Agent Framework for Python, until it gave them one), also if all
// have one name (the travel planner among the A2A project's samples, and its many copies:
// "current_result"). Files have names of their own, a last chunk, or several chunks.
func (s *Shown) isNextPiece(in *Item, text string) bool {
	switch {
	case s.said.last() == nil || s.last == nil || s.last.title != in.Name:
		return false
	case in.Name != "" && in.Last: // the result, behind tokens of its name
		return false
	}
	isMarked := s.said.last().form == marked
	if isMarked == in.Append && (in.Append && in.Name == "" || s.last.growth == certain) {
		return true
	}
	was := s.said.text[s.last.at:]
	return (in.Append || !isMarked) && !in.Last && len(was)+len(text) < utf8.UTFMax*maxToken &&
		max(utf8.RuneCount(was), utf8.RuneCountInString(text)) < maxToken && s.said.isContinuedBy(text, len(was))
}

// standsAlone reports whether a message that comes with the state in hand goes on with no
// other, though the text may: one that ends the task, or asks, is a question or an answer of
// its own more often than a last chunk, and always where the task is canceled (Strands for
// Python). sure: the text goes on for certain.
func (s *Shown) standsAlone(sure bool) bool {
	ending := s.inHand.Terminal() || s.inHand.Waits()
	return ending && (!sure || s.inHand == a2a.StateCanceled)
}

// newRun begins the run that what is said next is shown in, and returns it, for the caller to set in the
// item. The name was given out before, by TakeName or in a session that is loaded.
func (s *Shown) newRun(kind Kind, name string) *run {
	s.last = &run{name: name, epoch: s.epoch, pauses: s.pauses, kind: kind, at: len(s.said.text)}
	return s.last
}

// joins decides by the text whether a message goes on with the one before it, which has another ID.
// Some agents give each chunk of a text an ID of its own (Gemini's server 0.25.2, Strands, LangGraph,
// github.com/inference-gateway/adk), others send whole notes that way ("Looking up the rates…",
// "Processing…"), and A2A has no word for the difference. The first case that fits decides:
//
//   - Next begins with white space or closing punctuation, or the one before ends with white
//     space: it goes on.
//   - Letters or digits meet: it goes on, but where a capital follows a small letter or a
//     digit, and where a first note in Latin letters is followed by Chinese.
//   - Nothing but marks of Markdown was said, or code or bold is not closed: it goes on.
//   - Anything else, such as a sentence behind a full stop: it is another.
//
// Once a message is certain to be a chunk (sure), all that follow in the run are. The rule
// takes "Processing" and "more" for one word, and "Type" and "Script" at the beginning of a
// stream for two notes. It is for views only: an item is what its ID says.
func joins(before []byte, chunks bool, next string) (join, sure bool) {
	last, _ := utf8.DecodeLastRune(before)
	first, _ := utf8.DecodeRuneInString(next)
	switch {
	case goesOn(next):
		return true, true
	case unicode.IsSpace(last): // a note may end with a space behind its full stop, as Dive's do
		return true, last != '\n' && !bytes.HasSuffix(bytes.TrimRight(before, " "), []byte("."))
	case last == 0: // a part that is no text
		return false, false
	case chunks, opens(before, next): // "```" and "go", "**" and "Note"
		return true, true
	case isWord(last) && isWord(first) && !isListed(next):
		return wordsMeet(before, next)
	case last == ']' && first == '(', // a link
		strings.ContainsRune(",([{«“-/\\_，、；（《「『【\u200d", last), strings.ContainsRune("=&#@+<", last) && !unicode.IsUpper(first), last == '>' && unicode.IsLower(first),
		isWord(last) && strings.ContainsRune("([{'’_/\\-=%>", first) && !isListed(next):
		return true, true
	}
	return false, false
}

// wordsMeet is joins where letters or digits meet: both runes are.
func wordsMeet(before []byte, next string) (join, sure bool) {
	last, _ := utf8.DecodeLastRune(before)
	first, n := utf8.DecodeRuneInString(next)
	second, _ := utf8.DecodeRuneInString(next[n:])
	switch {
	case unicode.IsUpper(first) && (!unicode.IsUpper(last) || unicode.IsLower(second)), // also "OK" and "Let me see"
		isUnspaced(first) && !isUnspaced(last) && unicode.IsLetter(last),                    // "Thinking" and "你好"
		unicode.IsDigit(last) && unicode.IsLetter(first) && bytes.ContainsRune(before, ' '): // "Step 2" and "done"
		return false, false
	}
	return true, unicode.IsLower(first) || !unicode.IsUpper(last)
}

// goesOn reports whether a text begins as the middle of one does.
func goesOn(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(first) || unicode.IsMark(first) || strings.ContainsRune(".,;:!?)]}»”…。，、！？：；）」』】》\u200d", first)
}

// maxOpen is how much text is searched for what it leaves open: each chunk of a run searches it anew.
const maxOpen = 64 << 10

// opens reports whether a text ends in the middle of Markdown, as a model's chunks do: it is nothing but marks, leaves
// code open ("`x :", "```go", but not "it`s"), or bold that the next one closes.
func opens(text []byte, next string) bool {
	if len(bytes.Trim(text, "`*#>|~\"'$@<¿¡「")) == 0 {
		return true
	}
	if len(text) > maxOpen {
		return false
	}
	before, _ := utf8.DecodeLastRune(text[:max(0, bytes.LastIndexByte(text, '`'))])
	return bytes.Count(text, []byte("`"))%2 > 0 && !isWord(before) || closesBold(next) && bytes.Count(text, []byte("**"))%2 > 0
}

// closesBold reports whether the first stars of a text may end bold. Those of 2**8, 2 ** 8 and f(**kwargs) do not.
func closesBold(text string) bool {
	before, after, found := strings.Cut(text, "**")
	first, _ := utf8.DecodeRuneInString(after)
	return found && !strings.HasSuffix(before, " ") && (!isWord(first) || isUnspaced(first))
}

// isPiece reports whether what takes an artifact's place is a piece of it by its words, though
// nothing appends it (Docker Agent and trpc-agent-go put each token in the place of the one
// before); what follows a piece is one, too, under the same conditions (item.form).
// It is none where the artifact has a name, append or a last chunk, has grown, or begins so again,
// where two words meet ("queued", "running"), and where something else was said since.
func (s *Shown) isPiece(it *item, in *Item) bool {
	if in.Last || in.Name != "" || it.form == marked || it.run != s.last || s.said.last() != it {
		return false
	}
	begins := s.said.starts[len(s.said.starts)-1].head == headOf(in.seq)
	return it.form == inPlace || it.events == 1 && !begins && s.said.isContinuedBy(in.seq, it.n)
}

// isContinuedBy reports whether a text, which is not empty, goes on in the line of what was
// said last, by what stands between, or as both are short words of Chinese (that has n bytes).
func (s *said) isContinuedBy(text string, n int) bool {
	last, _ := utf8.DecodeLastRune(s.text)
	if first, _ := utf8.DecodeRuneInString(text); isUnspaced(last) && isUnspaced(first) && max(n, len(text)) < evidence {
		return true
	}
	return opens(s.text[s.newest:], text) || text[0] != '\n' && text[0] != '\r' && last != '\n' && (goesOn(text) || unicode.IsSpace(last))
}

// isNewest reports whether a text is what the newest event with text has said, and of that item.
func (s *Shown) isNewest(it *item, seq string) bool {
	return s.said.last() == it && string(s.said.text[s.said.newest:]) == seq
}

// isTwice reports whether the text of an item again is a piece of it: the item is no artifact
// and has said just this, which is short, and nothing came between (L2: 692 turns): "谢" "谢".
// Behind other text it is the status message that has stayed.
func (s *Shown) isTwice(it *item, seq string) bool { // rule: L2
	return it.kind != Artifact && it.events == 1 && len(seq) < short && s.isNewest(it, seq) && it.run != nil && it.run.epoch == s.epoch
}

// isDoubtful reports whether an item that said its only text again, which was taken for a
// repetition, may have said a piece: the lines of a quotation, the tokens of "3.14 3.14". What
// follows decides: see sayPiece. A text whose end does not meet its beginning is none: a status
// that an agent says again while it works.
func (s *Shown) isDoubtful(it *item, seq string) bool {
	first, _ := utf8.DecodeRuneInString(seq)
	last, _ := utf8.DecodeLastRuneInString(seq)
	meets := unicode.IsSpace(last) || goesOn(seq) || isUnspaced(first) && isUnspaced(last) && len(seq) < evidence
	return meets && it.events == 1 && s.isNewest(it, seq) && (s.doubted+1)*len(seq) <= maxDoubted && !strings.Contains(seq, "\x00")
}

// sayPiece shows a piece of an item, as say does. Before it go the repetitions that were doubted:
// that were pieces, too. To show late what an agent has said twice is better than to lose a word.
func (s *Shown) sayPiece(it *item, in *Item) {
	if s.doubted > 0 && s.gap == none && s.said.last() == it && it.run.epoch == s.epoch {
		text := strings.Repeat(string(s.said.text[s.said.newest:]), s.doubted)
		again := *in
		again.seq, again.Parts = text, a2a.Parts{}
		again.Parts.FastPath().List = []a2a.Part{{Kind: a2a.PartText, Text: text}}
		s.say(it, &again, 0)
	}
	s.say(it, in, 0)
}

// isUnspaced reports whether a letter is of a script without capitals: Chinese has no spaces.
func isUnspaced(r rune) bool { return unicode.Is(unicode.Lo, r) }

// isWholeThought reports whether an event says all of a thought again that came in pieces:
// trpc-agent-go marks that no more than its pieces.
func (s *Shown) isWholeThought(it *item, in *Item) bool {
	if in.Kind != Thought || it.events < 2 || len(in.seq) != it.n || it.n < evidence {
		return false
	}
	_, again := s.rest(it, in.seq)
	return again
}

// isListed reports whether a text begins as an entry of a list does, a quotation, or JSON.
func isListed(text string) bool {
	if number := strings.TrimLeft(text, "0123456789"); number != text && (strings.HasPrefix(number, ". ") || strings.HasPrefix(number, ") ")) {
		return true
	}
	return slices.ContainsFunc([]string{"- ", "= ", "> ", `{"`, "{\n", `["`, "[{"}, func(s string) bool { return strings.HasPrefix(text, s) })
}

// isWord reports whether words have it: those of Hindi and Thai have marks, and so have emoji.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && !unicode.Is(unicode.Variation_Selector, r)
}

// maxNames bounds what is kept of names: beyond it, they may come again.
const maxNames = 1 << 17

// TakeName gives out the name of a message, an artifact or a thought: its ID, or that with a number. A name is used once
// in a conversation: IDs of messages are unique within their task by A2A, and within their session by ACP. Most agents'
// IDs are unique anyway, and stay what they are. Of each name it is known, by its hash, how many were made of it.
func (s *Shown) TakeName(kind Kind, id string) string {
	of := s.hashName(kind, id)
	for name, hash := id, of; ; hash = s.hashName(kind, name) {
		if _, taken := s.names[hash]; !taken {
			s.names[hash] = 0
			return name
		}
		s.names[of]++
		name = id + "~" + strconv.Itoa(s.names[of])
	}
}

// hashName is the key of a name in names. ACP's thoughts are no messages, so they have names of
// their own. If there are too many names it forgets them all first.
func (s *Shown) hashName(kind Kind, name string) uint64 {
	if len(s.names) >= maxNames {
		clear(s.names)
	}
	if kind != Thought {
		kind = Message
	}
	return s.hashKey(key{kind: kind, id: name})
}
