package trace

// A shape is a kind of token that begins in a known way.
type shape struct {
	lead  string // its first bytes
	pairs [2]int // of lead: see word
	// any is how many bytes of any letter follow lead, then the byte after.
	any   int
	after byte
	// least is the least number of following bytes of chars, in each of parts, which dots
	// separate.
	least int
	parts int
	chars charset
}

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
func shapes() []shape {
	return []shape{
		{lead: "eyJ", pairs: [2]int{0, 1}, least: 5, parts: 3, chars: charsDash},
		{lead: "sk-", pairs: [2]int{0, 1}, least: 16, chars: charsDash},
		{lead: "ghp_", pairs: [2]int{0, 1}, least: 20, chars: charsWord},
		{lead: "gho_", pairs: [2]int{0, 1}, least: 20, chars: charsWord},
		{lead: "ghu_", pairs: [2]int{0, 1}, least: 20, chars: charsWord},
		{lead: "ghs_", pairs: [2]int{0, 1}, least: 20, chars: charsWord},
		{lead: "ghr_", pairs: [2]int{0, 1}, least: 20, chars: charsWord},
		{lead: "github_pat_", pairs: [2]int{6, 5}, least: 20, chars: charsWord},
		{lead: "glpat-", pairs: [2]int{0, 1}, least: 16, chars: charsDash},
		{lead: "AIza", pairs: [2]int{0, 1}, least: 30, chars: charsDash},
		{lead: "ya29.", pairs: [2]int{2, 3}, least: 16, chars: charsDot},
		{lead: "xox", pairs: [2]int{0, 1}, any: 1, after: '-', least: 10, chars: charsDash},
		{lead: "xapp-", pairs: [2]int{0, 3}, least: 10, chars: charsDash},
		{lead: "AKIA", pairs: [2]int{0, 1}, least: 16, chars: charsUpper},
		{lead: "ASIA", pairs: [2]int{0, 1}, least: 16, chars: charsUpper},
		{lead: "sk_live_", pairs: [2]int{2, 1}, least: 16, chars: charsWord},
		{lead: "sk_test_", pairs: [2]int{2, 1}, least: 16, chars: charsWord},
		{lead: "rk_live_", pairs: [2]int{2, 1}, least: 16, chars: charsWord},
		{lead: "whsec_", pairs: [2]int{4, 3}, least: 16, chars: charsWord},
		{lead: "hf_", pairs: [2]int{0, 1}, least: 20, chars: charsWord},
		{lead: "gsk_", pairs: [2]int{0, 1}, least: 20, chars: charsWord},
		{lead: "npm_", pairs: [2]int{0, 1}, least: 30, chars: charsWord},
		{lead: "SG.", pairs: [2]int{0, 1}, least: 16, parts: 2, chars: charsDash},
	}
}

// begin returns where the part behind the lead begins, which may be behind the end of
// b. It is negative if the lead is not one of this shape.
func (s *shape) begin(b []byte, at int) int {
	i := at + len(s.lead)
	for range s.any {
		if i < len(b) && !charsWord.has(b[i]) {
			return -1
		}
		i++
	}
	if s.after != 0 {
		if i < len(b) && b[i] != s.after {
			return -1
		}
		i++
	}
	return i
}

// end returns the end of a token of this shape at b[at]. open: it reaches the end of b,
// so more may follow. ok: it is such a token.
func (s *shape) end(b []byte, at int) (end int, open, ok bool) {
	if at > 0 && charsWord.has(b[at-1]) {
		return 0, false, false
	}
	i := s.begin(b, at)
	if i < 0 {
		return 0, false, false
	}
	if i >= len(b) {
		return len(b), true, false
	}
	for part := 0; ; part++ {
		from := i
		for i < len(b) && s.chars.has(b[i]) {
			i++
		}
		last := part+1 >= s.parts
		switch {
		case i == len(b):
			return i, true, last && (i-from >= s.least || s.parts > 2)
		case last && s.parts > 2: // what is behind a JWT's last dot may be nothing
			return i, false, true
		case i-from < s.least:
			return 0, false, false
		case last:
			return i, false, true
		case b[i] != '.':
			return 0, false, false
		}
		i++
	}
}
