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
// two neighbouring bytes of it are, at the index pair: they are chosen to be rare in
// JSON and English. A word of one byte has no pair.
type word struct {
	text    string
	fold    bool // in any case, and "?" is any letter
	pair    int
	kind    wordKind
	shape   shape
	literal string
}

func words() []word {
	list := []word{
		{text: "passw", fold: true, pair: 3},
		{text: "passp", fold: true, pair: 3},
		{text: "pwd", fold: true},
		{text: "secret", fold: true, pair: 2},
		{text: "key", fold: true},
		{text: "authorization", fold: true, pair: 6},
		{text: "credential", fold: true},
		{text: "cookie", fold: true, pair: 2},
		{text: "token", fold: true, pair: 1},
		{text: "bearer", fold: true, kind: wordScheme},
		{text: "basic", fold: true, kind: wordScheme},
		{text: "://", kind: wordURL},
		{text: "PRIVATE KEY-----", pair: 2, kind: wordBlock},
		{text: "PRIVATE KEY BLOCK-----", pair: 2, kind: wordBlock}, // of PGP
		{text: "=", kind: wordEquals},
	}
	for _, s := range shapes() {
		list = append(list, word{text: s.lead, fold: strings.Contains(s.lead, "?"), pair: rarest(s.lead), kind: wordShape, shape: s})
	}
	return list
}

// A sieve finds words in one pass. A pair that is in no word costs one table look-up,
// and most bytes have no word. Regular expressions are far slower; the trace must cost
// less than what it records. It never changes.
type sieve struct {
	// lists has for each pair of bytes the words that have it; pairs is where that is in
	// lists; 0: none.
	pairs   [1 << 16]uint16
	lists   [][]*word
	words   []word
	longest int // of the words
}

// newSieve makes the tables, of 128 KiB. The beginnings of literals become words, too.
func newSieve(literals []string) *sieve {
	s := &sieve{lists: make([][]*word, 1), words: words()}
	for _, l := range literals {
		lead := l[:minPiece]
		s.words = append(s.words, word{text: lead, kind: wordLiteral, pair: rarest(lead), literal: l})
	}
	for i := range s.words {
		w := &s.words[i]
		s.longest = max(s.longest, len(w.text))
		for _, a := range cases(w.text[w.pair], w.fold) {
			if len(w.text) == 1 {
				for b := range 256 {
					s.add(a, byte(b), w)
				}
				continue
			}
			for _, b := range cases(w.text[w.pair+1], w.fold) {
				s.add(a, b, w)
			}
		}
	}
	return s
}

func (s *sieve) add(a, b byte, w *word) {
	list := &s.pairs[pairOf(a, b)]
	if *list == 0 {
		*list = uint16(len(s.lists))
		s.lists = append(s.lists, nil)
	}
	s.lists[*list] = append(s.lists[*list], w)
}

// rarest returns a pair of neighbouring bytes of a literal that is rare elsewhere:
// letters are common, digits and signs less so.
func rarest(l string) int {
	best, at := -1, 0
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
		if rare > best {
			best, at = rare, i
		}
	}
	return at
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
	for ; i+9 <= len(b); i += 8 { // most eight bytes have no pair
		w := binary.LittleEndian.Uint64(b[i:])
		last := uint16(b[i+8])<<8 | uint16(w>>56)
		first := p[uint16(w)] | p[uint16(w>>8)] | p[uint16(w>>16)] | p[uint16(w>>24)]
		if first|p[uint16(w>>32)]|p[uint16(w>>40)]|p[uint16(w>>48)]|p[last] == 0 {
			continue
		}
		for k := range 7 {
			if list := p[uint16(w>>(8*k))]; list != 0 {
				s.verify(b, i+k, list, found)
			}
		}
		s.verify(b, i+7, p[last], found)
	}
	for ; i < len(b); i++ {
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
		from := i - w.pair
		if from >= 0 && from+len(w.text) <= len(b) && equals(b[from:from+len(w.text)], w.text, w.fold) {
			found(from, w)
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
