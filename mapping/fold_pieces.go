package mapping

import "bytes"

// maxPieces is how many messages of a turn are tried for the pieces of a text.
const maxPieces = 256

// assembles reports whether a text is made of whole messages that the turn has shown, each
// of them taken once. Behind a lost connection they may have been shown in another order,
// or with what was missed before between them.
func (s *said) assembles(text string) bool {
	if len(s.starts) > maxPieces {
		return false
	}
	var used [maxPieces]bool
	next := 0 // the piece behind the one that was taken last
	for at := skipSpace(text, 0); at < len(text); at = skipSpace(text, at) {
		best, n := -1, 0
		for i := range s.starts {
			piece := s.piece(i)
			if used[i] || len(piece) == 0 || len(piece) > len(text)-at || text[at:at+len(piece)] != string(piece) {
				continue
			}
			if i == next || len(piece) > n && best != next {
				best, n = i, len(piece)
			}
		}
		if best < 0 {
			return false
		}
		used[best] = true
		at, next = at+n, best+1
	}
	return next > 0
}

// piece returns the text of a message, without the white space around it.
func (s *said) piece(i int) []byte {
	end := len(s.text)
	if i+1 < len(s.starts) {
		end = s.starts[i+1].at
	}
	return bytes.TrimSpace(s.text[s.starts[i].at:end])
}
