package trace

import (
	"bytes"
	"net/url"
)

// span returns what to mask because of a word at b[at]. ok: that is a credential. open: it
// becomes one when b goes on in a certain way. r is of b, too.
func (w *word) span(b []byte, at int, r *runs) (s span, ok, open bool) {
	switch w.kind {
	case wordName:
		s, ok = assigned(b, at, at+len(w.text), r)
	case wordScheme:
		if s, ok = afterScheme(b, at+len(w.text)); !ok {
			s, ok = assigned(b, at, at+len(w.text), r)
		}
	case wordURL:
		s, ok, open = userinfo(b, at)
	case wordEquals:
		s, ok = parameter(b, at, r)
	case wordLiteral:
		s = span{at, min(at+len(w.literal), len(b))}
		begins := string(b[at:s.to]) == w.literal[:s.to-at]
		ok, open = begins && s.to-at == len(w.literal), begins
	case wordShape:
		s.from = at
		s.to, ok, open = w.shape.end(b, at, r)
	case wordBlock:
		s, ok = privateKey(b, at, at+len(w.text), r)
	}
	return s, ok && s.to > s.from, open
}

// privateKey returns the private key in PEM whose first line has b[from:to].
func privateKey(b []byte, from, to int, r *runs) (span, bool) {
	if !bytes.Contains(b[max(0, from-len("-----BEGIN ENCRYPTED ")):from], []byte("BEGIN")) {
		return span{}, false
	}
	return span{to, r.end(runKey, b, to)}, true
}

func nameByte(c byte) bool { return charsDot.has(c) }

// isQuote reports whether c quotes a value, or is the backslash before a quote in a
// nested text.
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' || c == '\\' }

// assigned returns the value behind a secret name that has b[from:to]: NAME=VALUE,
// "NAME": "VALUE", NAME := 'VALUE', NAME: Bearer VALUE.
func assigned(b []byte, from, to int, r *runs) (span, bool) {
	for from > 0 && nameByte(b[from-1]) && to-from <= maxName {
		from--
	}
	for to < len(b) && nameByte(b[to]) && to-from <= maxName {
		to++
	}
	from = behindEscape(b, from)
	i := skip(b, to, isQuote)
	i = skip(b, i, isBlank)
	if i >= len(b) || b[i] != ':' && b[i] != '=' || to-from > maxName || !secretName(string(b[from:to])) {
		return span{}, false
	}
	for i++; i < len(b) && (b[i] == '=' || b[i] == '>'); i++ { // := and =>
	}
	return valueAt(b, skip(b, i, isBlank), r)
}

// behindEscape returns the beginning of a name: from, or behind the letter of an escape, as
// in \nPASS=x.
func behindEscape(b []byte, from int) int {
	if from > 0 && from < len(b) && b[from-1] == '\\' && bytes.IndexByte([]byte("bfnrt"), b[from]) >= 0 {
		return from + 1
	}
	return from
}

// valueAt returns the value that begins at i, without quotes and the scheme of Bearer VALUE.
// false: it is empty, or masked already.
func valueAt(b []byte, i int, r *runs) (span, bool) {
	quote, from := byte(0), i
	if i = skip(b, i, isQuote); i > from {
		quote = b[i-1]
	}
	for _, scheme := range [...]string{"bearer", "basic", "digest"} {
		if end := i + len(scheme); end < len(b) && equals(b[i:end], scheme, true) && isBlank(b[end]) {
			i = skip(b, end, isBlank)
		}
	}
	end := i
	switch {
	case quote != 0 && quote != '\\':
		for end < len(b) && b[end] != quote && b[end] != '\n' {
			end++
		}
		// The backslash before a quote that stands within another text.
		for end > i && end < len(b) && b[end-1] == '\\' {
			end--
		}
	case i < len(b) && (b[i] == '[' || b[i] == '{'):
		end = r.end(runBrackets, b, i)
	default:
		end = r.end(runValue, b, i)
	}
	return span{i, end}, end > i && string(b[i:end]) != stars
}

// closing returns the index behind the bracket that closes the one at i, or len(b).
func closing(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// afterScheme returns the token behind Bearer, Basic or Digest, which ends at i. Not
// each such word is a scheme: "basic understanding".
func afterScheme(b []byte, i int) (span, bool) {
	from := skip(b, i, isBlank)
	if from == i {
		return span{}, false
	}
	end, plain := from, true
	for ; end < len(b) && (charsDot.has(b[end]) || bytes.IndexByte([]byte("~+/="), b[end]) >= 0); end++ {
		c := b[end]
		plain = plain && c != '.' && c != '_' && c != '=' && (c < '0' || c > '9')
	}
	return span{from, end}, end-from >= 8 && (!plain || end-from >= 24)
}

// userinfo returns what stands between "://" at i and an @ before the host. open: the text ends before
// that, and has what is no port.
func userinfo(b []byte, i int) (s span, ok, open bool) {
	if i == 0 || !nameByte(b[i-1]) {
		return span{}, false, false
	}
	from, at := i+len("://"), -1
	for k := from; k < len(b); k++ {
		switch c := b[k]; {
		case c == '@':
			at = k
		case c <= ' ' || bytes.IndexByte([]byte(`/"'?#\<>`), c) >= 0:
			return span{from, at}, at > from, false
		case b[k-1] == ':' && k > from+1:
			open = open || (c < '0' || c > '9') && b[from] != '['
		}
	}
	if at < 0 {
		at = len(b)
		return span{from, at}, false, open
	}
	return span{from, at}, at > from, false
}

// parameter returns the value of a URL or form parameter whose name ends at i.
func parameter(b []byte, i int, r *runs) (span, bool) {
	from := i
	for from > 0 && (nameByte(b[from-1]) || bytes.IndexByte([]byte("%~[]"), b[from-1]) >= 0) {
		from--
	}
	name := string(b[behindEscape(b, from):i])
	if is := normalName(name); is == "auth" || is == "pass" {
		return valueAt(b, i+1, r) // like assigned; the sieve knows longer words only
	}
	if name == "" || len(name) > maxName || from > 0 && bytes.IndexByte([]byte("?&;#"), b[from-1]) < 0 {
		return span{}, false
	}
	if decoded, err := url.QueryUnescape(name); err == nil {
		name = decoded
	}
	switch {
	case from > 0 && inURL(b, from): // there, what is not on the list is masked
		if shownParam(name) {
			return span{}, false
		}
	case from == 0 && !secretName(name), !secretParam(name):
		// With nothing before it, it is a form's first parameter, or an assignment.
		return span{}, false
	}
	end := r.end(runParam, b, i+1)
	return span{i + 1, end}, end > i+1
}

// maxURL bounds how far a URL is searched for its beginning.
const maxURL = 2 << 10

// inURL reports whether what stands before i is a URL.
func inURL(b []byte, i int) bool {
	b = b[max(0, i-maxURL):i]
	b = b[bytes.LastIndexAny(b, " \t\r\n\"'<>`")+1:]
	return bytes.Contains(b, []byte("://"))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// skip returns the first index from i on where of is false.
func skip(b []byte, i int, of func(byte) bool) int {
	for i < len(b) && of(b[i]) {
		i++
	}
	return i
}
