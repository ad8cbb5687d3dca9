package trace

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// A wordKind tells what to look at where a word was found.
type wordKind uint8

const (
	wordName    wordKind = iota // part of a name whose credential follows "=" or ":"
	wordScheme                  // Bearer, Basic, Digest: the same, and a token may follow directly
	wordURL                     // "://": a name and a password may follow
	wordEquals                  // a URL parameter
	wordLiteral                 // one of the program's own credentials
	wordShape                   // the beginning of a token of a shape
	wordBlock                   // a private key in PEM
	wordPush                    // a method whose parameters hold a webhook
	wordEscape                  // an escape that may hide one of the others
	wordSpelled                 // "%" or "&", which may begin a spelled byte
)

// A word is a text that each credential has in or near it. The sieve finds a word by
// one of two pairs of its neighbouring bytes. One of them lies at an even index,
// wherever the word begins. Both are chosen to be rare in JSON and English.
type word struct {
	text  string
	fold  bool // in any case
	pairs [2]int
	kind  wordKind
	shape shape
}

// words lists all words.
func words() []word {
	list := []word{
		{text: "passw", fold: true, pairs: [2]int{2, 3}},
		{text: "passp", fold: true, pairs: [2]int{2, 3}},
		{text: "pwd", fold: true, pairs: [2]int{0, 1}},
		{text: "secret", fold: true, pairs: [2]int{2, 1}},
		{text: "key", fold: true, pairs: [2]int{0, 1}},
		{text: "authorization", fold: true, pairs: [2]int{6, 7}},
		{text: "credential", fold: true, pairs: [2]int{0, 7}},
		{text: "cookie", fold: true, pairs: [2]int{2, 3}},
		{text: "token", fold: true, pairs: [2]int{2, 1}},
		{text: "bearer", fold: true, pairs: [2]int{0, 1}, kind: wordScheme},
		{text: "basic", fold: true, pairs: [2]int{0, 3}, kind: wordScheme},
		{text: "://", pairs: [2]int{0, 1}, kind: wordURL},
		{text: "PRIVATE KEY-----", pairs: [2]int{2, 3}, kind: wordBlock},
		{text: "pushnotificationconfig", fold: true, pairs: [2]int{0, 3}, kind: wordPush},
		{text: "agent-settings", pairs: [2]int{4, 5}, kind: wordPush},
		// Some encoders write & as \u0026.
		{text: `\u00`, pairs: [2]int{0, 1}, kind: wordEscape},
		{text: `\/`, pairs: [2]int{0, 0}, kind: wordEscape},
	}
	for _, s := range shapes() {
		list = append(list, word{text: s.lead, pairs: rarest([]byte(s.lead)), kind: wordShape, shape: s})
	}
	return list
}

// single are the words of one byte, the last ones of a sieve.
var single = [...]word{{text: "=", kind: wordEquals}, {text: "%", kind: wordSpelled}, {text: "&", kind: wordSpelled}}

// A sieve finds words in one pass, two bytes at a time. A pair that is in no word costs
// one table look-up, and most bytes have no word. Regular expressions, and an automaton
// that reads byte by byte, are far slower; the trace must cost less than what it
// records.
type sieve struct {
	// pairs maps each pair of bytes to its list; 0: none.
	pairs [1 << 16]uint8
	lists [][]place
	words []word
}

// A place is a pair's position in a word.
type place struct{ word, at int }

// newSieve makes the tables, of 64 KiB. literals become words, too.
func newSieve(literals [][]byte) *sieve {
	s := &sieve{words: words(), lists: make([][]place, 1)}
	for _, l := range literals {
		s.words = append(s.words, word{text: string(l), kind: wordLiteral, pairs: rarest(l)})
	}
	places := map[uint16][]place{}
	add := func(a, b byte, p place) { places[pairOf(a, b)] = append(places[pairOf(a, b)], p) }
	for i := range s.words {
		w := &s.words[i]
		for k, at := range w.pairs {
			if k == 1 && at == w.pairs[0] {
				// A word with two known bytes has one pair only. At an odd index its first byte is
				// found, behind any other.
				for other := range 256 {
					add(byte(other), w.text[0], place{i, -1})
				}
				continue
			}
			for _, a := range spellings(w.text[at], w.fold) {
				for _, b := range spellings(w.text[at+1], w.fold) {
					add(a, b, place{i, at})
				}
			}
		}
	}
	for _, w := range single {
		s.words = append(s.words, w)
		for other := range 256 {
			add(w.text[0], byte(other), place{len(s.words) - 1, 0})
			add(byte(other), w.text[0], place{len(s.words) - 1, -1})
		}
	}
	known := map[string]uint8{}
	for _, pair := range slices.Sorted(maps.Keys(places)) {
		name := fmt.Sprint(places[pair])
		if known[name] == 0 {
			if len(s.lists) > 255 { // hundreds of literals: the last list takes the rest
				s.lists[255] = append(s.lists[255], places[pair]...)
				s.pairs[pair] = 255
				continue
			}
			known[name] = uint8(len(s.lists))
			s.lists = append(s.lists, places[pair])
		}
		s.pairs[pair] = known[name]
	}
	return s
}

// rarest returns two neighbouring pairs of a literal that are rare elsewhere: letters
// are common, digits and signs less so.
func rarest(l []byte) [2]int {
	best, at := -1, 0
	for i := 0; i+2 < len(l); i++ {
		rare := 0
		for _, c := range l[i : i+3] {
			if c < 'a' || c > 'z' {
				rare++
			}
			if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
				rare++
			}
		}
		if rare > best {
			best, at = rare, i
		}
	}
	return [2]int{at, at + 1}
}

func pairOf(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

func spellings(c byte, fold bool) []byte {
	if fold && 'a' <= c && c <= 'z' {
		return []byte{c, c &^ 0x20}
	}
	return []byte{c}
}

// each calls found for each word in b until it returns false, and reports whether it
// reached the end. It may find a word twice.
func (s *sieve) each(b []byte, found func(at int, w *word) bool) bool {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if s.pairs[uint16(w)]|s.pairs[uint16(w>>16)]|s.pairs[uint16(w>>32)]|s.pairs[uint16(w>>48)] == 0 {
			continue
		}
		for at := i; at < i+8; at += 2 {
			if list := s.pairs[uint16(w)]; list != 0 && !s.verify(b, at, list, found) {
				return false
			}
			w >>= 16
		}
	}
	for ; i+2 <= len(b); i += 2 {
		if list := s.pairs[pairOf(b[i], b[i+1])]; list != 0 && !s.verify(b, i, list, found) {
			return false
		}
	}
	if i < len(b) { // the last byte has no pair
		for k := range single {
			if w := &s.words[len(s.words)-len(single)+k]; b[i] == w.text[0] {
				return found(i, w)
			}
		}
	}
	return true
}

// verify checks the words that the pair at i may belong to.
func (s *sieve) verify(b []byte, i int, list uint8, found func(at int, w *word) bool) bool {
	for _, p := range s.lists[list] {
		w := &s.words[p.word]
		from := i - p.at
		if from < 0 || from+len(w.text) > len(b) || !equals(b[from:from+len(w.text)], w.text, w.fold) {
			continue
		}
		if !found(from, w) {
			return false
		}
	}
	return true
}

func equals(b []byte, text string, fold bool) bool {
	if !fold {
		return string(b) == text
	}
	for i := range b {
		if c := b[i]; c != text[i] && (c|0x20 != text[i] || text[i] < 'a') {
			return false
		}
	}
	return true
}
