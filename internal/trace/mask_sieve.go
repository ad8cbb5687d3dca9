package trace

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

// A word is a text that each credential has in or near it. The sieve looks closer where
// two neighbouring bytes of it are, at the index pair: they are chosen to be rare in
// JSON and English. A word of one byte has no pair.
type word struct {
	text  string
	fold  bool // in any case
	pair  int
	kind  wordKind
	shape shape
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
		{text: "token", fold: true, pair: 2},
		{text: "bearer", fold: true, kind: wordScheme},
		{text: "basic", fold: true, pair: 3, kind: wordScheme},
		{text: "://", kind: wordURL},
		{text: "PRIVATE KEY-----", pair: 2, kind: wordBlock},
		{text: "pushnotificationconfig", fold: true, pair: 3, kind: wordPush},
		{text: "agent-settings", pair: 5, kind: wordPush},
		// Some encoders write & as \u0026.
		{text: `\u00`, kind: wordEscape},
		{text: `\/`, kind: wordEscape},
		{text: "=", kind: wordEquals},
		{text: "%", kind: wordSpelled},
		{text: "&", kind: wordSpelled},
	}
	for _, s := range shapes() {
		list = append(list, word{text: s.lead, pair: rarest(s.lead), kind: wordShape, shape: s})
	}
	return list
}

// A sieve finds words in one pass. A pair that is in no word costs one table look-up,
// and most bytes have no word. Regular expressions are far slower; the trace must cost
// less than what it records.
type sieve struct {
	// lists has for each pair of bytes the words that have it; pairs is where that is in
	// lists; 0: none.
	pairs [1 << 16]uint16
	lists [][]*word
	words []word
}

// newSieve makes the tables, of 128 KiB. literals become words, too.
func newSieve(literals []string) *sieve {
	s := &sieve{lists: make([][]*word, 1), words: words()}
	for _, l := range literals {
		s.words = append(s.words, word{text: l, kind: wordLiteral, pair: rarest(l)})
	}
	for i := range s.words {
		w := &s.words[i]
		for _, a := range spellings(w.text[w.pair], w.fold) {
			if len(w.text) == 1 {
				for b := range 256 {
					s.add(a, byte(b), w)
				}
				continue
			}
			for _, b := range spellings(w.text[w.pair+1], w.fold) {
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

func spellings(c byte, fold bool) []byte {
	if fold && 'a' <= c && c <= 'z' {
		return []byte{c, c &^ 0x20}
	}
	return []byte{c}
}

// each calls found for each word in b until it returns false, and reports whether it
// reached the end.
func (s *sieve) each(b []byte, found func(at int, w *word) bool) bool {
	for i := 1; i < len(b); i++ {
		if list := s.pairs[pairOf(b[i-1], b[i])]; list != 0 && !s.verify(b, i-1, list, found) {
			return false
		}
	}
	// The last byte may be a word.
	last := len(b) - 1
	return last < 0 || s.verify(b, last, s.pairs[pairOf(b[last], 0)], found)
}

// verify checks the words that the pair at i may belong to.
func (s *sieve) verify(b []byte, i int, list uint16, found func(at int, w *word) bool) bool {
	for _, w := range s.lists[list] {
		from := i - w.pair
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
	for i := range b { // the first byte tells mostly, so strings.EqualFold would cost more
		if c := b[i]; c != text[i] && (c|0x20 != text[i] || text[i] < 'a') {
			return false
		}
	}
	return true
}
