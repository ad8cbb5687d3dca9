package trace

import "strings"

// A shape is a kind of token that begins in a known way.
type shape struct {
	lead string // its first bytes; "?" stands for any letter
	// least is the least number of following bytes of chars, in each of parts, which dots
	// separate.
	least int
	parts int
	chars charset
}

// A charset is a set of the characters of tokens.
type charset uint8

const (
	charsWord  charset = iota // letters, digits, _
	charsDash                 // those, and -
	charsDot                  // those, and .
	charsUpper                // A to Z, digits
)

func (c charset) has(b byte) bool {
	switch {
	case '0' <= b && b <= '9' || 'A' <= b && b <= 'Z':
		return true
	case 'a' <= b && b <= 'z' || b == '_':
		return c != charsUpper
	case b == '-':
		return c == charsDash || c == charsDot
	case b == '.':
		return c == charsDot
	}
	return false
}

// shapes are the tokens that people are likely to mention to an agent: JSON Web Tokens,
// and those of OpenAI, Anthropic, GitHub, GitLab, Google, Slack, Amazon, Stripe,
// Hugging Face, Groq, npm and SendGrid.
func shapes() (list []shape) {
	for _, kind := range []struct {
		leads string
		shape
	}{
		{"eyJ", shape{least: 5, parts: 3, chars: charsDash}},
		{"sk- glpat-", shape{least: 16, chars: charsDash}},
		{"ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ hf_ gsk_", shape{least: 20, chars: charsWord}},
		{"sk_live_ sk_test_ rk_live_ whsec_", shape{least: 16, chars: charsWord}},
		{"npm_", shape{least: 30, chars: charsWord}},
		{"AIza", shape{least: 30, chars: charsDash}},
		{"ya29.", shape{least: 16, chars: charsDot}},
		// By one lead: nine that end in "a-" to "s-" would have the sieve stop within each UUID.
		{"xox?- xapp-", shape{least: 10, chars: charsDash}},
		{"AKIA ASIA", shape{least: 16, chars: charsUpper}},
		{"SG.", shape{least: 16, parts: 2, chars: charsDash}},
	} {
		for lead := range strings.FieldsSeq(kind.leads) {
			kind.lead = lead
			list = append(list, kind.shape)
		}
	}
	return list
}

// end returns the end of a token of this shape at b[at]. ok: it is such a token. open: it
// reaches the end of b, so more may follow, and it need not be one yet.
func (s *shape) end(b []byte, at int, r *runs) (end int, ok, open bool) {
	if at > 0 && charsWord.has(b[at-1]) {
		return 0, false, false
	}
	i := at + len(s.lead)
	kinds := [...]run{run(s.chars), runSecond, runThird} // each part is read once for all tokens that begin before it
	for part := 0; ; part++ {
		from := i
		i = r.end(kinds[part], b, i)
		last := part+1 >= s.parts
		switch {
		case i == len(b):
			return i, last && (i-from >= s.least || s.parts > 2), true
		case last && s.parts > 2: // what is behind a JWT's last dot may be nothing
			return i, true, false
		case i-from < s.least:
			return 0, false, false
		case last:
			return i, true, false
		case b[i] != '.':
			return 0, false, false
		}
		i++
	}
}
