// Package idp is a small identity provider: OAuth 2.1 with OpenID Connect on top, in
// memory, for the tests of sign-ins and of what an agent does with tokens.
//
// It is as strict as the specifications allow. It requires PKCE with S256. A code works
// once, and a second use revokes the tokens of the first. Refresh tokens are new each
// time, and the use of an old one ends the family (RFC 9700, §4.14.2). Redirects must
// be registered, except for the port of a loopback address (RFC 8252, §7.3). It has one
// user without a password, who says yes unless the query has "allow=no".
//
// It shares no code with the client but a library for signatures. Its tokens are worthless elsewhere.
//
// It starts no goroutine; requests share the clients and the secrets, under a mutex.
package idp

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
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

// The kinds of secrets.
type kind uint8

const (
	accessToken kind = iota
	refreshToken
	authorizationCode
	deviceCode
)

// life is how long secrets work; that of an access token is an option.
var life = [...]time.Duration{refreshToken: 24 * time.Hour, authorizationCode: time.Minute, deviceCode: 5 * time.Minute}

// A secret is what a client has got, by its text in Provider.
type secret struct {
	*family
	kind  kind
	until time.Time
	used  bool
	// Of a code: what its redemption has to repeat.
	redirect, challenge, nonce string
	// Of a device: the code that its user enters, what he said, and when it asked last.
	entered          string
	decided, allowed bool
	asked            time.Time
}

func (s *secret) over() bool { return s.ended || !time.Now().Before(s.until) }

// A Provider is an http.Handler. It is safe for concurrent use.
type Provider struct {
	opts Options
	key  *ecdsa.PrivateKey
	mux  *http.ServeMux

	mu      sync.Mutex
	clients map[string]Client
	secrets map[string]*secret
}

// New makes a provider.
func New(opts *Options) *Provider {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // without randomness nothing can go on
	}
	p := &Provider{opts: *opts, key: key, mux: http.NewServeMux(), clients: map[string]Client{}, secrets: map[string]*secret{}}
	maps.Copy(p.clients, opts.Clients)
	p.opts.Life, p.opts.Interval = cmp.Or(p.opts.Life, time.Minute), cmp.Or(p.opts.Interval, 5)
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
	s := p.secrets[token]
	if s == nil || s.kind != accessToken || s.over() {
		return Grant{}, false
	}
	return s.Grant, true
}

// Expire ends all access tokens, so that they must be renewed.
func (p *Provider) Expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.secrets, func(_ string, s *secret) bool { return s.kind == accessToken })
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
	reply(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}

func refuse(w http.ResponseWriter, code, description string) {
	reply(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": description})
}

// grants is the family of a new sign-in, with those of the scopes that exist.
func (p *Provider) grants(subject, client, scopes string) *family {
	known := append([]string{"openid", "offline_access", "email"}, p.opts.Scopes...)
	asked := slices.DeleteFunc(strings.Fields(scopes), func(s string) bool { return !slices.Contains(known, s) })
	return &family{Grant: Grant{Subject: subject, Client: client, Scopes: asked}}
}

// authorize redirects at once: "allow=no" in the query is what the user says. It shows an error of
// the client or its redirect itself: neither a code nor an error goes to an unregistered address.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id, redirect := q.Get("client_id"), q.Get("redirect_uri")
	answer := url.Values{}
	fails := func(code, why string) { answer.Set("error", code); answer.Set("error_description", why) }
	switch client, known := p.clients[id]; {
	case !known:
		http.Error(w, fmt.Sprintf("there is no client %q", id), http.StatusBadRequest)
		return
	case !slices.ContainsFunc(client.Redirects, func(known string) bool { return sameRedirect(known, redirect) }):
		http.Error(w, "this client does not come back to "+redirect, http.StatusBadRequest)
		return
	case q.Get("response_type") != "code", q.Get("code_challenge") == "", q.Get("code_challenge_method") != "S256":
		fails("invalid_request", "response_type is not code, or PKCE with S256 is missing")
	case q.Get("allow") == "no":
		fails("access_denied", "the user said no")
	default:
		answer.Set("code", p.give(&secret{family: p.grants(User, id, q.Get("scope")), kind: authorizationCode,
			redirect: redirect, challenge: q.Get("code_challenge"), nonce: q.Get("nonce")}))
	}
	answer.Set("iss", p.opts.Issuer)
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	http.Redirect(w, r, redirect+"?"+answer.Encode(), http.StatusSeeOther)
}

// sameRedirect compares exactly, except for the port of a loopback address.
func sameRedirect(known, given string) bool {
	a, err := url.Parse(known)
	b, err2 := url.Parse(given)
	if err != nil || err2 != nil {
		return false
	}
	if b.Hostname() == "127.0.0.1" && a.Scheme == "http" && a.Hostname() == b.Hostname() {
		a.Host = b.Host
	}
	return a.String() == b.String()
}

func (p *Provider) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Redirects []string `json:"redirect_uris"`
		Auth      string   `json:"token_endpoint_auth_method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		refuse(w, "invalid_client_metadata", "the body is not JSON")
		return
	}
	id, c := rand.Text(), Client{Redirects: asked.Redirects}
	answer := map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": "none"}
	if asked.Auth != "none" {
		c.Secret = rand.Text()
		answer["client_secret"], answer["token_endpoint_auth_method"] = c.Secret, "client_secret_basic"
	}
	p.clients[id] = c
	reply(w, http.StatusCreated, answer)
}

func (p *Provider) deviceAuthorization(w http.ResponseWriter, r *http.Request) {
	id, _, ok := p.form(w, r)
	if !ok {
		return
	}
	text := rand.Text()
	d := &secret{family: p.grants(User, id, r.PostForm.Get("scope")), kind: deviceCode, entered: text[:4] + "-" + text[4:8]}
	reply(w, http.StatusOK, map[string]any{
		"device_code": p.give(d), "user_code": d.entered, "verification_uri": p.opts.Issuer + "/device",
		"verification_uri_complete": p.opts.Issuer + "/device?user_code=" + d.entered,
		"expires_in":                int(life[deviceCode].Seconds()), "interval": p.opts.Interval,
	})
}

// deviceDecide takes the code, and what the user says, at once.
func (p *Provider) deviceDecide(w http.ResponseWriter, r *http.Request) {
	asked := strings.ToUpper(strings.TrimSpace(r.FormValue("user_code")))
	for _, d := range p.secrets {
		if d.kind == deviceCode && d.entered == asked && !d.decided && !d.over() {
			d.decided, d.allowed = true, r.FormValue("allow") != "no"
			return
		}
	}
	http.Error(w, "there is no such code, or not any more", http.StatusNotFound)
}
