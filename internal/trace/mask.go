package trace

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	stars = "***" // in place of a credential
	// minLiteral is the least length of a user's value that is masked everywhere. Shorter
	// values are words like "dev", which occur everywhere; they are masked in headers
	// only.
	minLiteral = 6
	maxNested  = 3 // bounds the depth of JSON within JSON's strings
)

// A masker masks credentials: by the name of a value (header, JSON member, URL
// parameter, assignment in a text), by its shape, or because it is one of the program's
// own. It belongs to one goroutine.
type masker struct {
	headers map[string]bool // canonical names of the user's headers
	// literals are the program's own credentials, and noted ones, plain and as encoders write
	// them. own were known at the beginning; learned are those of later.
	literals, own []string
	later         *Secrets // may be nil
	noted         noted
	learned       *[]string
	sieve         *sieve
	keys          map[string]keyClass // known ones
	found         []span              // of the text in hand
	seam          []byte              // the end of a text, and its next piece
	unescaped     []byte              // texts without escapes, of the strings that are being read
	redact        bool                // texts in JSON are replaced by their lengths

	// The document in hand:
	mode    mode      // how it is masked
	tail    *textTail // the text that it continues, or nil
	places  []place   // of its strings, if it continues a text
	special bool      // some of its members are not in modeOpen
	// fromClient: a client has sent it. What is hidden in it is a credential, which others may
	// repeat.
	fromClient bool
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

// learnSecrets takes credentials that have become known. Call it before each text that
// stands alone.
func (m *masker) learnSecrets() {
	if now := m.later.all(); now != m.learned {
		m.learned = now
		m.setLiterals()
	}
}

// setLiterals makes literals, and the sieve, of all credentials that are known.
func (m *masker) setLiterals() {
	all := slices.Concat(m.own, m.noted.secrets)
	if m.learned != nil {
		all = append(all, *m.learned...)
	}
	var plain []string
	for _, s := range all {
		plain = append(plain, secretIn(s)...)
	}
	for _, header := range m.noted.wordHeaders {
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
			m.literals = append(m.literals, encodings(s)...)
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

// appendNew appends s to a list that does not have it, of which it keeps the newest.
func appendNew(list []string, s string, most int) []string {
	if slices.Contains(list, s) {
		return list
	}
	list = append(list, s)
	return list[max(0, len(list)-most):]
}

// encodings lists the forms of a value in JSON, in JSON within JSON, in a URL and in a
// header, and the value itself.
func encodings(s string) []string {
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

// span returns what to mask in this scope because of the word at b[at]; false for nothing.
func (want scope) span(w *word, b []byte, at int, r *runs) (span, bool) {
	if want == ownOnly && w.kind != wordLiteral {
		return span{}, false
	}
	s, ok, open := w.span(b, at, r)
	return s, ok || want == inPieces && open && s.to-s.from >= minPiece
}

// find returns what to mask in a text, in order, without overlaps, and where the last word
// is, -1 for none. No word ends before b[from]. The spans are valid until the next call.
func (m *masker) find(b []byte, from int, want scope) (spans []span, last int) {
	m.found, last = m.found[:0], -1
	var r runs
	m.sieve.each(b, from, func(at int, w *word) {
		last = max(last, at)
		if s, ok := want.span(w, b, at, &r); ok {
			m.found = append(m.found, s)
		}
	})
	m.encodedSpans(b, want)
	return merge(m.found), last
}

// release drops large buffers.
func (m *masker) release() {
	if max(cap(m.seam), cap(m.unescaped), cap(m.found)) > 1<<20 {
		m.seam, m.unescaped, m.found = nil, nil, nil
	}
}

// hide masks a text that stands alone; it returns b itself if nothing is masked.
func (m *masker) hide(b []byte, want scope) []byte {
	spans, _ := m.find(b, 0, want)
	return replace(b, spans)
}

// merge sorts spans, and joins those that overlap.
func merge(list []span) []span {
	if len(list) < 2 {
		return list
	}
	slices.SortFunc(list, func(a, b span) int { return a.from - b.from })
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
		masks = append(append(masks, b[at:s.from]...), stars...)
		at = s.to
	}
	return append(masks, b[at:]...)
}

// text masks a text that is not JSON.
func (m *masker) text(s string) string { return string(m.hide([]byte(s), inText)) }

// header masks headers: their values show only if the name is on the list.
func (m *masker) header(h http.Header) map[string][]string {
	out := make(map[string][]string, len(h))
	for name, values := range h {
		hide := m.headers[http.CanonicalHeaderKey(name)] || !shownHeader(name)
		for _, v := range values {
			if u, err := url.Parse(v); hide {
				v = stars
			} else if listed(addressHeaders, strings.ToLower(name)) && err == nil {
				v = m.address(u)
			} else {
				v = m.hideWords(m.text(v))
			}
			out[name] = append(out[name], v)
		}
	}
	return out
}
