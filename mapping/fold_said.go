package mapping

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxSaid is how much of a turn's text is kept, to compare with a text that says
	// it again: twice the longest answer that a model of 128,000 tokens gives. Of more
	// than that, and of a piece that is longer than half of it, the newest half is kept.
	maxSaid = 1 << 20
	// maxStarts is how many beginnings of messages are kept with it, maxChunks how
	// many of the newest chunks.
	maxStarts = 1 << 12
	maxChunks = 32
	// keepSaid is the room that is kept between turns.
	keepSaid = 16 << 10
)

// said is the text that a turn has shown, in its order. Frameworks stream an
// answer, and then say the whole of it again: in the status message that ends the
// task, in an artifact of its own, in the task's history. Nothing marks it as a
// repetition, so texts are compared.
type said struct {
	text []byte
	// starts are where messages begin in text, chunks where the newest pieces do, in a
	// ring of which next is the oldest.
	starts []start
	mixed  bool // messages and artifacts are in it
	late   bool // it has something behind what was said later
	cut    bool // it may end within a word, as the pieces do that models give
	chunks [maxChunks]int
	next   int
}

// A start is where a message, or an artifact, begins.
type start struct {
	at       int
	artifact bool
}

// begin notes that a message begins, or an artifact.
func (s *said) begin(artifact bool) {
	s.mixed = s.mixed || len(s.starts) > 0 && s.starts[len(s.starts)-1].artifact != artifact
	if n := len(s.starts); n > 0 && s.starts[n-1].at == len(s.text) {
		s.starts[n-1].artifact = artifact
		return
	}
	if len(s.starts) == maxStarts {
		s.starts = slices.Delete(s.starts, 1, maxStarts/2) // the first one is where all begins
	}
	s.starts = append(s.starts, start{len(s.text), artifact})
}

// add adds text; it returns how many bytes were dropped at the front.
func (s *said) add(text string) (dropped int) {
	if len(s.text)+len(text) > maxSaid {
		dropped = max(len(s.text)-maxSaid/2, 0)
		s.text = append(s.text[:0], s.text[dropped:]...)
		kept := s.starts[:0]
		for _, b := range s.starts {
			if b.at >= dropped {
				kept = append(kept, start{b.at - dropped, b.artifact})
			}
		}
		s.starts = kept
		for i := range s.chunks {
			s.chunks[i] = max(0, s.chunks[i]-dropped)
		}
	}
	s.chunks[s.next] = len(s.text)
	s.next = (s.next + 1) % maxChunks
	if len(s.text)+len(text) > cap(s.text) { // append would make it longer in small steps, and leave more behind
		s.text = slices.Grow(s.text, max(min(len(s.text), maxSaid-len(s.text)), len(text)))
	}
	s.text = append(s.text, text...)
	return dropped
}

// restart keeps the end of a text that is too long to be kept, and nothing before it.
func (s *said) restart(end string) {
	s.text, s.starts, s.chunks = append(s.text[:0], end...), s.starts[:0], [maxChunks]int{}
}

// clear forgets the turn.
func (s *said) clear() {
	if cap(s.text) > keepSaid {
		s.text = nil
	}
	s.mixed, s.late = false, false
	s.text, s.starts, s.chunks, s.next = s.text[:0], s.starts[:0], [maxChunks]int{}, 0
}

// covers compares text, all of something that the agent has said, with what the
// turn has shown. It returns what of it was not shown. ok is false if it is
// something else: then all of it is new.
//
// The text may repeat all messages of the turn, the last ones or their last chunks, or
// some in between; it may go on where they end. Artifacts between messages, and
// messages between artifacts, may be left out: agents keep the two apart. Runs of white
// space count as one blank, and between two messages there may be white space or none.
func (s *said) covers(text string) (rest string, ok bool) {
	if len(s.text) == 0 || strings.TrimSpace(text) == "" {
		return text, false
	}
	goesOn := text
	for _, b := range s.starts {
		switch rest, ok := s.coversFrom(b.at, text); {
		case ok && rest == "":
			return "", true
		case ok && goesOn == text:
			goesOn = rest
		}
	}
	if goesOn != text {
		return goesOn, true
	}
	for i := range s.chunks {
		if rest, ok := s.coversFrom(s.chunks[(s.next+i)%maxChunks], text); ok {
			return rest, true
		}
	}
	return text, false
}

// coversFrom is covers for what was shown from one beginning of a message on.
func (s *said) coversFrom(from int, text string) (rest string, ok bool) {
	first := skipSpace(text, 0)
	if from < len(s.text) && first < len(text) && !isSpace(s.text[from]) && s.text[from] != text[first] {
		return "", false // most are told by their first byte
	}
	if rest, ok = s.compare(from, text, false); !ok && s.mixed {
		rest, ok = s.compare(from, text, true)
	}
	return rest, ok
}

// compare is coversFrom. apart: text of the other kind (message, artifact) is skipped.
func (s *said) compare(from int, text string, apart bool) (rest string, ok bool) {
	if from >= len(s.text) {
		return "", false
	}
	i, j := skipSpace(s.text, from), skipSpace(text, 0)
	matched := false
	kind := apart && s.isArtifact(from)
	behind := i // the newest character that is no white space
	for i < len(s.text) && j < len(text) {
		if apart {
			if next := s.skipOther(i, kind); next > i {
				i = next
				continue
			}
		}
		a, b := s.text[i], text[j]
		switch {
		case isSpace(a) && isSpace(b):
			i, j = skipSpace(s.text, i), skipSpace(text, j)
		case isSpace(a) && s.breaksIn(i, skipSpace(s.text, i)):
			i = skipSpace(s.text, i)
		case isSpace(b) && s.breaksIn(i, i):
			j = skipSpace(text, j)
		case a == b:
			i, j, matched = i+1, j+1, true
			behind = i
		default:
			return "", false
		}
	}
	if apart {
		i = s.skipOther(i, kind)
	}
	shownEnd := skipSpace(s.text, i) == len(s.text)
	switch rest = text[j:]; {
	case !matched:
		return "", false
	case strings.TrimSpace(rest) == "":
		// All of it was shown, if it ends where a message does.
		return "", shownEnd || s.breaksIn(min(behind, i), skipSpace(s.text, i))
	case !shownEnd:
		return "", false
	}
	return rest, s.cut || endsWord(s.text, rest)
}

// breaksIn reports whether a message begins at one of the places from i to j.
func (s *said) breaksIn(i, j int) bool {
	at, found := s.find(i)
	return found || at < len(s.starts) && s.starts[at].at <= j
}

// find returns the first start that is not before a place.
func (s *said) find(i int) (n int, found bool) {
	return slices.BinarySearchFunc(s.starts, i, func(b start, i int) int { return b.at - i })
}

// isArtifact reports whether a place is in an artifact.
func (s *said) isArtifact(i int) bool {
	n, found := s.find(i)
	if !found {
		n--
	}
	return n >= 0 && s.starts[n].artifact
}

// skipOther returns the end of the text of the other kind that begins at i, or behind
// the white space at i; i itself if none begins there.
func (s *said) skipOther(i int, artifact bool) int {
	n, _ := s.find(i)
	if n == len(s.starts) || s.starts[n].at > skipSpace(s.text, i) {
		return i
	}
	for first := n; n < len(s.starts); n++ {
		switch {
		case s.starts[n].artifact != artifact:
		case n == first:
			return i
		default:
			return s.starts[n].at
		}
	}
	return len(s.text)
}

// endsWord reports whether text goes on with rest at the end of a word: "I" is not
// the beginning of "It is", but of another text.
func endsWord(text []byte, rest string) bool {
	last, _ := utf8.DecodeLastRune(text)
	first, _ := utf8.DecodeRuneInString(rest)
	return !isWordRune(last) || !isWordRune(first)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

func skipSpace[T string | []byte](s T, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}
