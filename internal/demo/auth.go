package demo

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/demo/idp"
)

// Values of [Options.Auth].
const (
	AuthBearer = "bearer"
	AuthAPIKey = "apikey"
	AuthOAuth2 = "oauth2"
)

const (
	// keyHeader carries an API key.
	keyHeader = "X-API-Key"
	// idpPath is the path of the identity provider.
	idpPath = "/idp"
	// agentScope is the scope that a token must have.
	agentScope = "agent"
)

// A gate admits callers. The zero value admits all.
type gate struct {
	kind, secret string
	extended     bool

	once     sync.Once
	provider *idp.Provider
	issuer   string
}

func newGate(opts *Options) *gate {
	g := &gate{kind: opts.Auth, secret: opts.Secret, extended: opts.Extended && opts.Auth != ""}
	if g.secret == "" && (g.kind == AuthBearer || g.kind == AuthAPIKey) {
		g.secret = rand.Text()
	}
	return g
}

// Secret returns the agent's token or key: from the options, or made up. It is empty if
// there is none, or if an identity provider issues tokens.
func (a *Agent) Secret() string { return a.gate.secret }

// open makes the identity provider, at the first URL by which it is reached.
func (g *gate) open(base string) {
	g.once.Do(func() {
		g.issuer = strings.TrimSuffix(base, "/") + idpPath
		g.provider = idp.New(&idp.Options{Issuer: g.issuer, Scopes: []string{agentScope}})
	})
}

// serveProvider answers requests to the identity provider; false: it is no such
// request.
func (g *gate) serveProvider(w http.ResponseWriter, r *http.Request) bool {
	if g.kind != AuthOAuth2 {
		return false
	}
	g.open("http://" + r.Host)
	if !strings.HasPrefix(r.URL.Path, idpPath+"/") && r.URL.Path != "/.well-known/oauth-authorization-server"+idpPath {
		return false
	}
	g.provider.ServeHTTP(w, r)
	return true
}

// admits reports whether a caller is admitted, and answers the request if not.
func (g *gate) admits(w http.ResponseWriter, r *http.Request) bool {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	same := func(given string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(g.secret)) == 1 }
	ok, challenge := false, "Bearer"
	switch g.kind {
	case "":
		return true
	case AuthBearer:
		ok = bearer && same(token)
	case AuthAPIKey:
		ok, challenge = same(r.Header.Get(keyHeader)), "ApiKey"
	case AuthOAuth2:
		var grant idp.Grant
		if grant, ok = g.provider.Check(token); ok && !contains(grant.Scopes, agentScope) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+agentScope+`"`)
			httpError(w, http.StatusForbidden, "the token is not for this agent: it wants the scope "+agentScope)
			return false
		}
		if bearer && !ok {
			challenge = `Bearer error="invalid_token"`
		}
	}
	if !ok {
		w.Header().Set("WWW-Authenticate", challenge)
		httpError(w, http.StatusUnauthorized, "this agent does not know you")
	}
	return ok
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// describe declares in a card what the agent wants, in the form of 0.3, of 1.0, or of
// both.
func (g *gate) describe(card, capabilities map[string]any, v03, v1 bool) {
	if g.extended {
		if v03 {
			card["supportsAuthenticatedExtendedCard"] = true
		}
		capabilities["extendedAgentCard"] = true
	}
	name, old, newName, scheme := g.scheme()
	if name == "" {
		return
	}
	scopes := []string{}
	if g.kind == AuthOAuth2 {
		scopes = []string{agentScope}
	}
	described := map[string]any{}
	if v03 {
		for key, value := range old {
			described[key] = value
		}
		card["security"] = []any{map[string]any{name: scopes}}
	}
	if v1 {
		described[newName] = scheme
		card["securityRequirements"] = []any{map[string]any{"schemes": map[string]any{name: map[string]any{"list": scopes}}}}
	}
	card["securitySchemes"] = map[string]any{name: described}
}

// scheme is the agent's security scheme: its name, 0.3's members, and 1.0's member with
// its content.
func (g *gate) scheme() (name string, v03 map[string]any, member string, v1 map[string]any) {
	switch g.kind {
	case AuthBearer:
		return "token", map[string]any{"type": "http", "scheme": "bearer"}, "httpAuthSecurityScheme", map[string]any{"scheme": "Bearer"}
	case AuthAPIKey:
		return "key", map[string]any{"type": "apiKey", "in": "header", "name": keyHeader}, "apiKeySecurityScheme", map[string]any{"location": "header", "name": keyHeader}
	case AuthOAuth2:
		metadata := g.issuer + "/.well-known/openid-configuration"
		scopes := map[string]any{agentScope: "talk to the agent"}
		code := map[string]any{"authorizationUrl": g.issuer + "/authorize", "tokenUrl": g.issuer + "/token", "scopes": scopes}
		device := map[string]any{"deviceAuthorizationUrl": g.issuer + "/device_authorization", "tokenUrl": g.issuer + "/token", "scopes": scopes}
		v03 = map[string]any{"type": "oauth2", "oauth2MetadataUrl": metadata, "flows": map[string]any{"authorizationCode": code, "deviceCode": device}}
		v1 = map[string]any{"oauth2MetadataUrl": metadata, "flows": map[string]any{"authorizationCode": code}}
		return "login", v03, "oauth2SecurityScheme", v1
	}
	return "", nil, "", nil
}
