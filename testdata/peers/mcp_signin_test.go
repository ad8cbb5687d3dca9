package peers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// startGate stands before an agent, also in its card, which describe changes if there is one, and
// wants a token for all but the card, and what is free.
func startGate(t *testing.T, agent, token string, free http.HandlerFunc, describe func(card object)) string {
	t.Helper()
	agent = strings.TrimSuffix(agent, "/")
	target := mustGet(url.Parse(agent))(t)
	pass := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/.well-known/agent-card.json":
			recorded := httptest.NewRecorder()
			pass.ServeHTTP(recorded, r)
			var card object
			if err := json.Unmarshal([]byte(strings.ReplaceAll(recorded.Body.String(), agent, server.URL)), &card); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			if describe != nil {
				describe(card)
			}
			answerJSON(w, card)
		case r.Header.Get("Authorization") == "Bearer "+token:
			pass.ServeHTTP(w, r)
		case r.URL.Path != "/" && free != nil:
			free(w, r)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "who are you?", http.StatusUnauthorized)
		}
	})
	server.Start()
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
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
