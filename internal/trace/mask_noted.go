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
	// wordlike are those that look like words of the conversation. They are masked only where
	// they are a whole value: in headers, queries and settings.
	wordlike []string
	// wordHeaders are headers of such words, "x-zone: staple", which are masked as a whole in
	// prose, and by their name in JSON.
	wordHeaders []string
	bases       []string // HOST/PATH of the agent, whose paths are shown
}

const (
	maxBases       = 64 // bounds the known places of agents
	maxWordHeaders = 16 // bounds the known headers of words, each of which is looked for in several spellings
	// maxNoted bounds a credential that is looked for elsewhere: a client may send bodies of
	// any length.
	maxNoted  = 16 << 10
	minPhrase = 16 // the length from which several words in a header may be a credential
)

// noteSecret notes a credential that a client has sent. sure: its name says that it is one;
// any other must look like one, so that no word of the conversation is masked.
func (m *masker) noteSecret(value string, sure bool) {
	if len(value) >= minLiteral && len(value) <= maxNoted && (sure || looksSecret(value)) && !slices.Contains(m.noted.secrets, value) {
		m.noted.secrets = appendNew(m.noted.secrets, value, maxSecrets)
		m.setLiterals()
	}
}

// noteWordlike notes a value of no known name if it looks like a word: see noted.wordlike.
func (m *masker) noteWordlike(value string) {
	if len(value) >= minLiteral && len(value) <= maxName && !looksSecret(value) && !strings.ContainsAny(value, " /") {
		m.noted.wordlike = appendNew(m.noted.wordlike, value, maxSecrets)
	}
}

// noteWordHeader notes the word of a header: agents tell which headers they have got.
func (m *masker) noteWordHeader(name, value string) {
	value = value[strings.IndexByte(value, ' ')+1:]
	m.noteWordlike(value)
	header := strings.ToLower(name) + ": " + value
	if slices.Contains(m.noted.wordlike, value) && strings.Contains(name, "-") && !slices.Contains(m.noted.wordHeaders, header) {
		m.noted.wordHeaders = appendNew(m.noted.wordHeaders, header, maxWordHeaders)
		m.setLiterals()
	}
}

// isWordHeader reports whether a member of JSON has the name of such a header.
func (m *masker) isWordHeader(key string) bool {
	return slices.ContainsFunc(m.noted.wordHeaders, func(header string) bool {
		name, _, _ := strings.Cut(header, ": ")
		return strings.EqualFold(name, key)
	})
}

// hideWords masks such words in the value of a header, a query or settings.
func (m *masker) hideWords(value string) string {
	if len(m.noted.wordlike) == 0 {
		return value
	}
	between := func(r rune) bool { return strings.ContainsRune(" ;,=\"", r) }
	at := 0
	for part := range strings.FieldsFuncSeq(value, between) {
		i := at + strings.Index(value[at:], part)
		if at = i + len(part); slices.Contains(m.noted.wordlike, part) {
			value = value[:i] + stars + value[at:]
			at = i + len(stars)
		}
	}
	return value
}

// noteHeader notes a header's value, and the token in "Bearer TOKEN" or "name=TOKEN". Several
// words are a passphrase there; in a body or in settings they are most often a description, or
// what somebody says.
func (m *masker) noteHeader(value string, sure bool) {
	m.noteSecret(value, sure || len(value) >= minPhrase && strings.Contains(value, " "))
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ' ' || r == ';' || r == ',' }) {
		m.noteSecret(part, sure && looksSecret(part))
		if _, after, ok := strings.Cut(part, "="); ok {
			m.noteSecret(strings.Trim(after, `"`), false)
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

// noteRequest notes the credentials in the head of a client's request, and where the agent is.
func (m *masker) noteRequest(h *requestHead) {
	for name, values := range h.header {
		// IDs of sessions and the like are not shown in a header, but mean something elsewhere.
		if id := strings.HasSuffix(normalName(name), "id"); shownHeader(name) || id && !secretName(name) {
			continue
		}
		for _, v := range values {
			m.noteHeader(v, secretParam(name))
			m.noteWordHeader(name, v)
		}
	}
	if h.method == http.MethodGet && baseOf(h.url.Path) != h.url.Path {
		m.noteBase(h.url)
	}
	m.noteURL(h.url)
}

// noteURL notes what address masks of a URL.
func (m *masker) noteURL(u *url.URL) {
	if password, ok := u.User.Password(); ok {
		m.noteSecret(password, true)
	}
	before := ""
	for segment := range strings.SplitSeq(m.belowBase(u.Host, u.Path), "/") {
		if !shownSegment(before, segment) {
			m.noteSecret(segment, false)
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
			m.noteSecret(v, secretName(name))
			m.noteWordlike(v)
			if v == "" { // it may have no name
				m.noteSecret(name, false)
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
				m.noteBase(u)
			}
		}
	}
}

// noteBase notes the place of an agent by its URL, or its card's.
func (m *masker) noteBase(u *url.URL) {
	if u.Host != "" && len(m.noted.bases) < maxBases {
		m.noted.bases = appendNew(m.noted.bases, u.Host+strings.TrimSuffix(baseOf(u.Path), "/"), maxBases)
	}
}

// baseOf returns the path of the agent whose card is at a path, or else that path.
func baseOf(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, "/.well-known/agent-card.json"), "/.well-known/agent.json")
}

// belowBase returns what follows the longest known base in a path, or all of it.
func (m *masker) belowBase(host, path string) string {
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
		c.User = url.User(stars)
	}
	rest := m.belowBase(c.Host, c.Path)
	shown := c.Path[:len(c.Path)-len(rest)]
	segments, before := strings.Split(rest, "/"), ""
	for i, s := range segments {
		if !shownSegment(before, s) {
			segments[i] = stars
		}
		before = s
	}
	c.Path, c.RawPath = shown+strings.Join(segments, "/"), ""
	c.RawQuery, c.Fragment, c.RawFragment = m.form(c.RawQuery), "", ""
	s := strings.ReplaceAll(c.String(), url.QueryEscape(stars), stars)
	if u.Fragment != "" {
		s += "#" + stars
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
			parts[i] = stars
		case err != nil || !shownParam(decoded):
			parts[i] = name + "=" + stars
		case named:
			parts[i] = name + "=" + m.hideWords(value)
		}
	}
	return strings.Join(parts, "&")
}
