package peers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An mcpPlace is where a client runs: a home with our configuration, and a workspace.
type mcpPlace struct {
	home, work string
	guarded    *guarded
	model      string        // the URL of the scripted model
	limit      time.Duration // of a call of a tool; 0: the client's own
	person     bool          // one is there, at a terminal
	terminal   bool          // it runs in one, with nobody to ask
	// cancelsByLimit: a call that has taken too long is cancelled in the words of a person's cancel.
	cancelsByLimit bool
}

// mcpAgents are the URLs of the demo, and of an agent made with the A2A project's SDK.
type mcpAgents struct{ demo, sdk string }

func startMCPAgents(t *testing.T) mcpAgents { return mcpAgents{listen(t), sdkServer(t, goV2)} }

// place configures three agents: the two, and the demo behind a sign-in. more is of the
// configuration.
func (a mcpAgents) place(t *testing.T, more ...string) *mcpPlace {
	t.Helper()
	p := &mcpPlace{home: t.TempDir(), work: t.TempDir(), guarded: startGuarded(t, a.demo)}
	write(t, p.path(".config", "a2astdio", "a2astdio.toml"), fmt.Sprintf(`agent = "demo-agent"
trace = %q
%s
[agents.demo-agent]
url = %q
[agents.sdk-agent]
url = %q
[agents.guarded-agent]
url = %q
oauth-client-id = "peers"
oauth-issuer = %q
`, p.path("trace-{pid}.jsonl"), strings.Join(more, "\n"), a.demo, a.sdk, p.guarded.url, p.guarded.url))
	write(t, filepath.Join(p.work, "note.txt"), "a note\n")
	return p
}

func (p *mcpPlace) path(names ...string) string {
	return filepath.Join(append([]string{p.home}, names...)...)
}

// server is the command of our server, in the place.
func (p *mcpPlace) server(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, append(args, "mcp")...)
	cmd.Dir, cmd.Env = p.work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "BROWSER=/no/such/browser"} // the client opens pages
	return cmd
}

// sent counts the requests of some methods to agents.
func (p *mcpPlace) sent(t *testing.T, methods ...string) int {
	t.Helper()
	return p.traced(t, "agent out request", methods)
}

// heard counts the requests of some methods from clients.
func (p *mcpPlace) heard(t *testing.T, methods ...string) int {
	t.Helper()
	return p.traced(t, "editor in message", methods)
}

// traced counts records of some methods in all traces of the place.
func (p *mcpPlace) traced(t *testing.T, what string, methods []string) (n int) {
	t.Helper()
	traces := mustGet(filepath.Glob(p.path("trace-*")))(t) // each agent but the first has its own
	for _, trace := range traces {
		b := mustGet(os.ReadFile(trace))(t)
		for line := range strings.Lines(string(b)) {
			var r struct{ Wire, Dir, Kind, Method string }
			if json.Unmarshal([]byte(line), &r) == nil && r.Wire+" "+r.Dir+" "+r.Kind == what && slices.Contains(methods, r.Method) {
				n++
			}
		}
	}
	return n
}

// sendings are the methods that begin a task, or go on with it; cancellings end it.
var (
	sendings    = []string{"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}
	cancellings = []string{"tasks/cancel", "CancelTask"}
)

// wantSent demands a number of messages to agents, and of cancelled tasks. The traces are written
// a little later.
func (p *mcpPlace) wantSent(t *testing.T, messages, cancelled int) {
	t.Helper()
	var sent, ended int
	for range 20 {
		if sent, ended = p.sent(t, sendings...), p.sent(t, cancellings...); sent == messages && ended == cancelled {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Errorf("%d messages were sent, and %d tasks cancelled", sent, ended)
}

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
