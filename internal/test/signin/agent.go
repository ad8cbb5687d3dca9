package signin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/test/idp"
)

const (
	// providerPath is the path of the identity provider.
	providerPath = "/idp"
	cardPath     = "/.well-known/agent-card.json"
	// agentScope is the scope that a token must have.
	agentScope = "agent"
)

// A Guarded is an agent that wants a token of an identity provider, which it serves below
// /idp. It has a fuller card for callers that it knows.
type Guarded struct {
	agent http.Handler

	once     sync.Once
	provider *idp.Provider
	issuer   string
}

// Guard returns an agent that wants a token. agent speaks both versions of A2A.
func Guard(agent http.Handler) *Guarded { return &Guarded{agent: agent} }

// ServeHTTP implements http.Handler.
func (g *Guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.once.Do(func() {
		g.issuer = "http://" + r.Host + providerPath
		g.provider = idp.New(&idp.Options{Issuer: g.issuer, Scopes: []string{agentScope}, Interval: 1})
	})
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, providerPath+"/"), path == "/.well-known/oauth-authorization-server"+providerPath:
		g.provider.ServeHTTP(w, r)
	case path == cardPath:
		writeCard(w, g.describe(cardOf(g.agent, r)))
	case path != "/" || r.Method != http.MethodPost:
		g.agent.ServeHTTP(w, r)
	case g.admits(w, r):
		g.call(w, r)
	}
}

// admits reports whether a caller is admitted, and answers the request if not.
func (g *Guarded) admits(w http.ResponseWriter, r *http.Request) bool {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	grant, ok := g.provider.Check(token)
	challenge, status := "Bearer", http.StatusUnauthorized
	switch {
	case ok && slices.Contains(grant.Scopes, agentScope):
		return true
	case ok:
		challenge, status = `Bearer error="insufficient_scope", scope="`+agentScope+`"`, http.StatusForbidden
	case bearer:
		challenge = `Bearer error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	Answer(status, `{"error":"this agent does not know you"}`)(w, r)
	return false
}

// call answers a request of a known caller.
func (g *Guarded) call(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the agent reports what is missing
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &request)
	if request.Method != "GetExtendedAgentCard" && request.Method != "agent/getAuthenticatedExtendedCard" {
		r.Body = io.NopCloser(bytes.NewReader(body))
		g.agent.ServeHTTP(w, r)
		return
	}
	card := g.describe(cardOf(g.agent, r))
	card["name"] = card["name"].(string) + ", extended"
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": card})
}

// describe declares in a card what the agent wants, as both versions have it.
func (g *Guarded) describe(card map[string]any) map[string]any {
	card["supportsAuthenticatedExtendedCard"] = true
	card["capabilities"].(map[string]any)["extendedAgentCard"] = true
	metadata := g.issuer + "/.well-known/openid-configuration"
	scopes := map[string]any{agentScope: "talk to the agent"}
	code := map[string]any{"authorizationUrl": g.issuer + "/authorize", "tokenUrl": g.issuer + "/token", "scopes": scopes}
	device := map[string]any{"deviceAuthorizationUrl": g.issuer + "/device_authorization", "tokenUrl": g.issuer + "/token", "scopes": scopes}
	card["security"] = []any{map[string]any{"login": []string{agentScope}}}
	card["securityRequirements"] = []any{map[string]any{"schemes": map[string]any{"login": map[string]any{"list": []string{agentScope}}}}}
	card["securitySchemes"] = map[string]any{"login": map[string]any{
		"type": "oauth2", "oauth2MetadataUrl": metadata, "flows": map[string]any{"authorizationCode": code, "deviceCode": device},
		"oauth2SecurityScheme": map[string]any{"oauth2MetadataUrl": metadata, "flows": map[string]any{"authorizationCode": code}},
	}}
	return card
}

func cardOf(agent http.Handler, r *http.Request) (card map[string]any) {
	ask := httptest.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+r.Host+cardPath, nil)
	answer := httptest.NewRecorder()
	agent.ServeHTTP(answer, ask)
	if err := json.Unmarshal(answer.Body.Bytes(), &card); err != nil {
		panic(err) // the agent is a test's
	}
	return card
}

func writeCard(w http.ResponseWriter, card map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(card)
}
