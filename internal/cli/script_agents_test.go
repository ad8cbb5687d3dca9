package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// scriptAgents are the scripts' agents, by the variable with their URL. end ends their
// work before their servers are closed, which wait for it.
func scriptAgents() (agents map[string]http.Handler, end func()) {
	agent := demo.New(&demo.Options{Version: "both", Pace: -1})
	guarded := demo.New(&demo.Options{Version: "both", Pace: -1, Auth: demo.AuthBearer, Secret: "hunter2-right"})
	release := make(chan struct{})
	end = func() {
		close(release)
		agent.Close()
		guarded.Close()
	}
	silent := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}
	return map[string]http.Handler{
		"AGENT": agent,
		"TOKEN": guarded, "TOKEN2": guarded,
		"LOGIN": signin.Guard(agent),
		"HTML": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>hello</html>")
		}),
		"AUTH": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Gateway") != "open sesame, please" {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			agent.ServeHTTP(w, r)
		}),
		"SILENT": http.HandlerFunc(silent),
		// Its card is there, and nothing else.
		"MUTE": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				silent(w, r)
				return
			}
			agent.ServeHTTP(w, r)
		}),
		// Its card leads elsewhere.
		"WRONG": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"name":"W","protocolVersion":"0.3.0","url":"http://elsewhere.example/"}`)
		}),
		// It has no tasks/get, and knows that a task is not there.
		"NOGET": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodGet {
				fmt.Fprintf(w, `{"name":"N","protocolVersion":"0.3.0","url":"http://%s/"}`, r.Host)
				return
			}
			body, _ := io.ReadAll(r.Body)
			code := -32601
			if strings.Contains(string(body), `"tasks/cancel"`) {
				code = -32001
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}`, code)
		}),
		// It says what it was shown, in words that are no secret.
		"ECHO": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodGet {
				fmt.Fprintf(w, `{"name":"E","protocolVersion":"0.3.0","url":"http://%s/"}`, r.Host)
				return
			}
			shown := strings.ReplaceAll(r.Header.Get("Authorization"), "-", " ")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":%q}]}}`, shown)
		}),
		"PLAIN": &plainAgent{},
		"REST":  &restAgent{card: "/api/v1/card", tasks: true},
		"BARE":  &restAgent{},
	}, end
}

// A plainAgent is an agent of A2A 0.3 without streaming. It has tasks with files and
// awkward names, wants credentials for its work, and declares an unknown extension.
type plainAgent struct{}

func (p *plainAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := "http://" + r.Host
	if r.Method == http.MethodGet {
		switch {
		case strings.HasSuffix(r.URL.Path, "/agent-card.json"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"name":"Plain\u001b[31m","version":"2","protocolVersion":"0.3.0","url":"%s/rpc","preferredTransport":"JSONRPC",
"description":"An agent whose description is rather longer than a line of a terminal is, so that it has to be broken somewhere.",
"capabilities":{"streaming":false,"extensions":[{"uri":"https://x.example/ext/v1","description":"Its own","params":{"level":3}}]},
"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
"skills":[{"id":"sum","name":"Summing","description":"adds","tags":[]}],
"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"},"sso":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://id.example/token","scopes":{}}}}},
"security":[{"key":[]},{"sso":[]}]}`, at)
		case r.URL.Path == "/files/far.txt" && r.Header.Get("X-Key") == "k":
			io.WriteString(w, "from afar\n")
		case r.URL.Path == "/files/away":
			http.Redirect(w, r, "http://elsewhere.example/x", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
		return
	}
	var req struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ID      string
			Message struct {
				Metadata json.RawMessage
			}
			Configuration json.RawMessage
			PageToken     string
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&req)
	result := func(format string, args ...any) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, fmt.Sprintf(format, args...))
	}
	fail := func(code int, text string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, req.ID, code, text)
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("X-Key") != "k" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	file := func(name, member, value string) string {
		return fmt.Sprintf(`{"kind":"file","file":{"name":%q,"mimeType":"text/plain",%q:%q}}`, name, member, value)
	}
	switch {
	case req.Method == "tasks/get" && req.Params.ID == "files":
		result(`{"kind":"task","id":"files","contextId":"c","status":{"state":"completed","timestamp":"2026-01-02T03:04:05.678Z"},
"history":[{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"make files"}]}],
"artifacts":[{"artifactId":"a","name":"the files","parts":[{"kind":"text","text":"Here they "},{"kind":"text","text":"are.\u001b[2J"},%s]}]}`, strings.Join([]string{
			file("one.txt", "bytes", b64("one\n")), file("one.txt", "bytes", b64("another one\n")),
			file("../../outside.txt", "bytes", b64("inside\n")), file(`..\\windows.txt`, "bytes", b64("w\n")),
			file(".bashrc", "bytes", b64("hidden\n")), file("", "bytes", b64("nameless\n")),
			file("far.txt", "uri", at+"/files/far.txt"), file("near.txt", "uri", "/files/far.txt"),
			file("else.txt", "uri", "https://elsewhere.example/else.txt"),
		}, ","))
	case req.Method == "tasks/get" && req.Params.ID == "broken":
		result(`{"kind":"task","id":"broken","contextId":"c","status":{"state":"failed","message":{"kind":"message","messageId":"2","role":"agent","parts":[{"kind":"text","text":"no luck"}]}},"artifacts":[{"artifactId":"a","parts":[%s]}]}`,
			strings.Join([]string{file("bad.txt", "bytes", "%%%"), file("away.txt", "uri", "/files/away"), file("gone.txt", "uri", "/files/gone"), file("good.txt", "bytes", b64("good\n"))}, ","))
	case req.Method == "tasks/list":
		token := req.Params.PageToken
		if token == "round" {
			token = "roun"
		}
		result(`{"tasks":[{"kind":"task","id":"t%s","contextId":"c","status":{"state":"working"}}],"nextPageToken":%q,"totalSize":3}`, token,
			map[string]string{"": "2", "2": "3", "roun": "round"}[token])
	case req.Method == "message/send":
		result(`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"metadata %s configuration %s"}]}`,
			strings.ReplaceAll(string(req.Params.Message.Metadata), `"`, `'`), strings.ReplaceAll(string(req.Params.Configuration), `"`, `'`))
	case strings.HasPrefix(req.Method, "tasks/pushNotificationConfig/"):
		result(`{"taskId":"files","pushNotificationConfig":{"id":"p1","url":"https://me.example/hook","token":"hunter2"}}`)
	case strings.HasPrefix(req.Method, "tasks/get"):
		fail(-32001, "no such task")
	case req.Method == "tasks/resubscribe" && req.Params.ID == "files":
		fail(-32001, "no active execution") // as a2a-go says it of a task that has ended
	case strings.HasPrefix(req.Method, "tasks/resubscribe"):
		fail(-32004, "this agent does not stream")
	default:
		fail(-32601, "no such method")
	}
}

// pastedSession is the documentation's session, which can be pasted into a shell.
func pastedSession(t *testing.T) []byte {
	doc := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "protocol-a2a-lines.md")))(t)
	_, rest, ok := strings.Cut(string(doc), "```sh\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the documentation has no session")
	}
	return []byte(block)
}

// talkTimeout is for a line that never comes.
const talkTimeout = 20 * time.Second
