package peers

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// A guarded agent is one that wants a token, and has its identity provider beside it, where every
// visitor is signed in.
type guarded struct {
	url    string
	tokens atomic.Int32 // that were issued
}

func startGuarded(t *testing.T, agent string) *guarded {
	t.Helper()
	target, err := url.Parse(agent)
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // the card leads here
		r.Out.Header.Del("Accept-Encoding")
	}, ModifyResponse: g.describe}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/agent-card.json", proxy.ServeHTTP)
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
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.CloseClientConnections)
	g.url = server.URL
	return g
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// describe declares in the card what the agent wants, as both versions have it.
func (g *guarded) describe(r *http.Response) error {
	if !strings.HasSuffix(r.Request.URL.Path, "/agent-card.json") {
		return nil
	}
	var card object
	if err := json.NewDecoder(r.Body).Decode(&card); err != nil {
		return err
	}
	flows := object{"authorizationCode": object{"authorizationUrl": g.url + "/authorize", "tokenUrl": g.url + "/token", "scopes": object{}}}
	card["security"] = []any{object{"login": []string{}}}
	card["securityRequirements"] = []any{object{"schemes": object{"login": object{"list": []string{}}}}}
	card["securitySchemes"] = object{"login": object{"type": "oauth2", "flows": flows, "oauth2SecurityScheme": object{"flows": flows}}}
	b := asJSON(card)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(b)), int64(len(b))
	r.Header.Del("Content-Length")
	r.Header.Del("ETag")
	return nil
}
