package mapping

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A joining says whether a message may go on with the one before it.
type joining uint8

const (
	never joining = iota
	// ifSure: if it can be nothing else. So it is with a message that ends a turn,
	// which is a question or an answer of its own more often than a last chunk.
	ifSure
	// asRead: as the text reads.
	asRead
)

// mayJoin says how a message of the event in hand may go on with the one before it.
func (f *Fold) mayJoin(m *a2a.Message) joining {
	ev := f.event
	if m == &ev.Message && (ev.EndsLeg || ev.State.Terminal() || ev.State == a2a.StateInputRequired || ev.State == a2a.StateAuthRequired) {
		return ifSure
	}
	return asRead
}

// joins decides whether a status message goes on with the text of the one before
// it, which has another ID. Some agents give each chunk of a text an ID of its own
// (Gemini's server 0.25.2, Strands, LangGraph), others send whole notes that way
// ("Looking up the rates…", "Processing…"), and A2A has no word for the
// difference. Where a dialect knows ([Traits.Chunks]) it is not asked. Elsewhere
// the text decides, by how the one ends and how the next begins:
//
//   - Next begins with white space or closing punctuation, or the one before ends
//     with white space: it goes on.
//   - Letters or digits meet: it goes on, but where a capital follows a small
//     letter or a digit and the message before begins with a capital too, or where it
//     ends the turn and nothing else tells that it is a chunk.
//   - A sentence has ended and what follows begins like one: it is another.
//
// Once a message is certain to be a chunk (sure), all that follow in the run are taken
// for chunks: stream. The rule takes "Processing" and "more" for one word, and "Type"
// and "Script" at the beginning of a stream for two notes.
func joins(before []byte, beforeHead, next string, stream bool, may joining) (join, sure bool) {
	last, _ := utf8.DecodeLastRune(before)
	first, _ := utf8.DecodeRuneInString(next)
	head, _ := utf8.DecodeRuneInString(beforeHead)
	switch {
	case unicode.IsSpace(first) || strings.ContainsRune(".,;:!?)]}»”…", first):
		return true, true
	case unicode.IsSpace(last):
		return true, last != '\n'
	case stream:
		return true, true
	case may == ifSure:
		return false, false
	case isWordRune(last) && isWordRune(first):
		if unicode.IsUpper(first) && !unicode.IsUpper(last) && unicode.IsUpper(head) {
			return false, false
		}
		return true, true
	case strings.ContainsRune(",([{«“-/\\_", last), isWordRune(last) && strings.ContainsRune("([{'’_/\\-=", first):
		return true, true
	}
	return false, false
}
