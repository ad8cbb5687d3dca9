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

// startGate stands before an agent, also in its card, and wants a token for all but the card.
// mux may serve more. describe, if there is one, changes the card.
func startGate(t *testing.T, agent, token string, mux *http.ServeMux, describe func(card object)) string {
	t.Helper()
	at, err := url.Parse(agent)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	server := httptest.NewServer(mux)
	t.Cleanup(server.CloseClientConnections)
	mux.HandleFunc("/.well-known/agent-card.json", func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		var card object
		if err := json.Unmarshal([]byte(strings.ReplaceAll(answer.Body.String(), strings.TrimSuffix(agent, "/"), server.URL)), &card); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if describe != nil {
			describe(card)
		}
		answerJSON(w, card)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	})
	return server.URL
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
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, object{"issuer": g.url, "authorization_endpoint": g.url + "/authorize", "token_endpoint": g.url + "/token",
			"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"code"}, "state": {q.Get("state")}, "iss": {g.url}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		g.tokens.Add(1)
		answerJSON(w, object{"access_token": "good", "token_type": "Bearer", "expires_in": 3600})
	})
	g.url = startGate(t, agent, "good", mux, g.describe)
	return g
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// describe declares in the card what the agent wants, as both versions have it.
func (g *guarded) describe(card object) {
	flows := object{"authorizationCode": object{"authorizationUrl": g.url + "/authorize", "tokenUrl": g.url + "/token", "scopes": object{}}}
	card["security"] = []any{object{"login": []string{}}}
	card["securityRequirements"] = []any{object{"schemes": object{"login": object{"list": []string{}}}}}
	card["securitySchemes"] = object{"login": object{"type": "oauth2", "flows": flows, "oauth2SecurityScheme": object{"flows": flows}}}
}
