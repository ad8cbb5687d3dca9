package demo

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Values of [Options.Auth].
const (
	AuthBearer = "bearer"
	AuthAPIKey = "apikey"
)

// keyHeader carries an API key.
const keyHeader = "X-API-Key"

// A gate admits callers. The zero value admits all.
type gate struct{ kind, secret string }

func newGate(opts *Options) *gate {
	g := &gate{kind: opts.Auth, secret: opts.Secret}
	if g.secret == "" && (g.kind == AuthBearer || g.kind == AuthAPIKey) {
		g.secret = rand.Text()
	}
	return g
}

// Secret returns the agent's token or key: from the options, or made up. It is empty if
// there is none.
func (a *Agent) Secret() string { return a.gate.secret }

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
	}
	if !ok {
		w.Header().Set("WWW-Authenticate", challenge)
		httpError(w, http.StatusUnauthorized, "this agent does not know you")
	}
	return ok
}

// describe declares in a card what the agent wants, in the form of 0.3, of 1.0, or of
// both.
func (g *gate) describe(card map[string]any, v03, v1 bool) {
	name, old, newName, scheme := g.scheme()
	if name == "" {
		return
	}
	scopes := []string{}
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
	}
	return "", nil, "", nil
}
