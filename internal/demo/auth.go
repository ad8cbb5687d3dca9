package demo

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
)

// AuthBearer is a value of [Options.Auth].
const AuthBearer = "bearer"

// A gate admits callers with a token; all, if it is empty.
type gate struct{ token string }

func newGate(opts *Options) *gate {
	switch {
	case opts.Auth == "":
		return &gate{}
	case opts.Secret != "":
		return &gate{opts.Secret}
	}
	return &gate{rand.Text()}
}

// Secret returns the agent's token: from the options, or made up. It is empty if there is
// none.
func (a *Agent) Secret() string { return a.gate.token }

// admits reports whether a caller is admitted, and answers the request if not.
func (g *gate) admits(w http.ResponseWriter, r *http.Request) bool {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if g.token == "" || bearer && subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1 {
		return true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	httpError(w, http.StatusUnauthorized, "this agent does not know you")
	return false
}

// describe declares in a card what the agent wants, in the form of 0.3, of 1.0, or of
// both.
func (g *gate) describe(card map[string]any, v03, v1 bool) {
	if g.token == "" {
		return
	}
	scheme := map[string]any{}
	if v03 {
		scheme["type"], scheme["scheme"] = "http", "bearer"
		card["security"] = []any{map[string]any{"token": []string{}}}
	}
	if v1 {
		scheme["httpAuthSecurityScheme"] = map[string]any{"scheme": "Bearer"}
		card["securityRequirements"] = []any{map[string]any{"schemes": map[string]any{"token": map[string]any{"list": []string{}}}}}
	}
	card["securitySchemes"] = map[string]any{"token": scheme}
}
