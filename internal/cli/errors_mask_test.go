package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// No error shows a credential that the agent echoes: in a shell, in doctor, or in an
// editor.
func TestEchoedCredentials(t *testing.T) {
	const token = "sk-live-Zq81xWvT9pLm4"
	rpc := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no model for ECHO","data":{"sent":"ECHO"}}}`
	failed := `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c1","status":{"state":"failed","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"not with ECHO"}]}}}}` + "\n\n"
	for _, answer := range []struct {
		status      int
		label, body string
	}{
		{401, "text/plain", "bad credentials: ECHO"}, {403, "application/json", `{"error":"forbidden for ECHO"}`}, {500, "text/plain", "boom ECHO"},
		{400, "application/json", rpc}, {200, "application/json", rpc},
		{200, "text/event-stream", "event: error\ndata: " + rpc + "\n\n"}, {200, "text/event-stream", "data: {ECHO\n\n"}, {200, "text/event-stream", failed},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/agent-card.json") {
				fmt.Fprintf(w, `{"name":"Echo","url":"http://%s/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, r.Host)
				return
			}
			echoed := r.Header.Get("Authorization")
			w.Header().Set("Content-Type", answer.label)
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+token+`"`)
			w.WriteHeader(answer.status)
			_, _ = io.WriteString(w, strings.ReplaceAll(answer.body, "ECHO", echoed))
		}))
		args := []string{"--agent", server.URL, "--header", "Authorization: Bearer " + token}
		const lines = `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"hi"}}` + "\n"
		for _, run := range []struct{ stdin, command string }{
			{"", "send hi"}, {"", "doctor"}, {"", "doctor -o json"}, {lines, ""},
		} {
			_, stdout, stderr := runMain(run.stdin, append(args, strings.Fields(run.command)...)...)
			if out := stdout + stderr; strings.Contains(out, token) || !strings.Contains(out, "***") && !strings.HasPrefix(run.command, "doctor") {
				t.Errorf("%d %s, %q: %s", answer.status, answer.label, run.command, out)
			}
		}
		server.Close()
	}
}

// TestEchoedToken: nor is a token shown that the agent echoes without what stood around it,
// whichever way it was given.
func TestEchoedToken(t *testing.T) {
	const token = "sk-live-Zq81xWvT9pLm4"
	ownPlaces(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/agent-card.json") {
			fmt.Fprintf(w, `{"name":"Echo","url":"http://%s/","protocolVersion":"0.3.0","capabilities":{}}`, r.Host)
			return
		}
		user, _, _ := r.BasicAuth()
		w.WriteHeader(500)
		fmt.Fprintf(w, `{"error":"no model for %s%s"}`, user, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	t.Cleanup(server.Close)
	headers := privateFile(t, t.TempDir(), "headers", `{"headers":{"Authorization":["Bearer `+token+`"]}}`)
	for _, args := range [][]string{
		{"--agent", server.URL, "--credential-command", "cat '" + headers + "'"},
		{"--agent", strings.Replace(server.URL, "//", "//"+token+"@", 1)},
		{"--agent", server.URL}, // a sign-in keeps it
	} {
		if len(args) == 2 {
			if status, _, stderr := runMain(token, append(args, "auth", "login", "--with-token")...); status != 0 {
				t.Fatal(stderr)
			}
		}
		_, stdout, stderr := runMain("", append(args, "send", "hi")...)
		if out := stdout + stderr; strings.Contains(out, token) || !strings.Contains(out, "no model for") {
			t.Errorf("%v: %s", args, out)
		}
	}
}
