package trace

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace/card"
)

// noted is what the masker has learnt from a conversation: what a client has sent as a
// credential, which the agent may repeat, and where the agent is.
type noted struct {
	secrets []string // the newest last
	// words are those that look like words of the conversation. They are masked only where
	// they are a whole value: in headers, queries and settings.
	words []string
	// named are headers of such words, "x-zone: staple", which are masked as a whole in prose,
	// and by their name in JSON.
	named []string
	bases []string // HOST/PATH of the agent, whose paths are shown
}

const (
	// maxBases bounds the known places of agents.
	maxBases = 64
	// maxNamed bounds the known headers of words, each of which is looked for in several spellings.
	maxNamed = 16
	// maxNoted bounds a credential that is looked for elsewhere: a client may send bodies of
	// any length.
	maxNoted = 16 << 10
	// minPhrase is the length from which several words in a header may be a credential.
	minPhrase = 16
)

// note notes a credential that a client has sent. sure: its name says that it is one;
// any other must look like one, so that no word of the conversation is masked.
func (m *masker) note(value string, sure bool) {
	if len(value) >= minLiteral && len(value) <= maxNoted && (sure || looksSecret(value)) && !slices.Contains(m.noted.secrets, value) {
		m.noted.secrets = appendNew(m.noted.secrets, value, maxSecrets)
		m.setLiterals()
	}
}

// noteWord notes a value of no known name that looks like a word: see noted.words.
func (m *masker) noteWord(value string) {
	if len(value) >= minLiteral && len(value) <= maxName && !looksSecret(value) && !strings.ContainsAny(value, " /") {
		m.noted.words = appendNew(m.noted.words, value, maxSecrets)
	}
}

// noteNamed notes the word of a header: agents tell which headers they have got.
func (m *masker) noteNamed(name, value string) {
	value = value[strings.IndexByte(value, ' ')+1:]
	m.noteWord(value)
	header := strings.ToLower(name) + ": " + value
	if slices.Contains(m.noted.words, value) && strings.Contains(name, "-") && !slices.Contains(m.noted.named, header) {
		m.noted.named = appendNew(m.noted.named, header, maxNamed)
		m.setLiterals()
	}
}

// namesWord reports whether a member of JSON has the name of such a header.
func (m *masker) namesWord(key string) bool {
	return slices.ContainsFunc(m.noted.named, func(header string) bool {
		name, _, _ := strings.Cut(header, ": ")
		return strings.EqualFold(name, key)
	})
}

// withoutWords masks such words in the value of a header, a query or settings.
func (m *masker) withoutWords(value string) string {
	if len(m.noted.words) == 0 {
		return value
	}
	between := func(r rune) bool { return strings.ContainsRune(" ;,=\"", r) }
	at := 0
	for part := range strings.FieldsFuncSeq(value, between) {
		i := at + strings.Index(value[at:], part)
		if at = i + len(part); slices.Contains(m.noted.words, part) {
			value = value[:i] + masked + value[at:]
			at = i + len(masked)
		}
	}
	return value
}

// noteHeader notes a header's value, and the token in "Bearer TOKEN" or "name=TOKEN". Several
// words are a passphrase there; in a body or in settings they are most often a description, or
// what somebody says.
func (m *masker) noteHeader(value string, sure bool) {
	m.note(value, sure || len(value) >= minPhrase && strings.Contains(value, " "))
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ' ' || r == ';' || r == ',' }) {
		m.note(part, sure && looksSecret(part))
		if _, after, ok := strings.Cut(part, "="); ok {
			m.note(strings.Trim(after, `"`), false)
		}
	}
}

// looksSecret reports whether a value may be a credential, and no word of a language, a
// protocol or a file system.
func looksSecret(s string) bool {
	letters, upper, slashes := 0, 0, strings.Count(s, "/")
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
			letters++
		case 'A' <= c && c <= 'Z', c == '_':
			letters++
			upper++
		case c == ' ':
			return false
		}
	}
	switch {
	case letters == len(s) && (len(s) < 24 || upper == len(s)): // a word, or a constant
		return false
	case slashes == 1 && letters == len(s)-1: // a media type or a method
		return false
	case slashes > 1 && strings.IndexAny(s, "/:~.") <= 2, strings.Contains(s, "://"): // a path or a URL
		return false
	}
	return true
}

// sent learns from the head of a client's request.
func (m *masker) sent(h *requestHead) {
	for name, values := range h.header {
		// IDs of sessions and the like are not shown in a header, but mean something elsewhere.
		if id := strings.HasSuffix(plain(name), "id"); shownHeader(name) || id && !secretName(name) {
			continue
		}
		for _, v := range values {
			m.noteHeader(v, secretParam(name))
			m.noteNamed(name, v)
		}
	}
	if h.method == http.MethodGet && baseOf(h.url.Path) != h.url.Path {
		m.isAt(h.url)
	}
	m.noteURL(h.url)
}

// noteURL notes what address masks.
func (m *masker) noteURL(u *url.URL) {
	if password, ok := u.User.Password(); ok {
		m.note(password, true)
	}
	before := ""
	for segment := range strings.SplitSeq(m.below(u.Host, u.Path), "/") {
		if !shownSegment(before, segment) {
			m.note(segment, false)
		}
		before = segment
	}
	m.noteForm(u.RawQuery)
}

// noteForm notes what is in a query or a form.
func (m *masker) noteForm(query string) {
	values, _ := url.ParseQuery(query) // what can be read
	for name, values := range values {
		if shownParam(name) {
			continue
		}
		for _, v := range values {
			m.note(v, secretName(name))
			m.noteWord(v)
			if v == "" { // it may have no name
				m.note(name, false)
			}
		}
	}
}

// noteCard notes where the agent is from its card.
func (m *masker) noteCard(doc []byte) {
	if result := gjson.GetBytes(doc, "result"); result.IsObject() {
		doc = []byte(result.Raw)
	}
	if !card.IsCard(doc) {
		return
	}
	for _, path := range [...]string{"url", "supportedInterfaces.#.url", "additionalInterfaces.#.url"} {
		for _, at := range gjson.GetBytes(doc, path).Array() {
			if u, err := url.Parse(at.Str); err == nil {
				m.isAt(u)
			}
		}
	}
}

// isAt notes a URL of the agent's, or of its card.
func (m *masker) isAt(u *url.URL) {
	if u.Host != "" && len(m.noted.bases) < maxBases {
		m.noted.bases = appendNew(m.noted.bases, u.Host+strings.TrimSuffix(baseOf(u.Path), "/"), maxBases)
	}
}

// baseOf returns the path of the agent whose card is at a path, or else that path.
func baseOf(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, "/.well-known/agent-card.json"), "/.well-known/agent.json")
}

// below returns what follows the longest known base in a path.
func (m *masker) below(host, path string) string {
	rest := path
	for _, base := range m.noted.bases {
		at, ok := strings.CutPrefix(base, host)
		if !ok || at != "" && at[0] != '/' {
			continue
		}
		if r, ok := strings.CutPrefix(path, at); ok && (r == "" || r[0] == '/') && len(r) < len(rest) {
			rest = r
		}
	}
	return rest
}

// address writes a URL with what is not on a list masked: the user, segments of the path
// behind the agent's, values of the query and the fragment.
func (m *masker) address(u *url.URL) string {
	c := *u
	if c.User != nil {
		c.User = url.User(masked)
	}
	rest := m.below(c.Host, c.Path)
	shown := c.Path[:len(c.Path)-len(rest)]
	segments, before := strings.Split(rest, "/"), ""
	for i, s := range segments {
		if !shownSegment(before, s) {
			segments[i] = masked
		}
		before = s
	}
	c.Path, c.RawPath = shown+strings.Join(segments, "/"), ""
	c.RawQuery, c.Fragment, c.RawFragment = m.form(c.RawQuery), "", ""
	s := strings.ReplaceAll(c.String(), url.QueryEscape(masked), masked)
	if u.Fragment != "" {
		s += "#" + masked
	}
	return m.text(s)
}

// form masks the values of a query or a form whose names are not on the list. What has
// no name is masked as well.
func (m *masker) form(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, named := strings.Cut(part, "=")
		decoded, err := url.QueryUnescape(name)
		switch {
		case part == "" || named && value == "":
		case !named && !shownParam(decoded):
			parts[i] = masked
		case err != nil || !shownParam(decoded):
			parts[i] = name + "=" + masked
		case named:
			parts[i] = name + "=" + m.withoutWords(value)
		}
	}
	return strings.Join(parts, "&")
}
