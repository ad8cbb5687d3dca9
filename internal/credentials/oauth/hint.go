package oauth

import (
	"regexp"
	"strings"
)

// A Hint is what an agent's 401 tells about authentication (RFC 6750, §3).
type Hint struct {
	// Scheme is the first named scheme, in lower case.
	Scheme string
	Scopes []string
}

// ReadHint reads an answer's WWW-Authenticate headers.
func ReadHint(headers []string) (h Hint) {
	// Compiled here: nearly no run needs it.
	parameter := regexp.MustCompile(`([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))`)
	for _, header := range headers {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
		if scheme = strings.ToLower(scheme); h.Scheme == "" {
			h.Scheme = scheme
		}
		if scheme != "bearer" {
			continue
		}
		h.Scheme = scheme
		for _, m := range parameter.FindAllStringSubmatch(rest, 32) {
			if strings.EqualFold(m[1], "scope") {
				h.Scopes = strings.Fields(plain(m[2] + m[3]))
			}
		}
		break
	}
	return h
}
