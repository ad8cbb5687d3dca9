package peers

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
)

// startGate is a front that wants a token for all but the card, and what is free.
func startGate(t *testing.T, agent, token string, free http.HandlerFunc, describe func(card object)) string {
	t.Helper()
	return front(t, agent, describe, func(w http.ResponseWriter, r *http.Request, _ string, pass http.Handler) {
		switch {
		case r.Header.Get("Authorization") == "Bearer "+token:
			pass.ServeHTTP(w, r)
		case r.URL.Path != "/" && free != nil:
			free(w, r)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "who are you?", http.StatusUnauthorized)
		}
	})
}

// A guarded agent is one that wants a token, and has its identity provider beside it, where every
// visitor is signed in.
type guarded struct {
	url    string
	tokens atomic.Int32 // that were issued
}

func startGuarded(t *testing.T, agent string) *guarded {
	t.Helper()
	g := &guarded{}
	g.url = startGate(t, agent, "good", g.provides, g.describe)
	return g
}

// provides is the identity provider.
func (g *guarded) provides(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		answerJSON(w, object{"issuer": g.url, "authorization_endpoint": g.url + "/authorize", "token_endpoint": g.url + "/token",
			"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true})
	case "/authorize":
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"code"}, "state": {q.Get("state")}, "iss": {g.url}}.Encode(), http.StatusFound)
	case "/token":
		g.tokens.Add(1)
		answerJSON(w, object{"access_token": "good", "token_type": "Bearer", "expires_in": 3600})
	default:
		http.NotFound(w, r)
	}
}

// describe declares in the card what the agent wants, as both versions have it.
func (g *guarded) describe(card object) {
	flows := object{"authorizationCode": object{"authorizationUrl": g.url + "/authorize", "tokenUrl": g.url + "/token", "scopes": object{}}}
	card["security"] = []any{object{"login": []string{}}}
	card["securityRequirements"] = []any{object{"schemes": object{"login": object{"list": []string{}}}}}
	card["securitySchemes"] = object{"login": object{"type": "oauth2", "flows": flows, "oauth2SecurityScheme": object{"flows": flows}}}
}
