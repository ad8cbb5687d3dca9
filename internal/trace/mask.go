package trace

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
)

const (
	masked = "***"
	// minLiteral is how long a value that the user gave must be to be masked
	// wherever it turns up. Shorter ones are words like "dev", which stand
	// everywhere; they are masked where they are a header.
	minLiteral = 6
	// maxNested is how deep JSON within strings of JSON is looked into.
	maxNested = 3
)

// A masker takes credentials out of what is recorded: by the name that a value
// has (header, JSON member, URL parameter, assignment in a text), by its shape,
// and by being one of the program's own. It belongs to one goroutine.
type masker struct {
	headers map[string]bool // canonical names that the user gave
	// literals are the program's own credentials, as they are and as encoders
	// write them, longest first; own are those as they are that were known at the
	// beginning, and learned are those of later that are among the literals.
	literals, own [][]byte
	later         *Secrets // may be nil
	learned       *[]string
	sieve         *sieve
	keys, names   keyCache
	found         []span // of the text in hand
	seam, piece   []byte // of a text that comes in pieces: two of them, and one without escapes
	// said is what the text in hand goes on from, nil if it stands alone; pushes
	// says that the document in hand answers a call about push notifications.
	said   *said
	pushes bool
}

// A span is a part of a text.
type span struct{ from, to int }

func newMasker(header http.Header, secrets []string, later *Secrets) *masker {
	m := &masker{later: later, headers: map[string]bool{}, keys: keyCache{of: classOf}, names: keyCache{of: classOfName}}
	for name, values := range header {
		m.headers[http.CanonicalHeaderKey(name)] = true
		for _, v := range values {
			m.own = appendLiteral(m.own, v)
			// Of "Bearer TOKEN" the token alone is the secret.
			if _, token, ok := strings.Cut(v, " "); ok {
				m.own = appendLiteral(m.own, strings.TrimSpace(token))
			}
		}
	}
	for _, s := range secrets {
		m.own = appendLiteral(m.own, s)
	}
	m.learned = later.all()
	m.setLiterals()
	return m
}

// learn looks whether credentials have become known since. Whoever masks calls it
// before each text that stands alone.
func (m *masker) learn() {
	if now := m.later.all(); now != m.learned {
		m.learned = now
		m.setLiterals()
	}
}

func (m *masker) setLiterals() {
	m.literals = nil
	add := func(secret string) {
		for _, s := range spelled(secret) {
			m.literals = appendLiteral(m.literals, s)
		}
	}
	for _, l := range m.own {
		add(string(l))
	}
	if m.learned != nil {
		for _, s := range *m.learned {
			add(s)
		}
	}
	sort.Slice(m.literals, func(i, j int) bool { return len(m.literals[i]) > len(m.literals[j]) })
	m.sieve = newSieve(m.literals)
}

func appendLiteral(list [][]byte, s string) [][]byte {
	if len(s) < minLiteral || slices.ContainsFunc(list, func(l []byte) bool { return string(l) == s }) {
		return list
	}
	return append(list, []byte(s))
}

// spelled are the ways in which a value may stand in JSON, in JSON within JSON,
// in a URL and in a header.
func spelled(s string) []string {
	list := []string{s, url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s))}
	for range 2 {
		quoted, err := json.Marshal(s) // with <, > and & escaped
		if err != nil {
			return list
		}
		html := strings.Trim(string(quoted), `"`)
		simple := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(html)
		list = append(list, html, simple, strings.ReplaceAll(simple, "/", `\/`))
		s = simple
	}
	return list
}

// spans returns what is to be masked in a text, in order and apart. It is valid
// until the next call.
func (m *masker) spans(b []byte) []span { return m.find(b, false) }

// find is spans; of the program's own credentials only, if own is set.
func (m *masker) find(b []byte, own bool) []span {
	m.found = m.found[:0]
	m.sieve.each(b, func(at int, w *word) bool {
		if own && w.kind != wordLiteral {
			return true
		}
		if s, ok := w.span(b, at); ok && s.to > s.from {
			m.found = append(m.found, s)
		}
		return true
	})
	return merge(m.found)
}

// merge brings spans in order, and makes one of those that overlap.
func merge(list []span) []span {
	if len(list) < 2 {
		return list
	}
	sort.Slice(list, func(i, j int) bool { return list[i].from < list[j].from })
	kept := list[:1]
	for _, s := range list[1:] {
		if last := &kept[len(kept)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			kept = append(kept, s)
		}
	}
	return kept
}

// replace appends b with its spans masked.
func replace(dst, b []byte, spans []span) []byte {
	at := 0
	for _, s := range spans {
		dst = append(append(dst, b[at:s.from]...), masked...)
		at = s.to
	}
	return append(dst, b[at:]...)
}

// text masks what is no JSON document.
func (m *masker) text(s string) string {
	spans := m.spans([]byte(s))
	if len(spans) == 0 {
		return s
	}
	return string(replace(nil, []byte(s), spans))
}

// header masks headers.
func (m *masker) header(h http.Header) map[string][]string {
	out := make(map[string][]string, len(h))
	for name, values := range h {
		hide := m.headers[http.CanonicalHeaderKey(name)] || secretParam(name)
		for _, v := range values {
			if hide {
				v = masked
			} else {
				v = m.text(v)
			}
			out[name] = append(out[name], v)
		}
	}
	return out
}
