// Package signin has the common parts of the tests of sign-ins: an identity provider
// over real HTTP and TLS that fails on demand, a browser whose user says yes or no, and
// agents that want a token.
//
// It starts no goroutine of its own; requests share what was asked, under a mutex.
package signin

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/idp"
)

// A Server is an identity provider.
type Server struct {
	*httptest.Server
	Provider *idp.Provider
	Issuer   string

	mu     sync.Mutex
	calls  []string
	forms  []url.Values
	faults map[string]http.HandlerFunc
}

// Start starts a provider. It sets the issuer of opts.
func Start(t testing.TB, opts *idp.Options) *Server {
	if opts == nil {
		opts = &idp.Options{Scopes: []string{"agent", "admin"}}
	}
	s := &Server{faults: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	o := *opts
	o.Issuer = s.URL + o.Issuer
	s.Issuer, s.Provider = o.Issuer, idp.New(&o)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	s.mu.Lock()
	s.calls = append(s.calls, name)
	fault := s.faults[name]
	s.mu.Unlock()
	if name == "token" || name == "device_authorization" || name == "revoke" {
		_ = r.ParseForm() // the provider reports the fault
		s.mu.Lock()
		s.forms = append(s.forms, r.PostForm)
		s.mu.Unlock()
	}
	if fault != nil {
		fault(w, r)
		return
	}
	s.Provider.ServeHTTP(w, r)
}

// Fail replaces the answer to the last part of a path, until by is nil.
func (s *Server) Fail(name string, by http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[name] = by
}

// Calls counts requests to the last part of a path.
func (s *Server) Calls(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == name {
			n++
		}
	}
	return n
}

// Forms are the posted forms with secrets.
func (s *Server) Forms() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forms
}

// TLS trusts the provider.
func (s *Server) TLS() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{RootCAs: pool}
}

// CA is the authority of its certificate, in PEM.
func (s *Server) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// Answer answers with JSON.
func Answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// A Browser is a browser and its user.
type Browser struct {
	// TLS has the trusted authorities.
	TLS *tls.Config
	// Deny refuses at the provider.
	Deny bool
	// Change may change the provider's answer.
	Change func(callback *url.URL)
	// Again reloads the last page.
	Again bool

	last string // page
}

// Open goes from a page of this machine to the provider and back.
func (b *Browser) Open(local string) error {
	jar, _ := cookiejar.New(nil) // never fails
	callback := ""
	client := b.client()
	client.Jar = jar
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) == 1: // to the provider
			r.URL.RawQuery += b.says()
			return nil
		case b.Change != nil:
			b.Change(r.URL)
		}
		callback = r.URL.String()
		return nil
	}
	err := b.visit(client, local)
	if err == nil && callback == "" {
		return fmt.Errorf("nothing leads back: %s", b.Text())
	}
	if b.Again {
		if resp, err := client.Get(callback); err == nil { // the server may have ended
			resp.Body.Close()
		}
	}
	return err
}

// Enter enters a device's code: complete is the page with the code.
func (b *Browser) Enter(complete string) error { return b.visit(b.client(), complete+b.says()) }

// says is what the user says, in the query of a page of the provider's.
func (b *Browser) says() string {
	if b.Deny {
		return "&allow=no"
	}
	return ""
}

func (b *Browser) client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: b.TLS, DisableKeepAlives: true}}
}

// visit reads the page to which a URL leads.
func (b *Browser) visit(client *http.Client, at string) error {
	resp, err := client.Get(at)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	b.last = string(page)
	return err
}

var tag = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`)

// Text is the last page's text.
func (b *Browser) Text() string {
	return html.UnescapeString(strings.Join(strings.Fields(tag.ReplaceAllString(b.last, " ")), " "))
}
