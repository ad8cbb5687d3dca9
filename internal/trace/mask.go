package trace

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	masked = "***"
	// minLiteral is the least length of a user's value that is masked everywhere. Shorter
	// values are words like "dev", which occur everywhere; they are masked in headers
	// only.
	minLiteral = 6
	// maxNested bounds the depth of JSON within JSON's strings.
	maxNested = 3
)

// A masker masks credentials: by the name of a value (header, JSON member, URL
// parameter, assignment in a text), by its shape, or because it is one of the program's
// own. It belongs to one goroutine.
type masker struct {
	headers map[string]bool // canonical names of the user's headers
	// literals are the program's own credentials, plain and as encoders write them. own are
	// those that were known at the beginning; learned are later ones, also among the literals.
	literals, own []string
	later         *Secrets // may be nil
	noted         noted
	learned       *[]string
	sieve         *sieve
	keys          map[string]keyClass // known ones
	found         []span              // of the text in hand
	seam          []byte              // of a text in pieces: two of them
	plain         []byte              // texts without escapes, of the strings that are being read
	strings       []place             // of a document that continues what was said
	special       bool                // the document in hand has members that are not open
	// said is what precedes the text in hand, nil if it stands alone. as is how the
	// document in hand is masked.
	said *said
	as   mode
	// client: a client says it, so that what it hides is a credential, which others may
	// repeat.
	client bool
	redact bool // texts in JSON are replaced by their lengths
}

// A span is a part of a text.
type span struct{ from, to int }

func newMasker(header http.Header, secrets []string, later *Secrets) *masker {
	m := &masker{later: later, headers: map[string]bool{}, keys: map[string]keyClass{}}
	for name, values := range header {
		m.headers[http.CanonicalHeaderKey(name)] = true
		m.own = append(m.own, values...)
	}
	m.own = append(m.own, secrets...)
	m.learned = later.all()
	m.setLiterals()
	return m
}

// learn takes credentials that have become known. Call it before each text that stands
// alone.
func (m *masker) learn() {
	if now := m.later.all(); now != m.learned {
		m.learned = now
		m.setLiterals()
	}
}

func (m *masker) setLiterals() {
	all := slices.Concat(m.own, m.noted.secrets)
	if m.learned != nil {
		all = append(all, *m.learned...)
	}
	var plain []string
	for _, s := range all {
		plain = append(plain, secretIn(s)...)
	}
	for _, header := range m.noted.named {
		name, word, _ := strings.Cut(header, ": ")
		for _, name := range []string{name, http.CanonicalHeaderKey(name)} {
			for _, between := range []string{": ", ":", "=", `": "`, `":"`, `': '`} {
				plain = append(plain, name+between+word)
			}
		}
	}
	m.literals = nil
	for _, s := range plain {
		if len(s) >= minLiteral {
			m.literals = append(m.literals, spelled(s)...)
		}
	}
	m.literals = slices.DeleteFunc(m.literals, func(s string) bool { return len(s) < minLiteral })
	slices.Sort(m.literals)
	m.literals = slices.Compact(m.literals)
	m.sieve = newSieve(m.literals)
}

// secretIn lists what is secret in a credential: itself; in "Bearer TOKEN" the token; in
// USER:PASSWORD, which Basic authentication sends in base64 (RFC 7617), the password.
func secretIn(s string) (list []string) {
	_, token, _ := strings.Cut(s, " ")
	for _, part := range []string{s, strings.TrimSpace(token)} {
		list = append(list, part)
		plain, err := base64.StdEncoding.DecodeString(part)
		if err == nil && utf8.Valid(plain) && strings.Contains(string(plain), ":") {
			part = string(plain)
			list = append(list, part)
		}
		if _, password, ok := strings.Cut(part, ":"); ok && !strings.HasPrefix(password, "//") {
			list = append(list, password)
		}
	}
	return list
}

// appendNew appends what a list has not, and keeps so many of the newest.
func appendNew(list []string, s string, most int) []string {
	if slices.Contains(list, s) {
		return list
	}
	list = append(list, s)
	return list[max(0, len(list)-most):]
}

// spelled lists the forms of a value in JSON, in JSON within JSON, in a URL and in a
// header.
func spelled(s string) []string {
	list := []string{s, url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s))}
	for range 2 {
		quoted, _ := json.Marshal(s) // with <, > and & escaped
		html := strings.Trim(string(quoted), `"`)
		simple := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(html)
		list = append(list, html, simple, strings.ReplaceAll(simple, "/", `\/`))
		s = simple
	}
	return list
}

// A scope is what is looked for in a text.
type scope uint8

const (
	inText   scope = iota // credentials
	inPieces              // also what may become one when the text goes on
	ownOnly               // the program's own credentials
)

// span is a word's, if it is looked for.
func (want scope) span(w *word, b []byte, at int, r *runs) (span, bool) {
	if want == ownOnly && w.kind != wordLiteral {
		return span{}, false
	}
	s, ok, open := w.span(b, at, r)
	return s, ok || want == inPieces && open && s.to-s.from >= minPiece
}

// find returns what to mask in a text, in order, without overlaps, and where the last word is.
// No word ends before b[from]. The spans are valid until the next call.
func (m *masker) find(b []byte, from int, want scope) (spans []span, last int) {
	m.found, last = m.found[:0], -1
	var r runs
	m.sieve.each(b, from, func(at int, w *word) {
		last = max(last, at)
		if s, ok := want.span(w, b, at, &r); ok {
			m.found = append(m.found, s)
		}
	})
	m.spelledSpans(b, want)
	return merge(m.found), last
}

// release drops large buffers.
func (m *masker) release() {
	if max(cap(m.seam), cap(m.plain), cap(m.found)) > 1<<20 {
		m.seam, m.plain, m.found = nil, nil, nil
	}
}

// spans is find for a text that stands alone.
func (m *masker) spans(b []byte) []span {
	spans, _ := m.find(b, 0, inText)
	return spans
}

// merge sorts spans, and joins those that overlap.
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

// replace returns b with its spans masked; b itself, if there are none.
func replace(b []byte, spans []span) (masks []byte) {
	if len(spans) == 0 {
		return b
	}
	at := 0
	for _, s := range spans {
		masks = append(append(masks, b[at:s.from]...), masked...)
		at = s.to
	}
	return append(masks, b[at:]...)
}

// text masks a text that is not JSON.
func (m *masker) text(s string) string { return string(replace([]byte(s), m.spans([]byte(s)))) }

// header masks headers: their values show only if the name is on the list.
func (m *masker) header(h http.Header) map[string][]string {
	out := make(map[string][]string, len(h))
	for name, values := range h {
		hide := m.headers[http.CanonicalHeaderKey(name)] || !shownHeader(name)
		for _, v := range values {
			if u, err := url.Parse(v); hide {
				v = masked
			} else if listed(addressHeaders, strings.ToLower(name)) && err == nil {
				v = m.address(u)
			} else {
				v = m.withoutWords(m.text(v))
			}
			out[name] = append(out[name], v)
		}
	}
	return out
}
