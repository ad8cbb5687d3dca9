package trace

import (
	"encoding/binary"
	"strings"
)

// A wordKind tells what to look at where a word was found.
type wordKind uint8

const (
	wordName    wordKind = iota // part of a name whose credential follows "=" or ":"
	wordScheme                  // Bearer, Basic, Digest: the same, and a token may follow directly
	wordURL                     // "://": a name and a password may follow
	wordEquals                  // a URL parameter
	wordLiteral                 // the beginning of one of the program's own credentials
	wordShape                   // the beginning of a token of a shape
	wordBlock                   // a private key in PEM
)

// A word is a text that each credential has in or near it. The sieve looks closer where
// two neighbouring bytes of it are, at one of the indexes in pairs: they are chosen to be rare in
// JSON and English.
type word struct {
	text    string // one byte, or at least three
	fold    bool   // in any case, and "?" is any letter
	pairs   pairs
	kind    wordKind
	shape   shape
	literal string
}

// pairs are an even and an odd index of a word.
type pairs struct{ even, odd int }

func words() []word {
	list := []word{
		{text: "passw", fold: true, pairs: pairs{0, 3}},
		{text: "passp", fold: true, pairs: pairs{0, 3}},
		{text: "pwd", fold: true, pairs: pairs{0, 1}},
		{text: "secret", fold: true, pairs: pairs{2, 1}},
		{text: "key", fold: true, pairs: pairs{0, 1}},
		{text: "authorization", fold: true, pairs: pairs{6, 7}},
		{text: "credential", fold: true, pairs: pairs{0, 3}},
		{text: "cookie", fold: true, pairs: pairs{2, 3}},
		{text: "token", fold: true, pairs: pairs{2, 1}},
		{text: "bearer", fold: true, pairs: pairs{0, 1}, kind: wordScheme},
		{text: "basic", fold: true, pairs: pairs{0, 3}, kind: wordScheme},
		{text: "://", pairs: pairs{0, 1}, kind: wordURL},
		{text: "PRIVATE KEY-----", pairs: pairs{2, 3}, kind: wordBlock},
		{text: "PRIVATE KEY BLOCK-----", pairs: pairs{2, 3}, kind: wordBlock}, // of PGP
		{text: "=", kind: wordEquals},
	}
	for _, s := range shapes() {
		list = append(list, word{text: s.lead, fold: strings.Contains(s.lead, "?"), pairs: rarest(s.lead), kind: wordShape, shape: s})
	}
	return list
}

// A sieve finds words in one pass. It looks at each second pair of bytes, and so meets one of
// the two that a word is known by. A pair that is in no word costs one table look-up,
// and most bytes have no word. Regular expressions are far slower; the trace must cost
// less than what it records. It never changes.
type sieve struct {
	// lists has for each pair of bytes the words that have it; pairs is where that is in
	// lists; 0: none.
	pairs   [1 << 16]uint16
	lists   [][]sighting
	words   []word
	longest int // of the words
}

// A sighting is a word that a pair may belong to, and the index of the pair in it; -1: the word is
// the pair's second byte.
type sighting struct {
	*word
	index int
}

// newSieve makes the tables, of 128 KiB. The beginnings of literals become words, too.
func newSieve(literals []string) *sieve {
	s := &sieve{lists: make([][]sighting, 1), words: words()}
	for _, l := range literals {
		lead := l[:minPiece]
		s.words = append(s.words, word{text: lead, kind: wordLiteral, pairs: rarest(lead), literal: l})
	}
	for i := range s.words {
		w := &s.words[i]
		s.longest = max(s.longest, len(w.text))
		if len(w.text) == 1 {
			for other := range 256 {
				s.add(w.text[0], byte(other), sighting{w, 0})
				s.add(byte(other), w.text[0], sighting{w, -1})
			}
			continue
		}
		for _, at := range [...]int{w.pairs.even, w.pairs.odd} {
			for _, a := range cases(w.text[at], w.fold) {
				for _, b := range cases(w.text[at+1], w.fold) {
					s.add(a, b, sighting{w, at})
				}
			}
		}
	}
	return s
}

func (s *sieve) add(a, b byte, sees sighting) {
	list := &s.pairs[pairOf(a, b)]
	if *list == 0 {
		*list = uint16(len(s.lists))
		s.lists = append(s.lists, nil)
	}
	s.lists[*list] = append(s.lists[*list], sees)
}

// rarest returns pairs of neighbouring bytes of a word that are rare elsewhere:
// letters are common, digits and signs less so.
func rarest(l string) pairs {
	best, at := [2]int{-1, -1}, [2]int{0, 1}
	for i := 0; i+1 < len(l); i++ {
		if strings.Contains(l[i:i+2], "?") {
			continue // it may stand for another letter
		}
		rare := 0
		for _, c := range []byte(l[i : i+2]) {
			if c < 'a' || c > 'z' {
				rare++
			}
			if charsUpper.has(c) {
				rare++
			}
		}
		if rare > best[i%2] {
			best[i%2], at[i%2] = rare, i
		}
	}
	return pairs{at[0], at[1]}
}

func pairOf(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

func cases(c byte, fold bool) []byte {
	if fold && 'a' <= c && c <= 'z' {
		return []byte{c, c &^ 0x20}
	}
	return []byte{c}
}

// each calls found for each word in b that ends behind b[from], and for some that end before it.
func (s *sieve) each(b []byte, from int, found func(at int, w *word)) {
	if from = max(0, from-s.longest); from >= len(b) {
		return
	}
	i, p := from, &s.pairs
	for ; i+8 <= len(b); i += 8 { // most eight bytes have no pair
		w := binary.LittleEndian.Uint64(b[i:])
		p0, p2, p4, p6 := p[uint16(w)], p[uint16(w>>16)], p[uint16(w>>32)], p[w>>48]
		if p0|p2|p4|p6 == 0 {
			continue
		}
		for k, list := range [...]uint16{p0, p2, p4, p6} {
			if list != 0 {
				s.verify(b, i+2*k, list, found)
			}
		}
	}
	for ; i < len(b); i += 2 {
		pair := uint16(b[i]) // the last byte may be a word
		if i+1 < len(b) {
			pair = pairOf(b[i], b[i+1])
		}
		if list := p[pair]; list != 0 {
			s.verify(b, i, list, found)
		}
	}
}

// verify checks the words that the pair at i may belong to.
func (s *sieve) verify(b []byte, i int, list uint16, found func(at int, w *word)) {
	for _, w := range s.lists[list] {
		from := i - w.index
		if from >= 0 && from+len(w.text) <= len(b) && equals(b[from:from+len(w.text)], w.text, w.fold) {
			found(from, w.word)
		}
	}
}

func equals(b []byte, text string, fold bool) bool {
	if !fold {
		return string(b) == text
	}
	for i := range b { // the first byte tells mostly, so strings.EqualFold would cost more
		if c, t := b[i], text[i]; c != t && (c|0x20 != t || t < 'a') && (t != '?' || !charsWord.has(c)) {
			return false
		}
	}
	return true
}
