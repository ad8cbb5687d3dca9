package demo

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

type cardSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
}

func (a *Agent) card(url string) map[string]any {
	var skills []cardSkill
	for _, t := range tales() {
		skills = append(skills, cardSkill{ID: t.word, Name: t.word, Description: t.description, Tags: []string{"demo"}, Examples: []string{t.word}})
	}
	capabilities := map[string]any{
		"streaming":         true,
		"pushNotifications": false,
		"extendedAgentCard": false,
		"extensions": []any{map[string]any{
			"uri":         ExtensionURI,
			"description": "Thoughts, tool calls and their approval, slash commands.",
			"required":    true,
		}},
	}
	// Each version declares an interface's version differently. This one declares both, like
	// other agents of the transition.
	card := map[string]any{
		"protocolVersion": "0.3.0", "preferredTransport": "JSONRPC", "url": url,
		"supportedInterfaces": []any{
			map[string]string{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
			map[string]string{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
		},
		"name":               "a2astdio demo agent",
		"description":        "Tells stories that need no model: everything an agent can do to a client, on demand.",
		"version":            "1",
		"capabilities":       capabilities,
		"defaultInputModes":  []string{"text/plain", "application/json", "image/png", "image/jpeg", "application/octet-stream"},
		"defaultOutputModes": []string{"text/plain", "application/json"},
		"skills":             skills,
	}
	a.describeAuth(card)
	return card
}

// serveCard sends the card, with the URL by which the client has reached it. Whoever
// serves the agent has checked that URL.
func (a *Agent) serveCard(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, a.card("http://"+r.Host+"/")) // the server drops it for a HEAD
}

// AuthBearer is a value of [Options.Auth].
const AuthBearer = "bearer"

// Secret returns the token that callers must show: from the options, or made up. It is
// empty if they need none.
func (a *Agent) Secret() string { return a.token }

// admits reports whether a caller is admitted, and answers the request if not.
func (a *Agent) admits(w http.ResponseWriter, r *http.Request) bool {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if a.token == "" || bearer && subtle.ConstantTimeCompare([]byte(token), []byte(a.token)) == 1 {
		return true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	httpError(w, http.StatusUnauthorized, "this agent does not know you")
	return false
}

// describeAuth declares in a card what the agent wants, in the form of each version.
func (a *Agent) describeAuth(card map[string]any) {
	if a.token == "" {
		return
	}
	card["securitySchemes"] = map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer",
		"httpAuthSecurityScheme": map[string]any{"scheme": "Bearer"}}}
	card["security"] = []any{map[string]any{"token": []string{}}}
	card["securityRequirements"] = []any{map[string]any{"schemes": map[string]any{"token": map[string]any{"list": []string{}}}}}
}
