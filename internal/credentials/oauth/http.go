package oauth

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
)

const (
	// requestTime bounds a request to a provider. Users wait for a sign-in, and a prompt
	// waits for a renewal.
	requestTime = 20 * time.Second
	// maxAnswer bounds an answer. Key sets have some kB, tokens of users in many groups
	// some ten.
	maxAnswer = 1 << 20
	// maxRedirects bounds redirects of metadata within one origin.
	maxRedirects = 3
)

// NewHTTP makes the client for an identity provider. config has the trusted
// authorities; nil: the system's. It shows no client certificate, and verifies
// certificates whatever config says: these secrets open more than one agent.
func NewHTTP(config *tls.Config) *http.Client {
	own := &tls.Config{MinVersion: tls.VersionTLS12}
	if config != nil {
		own.RootCAs = config.RootCAs
	}
	return &http.Client{
		Timeout: requestTime,
		Transport: limited{&http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			TLSClientConfig:       own,
			ForceAttemptHTTP2:     true,
			TLSHandshakeTimeout:   requestTime,
			ResponseHeaderTimeout: requestTime,
			// The next renewal is an hour away, so no connection stays open.
			IdleConnTimeout: 10 * time.Second,
		}},
		// A redirected POST would carry a code or a refresh token along. Metadata are redirected by
		// Django's OAuth Toolkit before 2.4, which adds a slash.
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet {
				return http.ErrUseLastResponse
			}
			if len(via) > maxRedirects || !safe.SameOrigin(req.URL, via[0].URL) {
				return fmt.Errorf("it redirects to %s", plain(safe.Shown(req.URL)))
			}
			return nil
		},
	}
}

// limited bounds an answer.
type limited struct{ next http.RoundTripper }

func (l limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	return resp, nil
}

// An Error is a provider's refusal, or why it was not reached.
type Error struct {
	Provider string // names it
	// Code is OAuth's (RFC 6749, §5.2; RFC 8628, §3.5), "" if the provider gave
	// none.
	Code string
	// Passing: it may succeed in a moment, so nothing is lost.
	Passing bool
	status  int // of the answer; 0: there was none
	text    string
}

func (e *Error) Error() string { return "the identity provider " + e.Provider + " " + e.text }

// refused makes an error of a provider's answer. secrets were sent: a provider may
// quote them.
func refused(provider, what string, resp *http.Response, code, description string, secrets ...string) *Error {
	e := &Error{Provider: provider, Code: code}
	if resp != nil {
		e.status = resp.StatusCode
	}
	status := e.status
	e.Passing = status >= 500 || status == http.StatusTooManyRequests || code == "temporarily_unavailable" || code == "server_error"
	e.text = "refuses " + what
	var said []string
	if code != "" {
		said = append(said, quoted(code, secrets))
	} else if status != 0 {
		said = append(said, fmt.Sprintf("HTTP %d", status))
	}
	if description != "" {
		said = append(said, quoted(description, secrets))
	}
	if len(said) > 0 {
		e.text += " (" + strings.Join(said, ": ") + ")"
	}
	return e
}

// quoted makes a provider's text fit to be shown: without the secrets, on one line,
// short.
func quoted(s string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return plain(s)
}

// plain makes one short line of a foreign text, without control characters.
func plain(s string) string { return safe.Line(s, 200) }

// unreached makes an error of why a provider was not reached.
func unreached(provider, what string, err error) *Error {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	why, _ := transport.Explain(err)
	if errors.As(err, &cert) {
		why += ": --ca-file names its authority"
	}
	if !strings.HasPrefix(what, "to ") {
		what = "for " + what
	}
	return &Error{Provider: provider, text: "is not reached " + what + ": " + plain(why), Passing: cert == nil && !(errors.As(err, &dns) && dns.IsNotFound)}
}

// fetch gets a JSON document. missing: there is none, and err tells so.
func fetch(ctx context.Context, hc *http.Client, provider, from string, into any) (missing bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return false, &Error{Provider: provider, text: "has an address that is none"}
	}
	body, err := exchange(hc, provider, "its metadata", req)
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.status != 0 && !refusal.Passing, err
	} else if err != nil {
		return false, err
	}
	if err := json.Unmarshal(body, into); err != nil {
		// Web servers answer any path with their page.
		return true, &Error{Provider: provider, text: "answers with something that is no metadata"}
	}
	return false, nil
}

// post sends a form or a document, and returns the answer's body. secrets are what a
// refusal may quote.
func post(ctx context.Context, hc *http.Client, provider, what, to, mediaType string, body io.Reader, auth func(*http.Request), secrets ...string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, body)
	if err != nil {
		return nil, &Error{Provider: provider, text: "has an address that is none"}
	}
	req.Header.Set("Content-Type", mediaType)
	if auth != nil {
		auth(req)
	}
	return exchange(hc, provider, what, req, secrets...)
}

// exchange makes a request, and returns the body of an answer that is no refusal.
func exchange(hc *http.Client, provider, what string, req *http.Request, secrets ...string) ([]byte, error) {
	req.Header.Set("Accept", "application/json")
	resp, err := hc.Do(req)
	var body []byte
	if err == nil {
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
	}
	switch {
	case err != nil && req.Context().Err() == context.Canceled:
		return nil, req.Context().Err()
	case err != nil:
		return nil, unreached(provider, what, err)
	case resp.StatusCode/100 == 2:
		return body, nil
	}
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(body, &said) // the status is enough
	return nil, refused(provider, what, resp, said.Error, said.Description, secrets...)
}

// parseURL reads the URL of a provider or an endpoint: https, except on this machine.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		shown := plain(safe.Bare(s))
		if strings.Contains(shown, "@") { // a password may be before that
			shown = "…"
		}
		return nil, fmt.Errorf("%q is no URL of an identity provider: it is like https://login.example", shown)
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("the URL of the identity provider at %s has a user or a fragment, which it must not", plain(u.Host))
	}
	if u.Scheme == "http" && !safe.ThisMachine(u.Host) {
		return nil, fmt.Errorf("%s is not encrypted, and secrets go to no identity provider that is not: it must be https", plain(safe.Shown(u)))
	}
	return u, nil
}

// A Hint is what an agent's 401 tells about authentication (RFC 6750, §3).
type Hint struct {
	Scheme string // the first named scheme, in lower case
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
