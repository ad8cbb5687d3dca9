package trace

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
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
// has (header, JSON member, URL parameter), by its shape, and by being one of
// the program's own.
type masker struct {
	headers  map[string]bool // canonical names that the user gave
	literals []string        // longest first

	userinfo, query, bearer, shape, assigned *regexp.Regexp
}

func newMasker(header http.Header, secrets []string) *masker {
	m := &masker{
		headers:  map[string]bool{},
		userinfo: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s"'@?#\\]*@`),
		query:    regexp.MustCompile(`([?&;#])([\w.%~\[\]-]+)=([^&\s"'<>#;\\]+)`),
		bearer:   regexp.MustCompile(`(?i)\b(bearer|basic|digest)(\s+)([A-Za-z0-9._~+/=-]{8,})`),
		// Tokens that tell what they are: JWT, OpenAI's and Anthropic's,
		// GitHub's, Google's, Slack's, Amazon's.
		shape: regexp.MustCompile(`\b(eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*|sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|` +
			`AIza[\w-]{30,}|ya29\.[\w.-]{16,}|xox[a-z]-[\w-]{10,}|AKIA[0-9A-Z]{16})`),
		assigned: regexp.MustCompile(`([\w.-]+)["']?\s*[:=]\s*["']?(?:(?i:bearer|basic|digest)\s+)?`),
	}
	add := func(s string) {
		if len(s) >= minLiteral && !slices.Contains(m.literals, s) {
			m.literals = append(m.literals, s)
		}
	}
	for name, values := range header {
		m.headers[http.CanonicalHeaderKey(name)] = true
		for _, v := range values {
			add(v)
			// Of "Bearer TOKEN" the token alone is the secret.
			if _, token, ok := strings.Cut(v, " "); ok {
				add(strings.TrimSpace(token))
			}
		}
	}
	for _, s := range secrets {
		add(s)
	}
	slices.SortFunc(m.literals, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return m
}

// plain brings a name into one spelling: apiKey, api_key and API-Key are one.
func plain(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// secretName reports whether a member of that name holds a credential. Numbers
// of tokens are not tokens.
func secretName(name string) bool {
	name = plain(name)
	for _, part := range []string{"password", "passwd", "passphrase", "secret", "apikey", "authorization",
		"credential", "privatekey", "accesskey", "signingkey", "cookie", "bearer"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasSuffix(name, "token") && name != "nextpagetoken" && name != "pagetoken" ||
		name == "auth" || name == "pwd"
}

// secretParam is secretName for headers and URL parameters, where a key is
// hardly ever anything else.
func secretParam(name string) bool {
	if secretName(name) {
		return true
	}
	name = plain(name)
	return strings.HasSuffix(name, "key") || slices.Contains([]string{"sig", "signature", "code", "assertion", "jwt", "sid", "session", "sessionid"}, name)
}

func (m *masker) header(h http.Header) map[string][]string {
	out := make(map[string][]string, len(h))
	for name, values := range h {
		hide := m.headers[http.CanonicalHeaderKey(name)] || secretParam(name)
		for _, v := range values {
			if hide {
				v = masked
			} else {
				v = m.value(v, maxNested)
			}
			out[name] = append(out[name], v)
		}
	}
	return out
}

func (m *masker) url(u *url.URL) string {
	return m.value(u.String(), maxNested)
}

// literal takes out the program's own credentials.
func (m *masker) literal(s string) string {
	for _, l := range m.literals {
		s = strings.ReplaceAll(s, l, masked)
	}
	return s
}

// value masks what can be told to be a credential without knowing its name.
// nested is how deep JSON within s is looked into.
func (m *masker) value(s string, nested int) string {
	s = m.literal(s)
	if strings.Contains(s, "://") {
		s = m.userinfo.ReplaceAllString(s, "${1}"+masked+"@")
	}
	if strings.ContainsRune(s, '=') {
		s = m.query.ReplaceAllStringFunc(s, func(match string) string {
			name, _, _ := strings.Cut(match[1:], "=")
			if decoded, err := url.QueryUnescape(name); err == nil && secretParam(decoded) {
				return match[:1] + name + "=" + masked
			}
			return match
		})
	}
	s = m.bearer.ReplaceAllStringFunc(s, func(match string) string {
		word := strings.Fields(match)[0]
		// "Basic understanding" is not a credential.
		if !strings.ContainsAny(match[len(word):], "0123456789=._") {
			return match
		}
		return word + " " + masked
	})
	s = m.shape.ReplaceAllString(s, masked)
	if nested > 0 && looksJSON([]byte(s)) && json.Valid([]byte(s)) {
		s = string(m.nested([]byte(s), nested-1))
	}
	return s
}

// text masks what is no JSON: there also by the names before "=" and ":".
func (m *masker) text(s string) string {
	s = m.value(s, maxNested)
	var b strings.Builder
	for {
		at := m.assigned.FindStringSubmatchIndex(s)
		if at == nil {
			b.WriteString(s)
			return b.String()
		}
		name := s[at[2]:at[3]]
		b.WriteString(s[:at[1]])
		s = s[at[1]:]
		if secretName(name) {
			n := strings.IndexAny(s, " \t\r\n\"'&;,<>")
			if n < 0 {
				n = len(s)
			}
			if n > 0 {
				b.WriteString(masked)
			}
			s = s[n:]
		}
	}
}

// cutText takes the beginning of a literal off the end of a text that was cut.
func (m *masker) cutText(s string, cut bool) string {
	if !cut {
		return s
	}
	for _, l := range m.literals {
		for n := len(l) - 1; n > 0; n-- {
			if strings.HasSuffix(s, l[:n]) {
				s = s[:len(s)-n]
				break
			}
		}
	}
	return s
}

// Masked returns a writer that passes text on to out without credentials. Each
// Write is a text of its own: a log's line, say.
func Masked(out io.Writer, opts *Options) io.Writer {
	return maskedWriter{newMasker(opts.Header, opts.Secrets), out}
}

type maskedWriter struct {
	mask *masker
	out  io.Writer
}

func (w maskedWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.out, w.mask.text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
