package idp

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// defaultLife is the life of an access token, short enough to watch a renewal.
	defaultLife = time.Minute
	codeLife    = time.Minute
	deviceLife  = 5 * time.Minute
)

// User is the only user.
const User = "demo@demo.invalid"

// A Client is a program that may ask for tokens.
type Client struct {
	// Secret is empty for a public client.
	Secret string
	// Redirects are where codes are sent.
	Redirects []string
}

// Options configure a Provider.
type Options struct {
	// Issuer is the provider's URL, without a slash at its end. The handler serves the
	// paths below it.
	Issuer string
	// Clients are the initial clients, by ID.
	Clients map[string]Client
	// Scopes are the scopes that it grants.
	Scopes []string
	// Life is the life of an access token; 0: a minute.
	Life time.Duration
	// Interval is a device's polling interval in seconds; 0: 5.
	Interval int
}

// A Grant is what a token stands for.
type Grant struct {
	Subject, Client string
	Scopes          []string
}

// A family is everything from one sign-in: it ends as a whole.
type family struct {
	Grant
	ended bool
}

type access struct {
	*family
	until time.Time
}

type code struct {
	*family
	redirect, challenge, nonce string
	until                      time.Time
	used                       bool
}

type device struct {
	*family
	code    string // the user's
	until   time.Time
	decided bool
	allowed bool
	asked   time.Time
}

// A Provider is an http.Handler. It is safe for concurrent use.
type Provider struct {
	opts Options
	key  *ecdsa.PrivateKey
	mux  *http.ServeMux

	mu      sync.Mutex
	clients map[string]Client
	access  map[string]access
	refresh map[string]*family
	spent   map[string]*family // used refresh tokens
	codes   map[string]*code
	devices map[string]*device
}

// New makes a provider.
func New(opts *Options) *Provider {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // without randomness nothing can go on
	}
	p := &Provider{opts: *opts, key: key, mux: http.NewServeMux(), clients: map[string]Client{}, access: map[string]access{},
		refresh: map[string]*family{}, spent: map[string]*family{}, codes: map[string]*code{}, devices: map[string]*device{}}
	maps.Copy(p.clients, opts.Clients)
	p.opts.Life, p.opts.Interval = cmp.Or(p.opts.Life, defaultLife), cmp.Or(p.opts.Interval, 5)
	path := ""
	if u, err := url.Parse(opts.Issuer); err == nil {
		path = u.Path
	}
	p.mux.HandleFunc("GET "+path+"/.well-known/openid-configuration", p.metadata)
	p.mux.HandleFunc("GET /.well-known/oauth-authorization-server"+path, p.metadata)
	p.mux.HandleFunc("GET "+path+"/jwks", p.keys)
	p.mux.HandleFunc("GET "+path+"/authorize", p.authorize)
	p.mux.HandleFunc("POST "+path+"/token", p.token)
	p.mux.HandleFunc("POST "+path+"/device_authorization", p.deviceAuthorization)
	p.mux.HandleFunc("GET "+path+"/device", p.deviceDecide)
	p.mux.HandleFunc("POST "+path+"/revoke", p.revoke)
	p.mux.HandleFunc("POST "+path+"/register", p.register)
	return p
}

// ServeHTTP implements http.Handler. It answers one request after the other.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	w.Header().Set("Cache-Control", "no-store")
	p.mux.ServeHTTP(w, r)
}

// Check returns the grant of an access token; false: the token is invalid or has ended.
func (p *Provider) Check(token string) (Grant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.access[token]
	if !ok || a.ended || !time.Now().Before(a.until) {
		return Grant{}, false
	}
	return a.Grant, true
}

// Expire ends all access tokens, so that they must be renewed.
func (p *Provider) Expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.access)
}

func (p *Provider) metadata(w http.ResponseWriter, r *http.Request) {
	is := p.opts.Issuer
	reply(w, http.StatusOK, map[string]any{
		"issuer":                                         is,
		"authorization_endpoint":                         is + "/authorize",
		"token_endpoint":                                 is + "/token",
		"device_authorization_endpoint":                  is + "/device_authorization",
		"revocation_endpoint":                            is + "/revoke",
		"jwks_uri":                                       is + "/jwks",
		"registration_endpoint":                          is + "/register",
		"scopes_supported":                               append([]string{"openid", "offline_access"}, p.opts.Scopes...),
		"response_types_supported":                       []string{"code"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token", "client_credentials", grantDevice},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic", "client_secret_post"},
		"id_token_signing_alg_values_supported":          []string{"ES256"},
		"subject_types_supported":                        []string{"public"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (p *Provider) keys(w http.ResponseWriter, r *http.Request) {
	point, _ := p.key.PublicKey.Bytes() // a key of a known curve has some
	b64 := base64.RawURLEncoding.EncodeToString
	reply(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "1", "x": b64(point[1:33]), "y": b64(point[33:]),
	}}})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}

func refuse(w http.ResponseWriter, status int, code, description string) {
	reply(w, status, map[string]string{"error": code, "error_description": description})
}

// granted are the scopes that a request gets.
func (p *Provider) granted(asked string) []string {
	known := append([]string{"openid", "offline_access", "email"}, p.opts.Scopes...)
	return slices.DeleteFunc(strings.Fields(asked), func(s string) bool { return !slices.Contains(known, s) })
}

func unknownClient(id string) string { return fmt.Sprintf("there is no client %q", id) }
