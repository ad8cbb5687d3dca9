package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A restAgent has only HTTP+JSON of A2A 1.0, for callers with its key. card is the path
// of its card, "" for none; tasks: it has operations for tasks, but no task.
type restAgent struct {
	card  string
	tasks bool
}

func (a *restAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case strings.Contains(path, "/.well-known/"):
		http.NotFound(w, r)
	case r.Header.Get("X-Key") != "k" && (a.card != "" || !strings.HasSuffix(path, "/card")):
		w.WriteHeader(http.StatusUnauthorized)
	case a.card != "" && path == a.card:
		fmt.Fprintf(w, `{"name":"Rest","supportedInterfaces":[{"url":"http://%s/api","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],"capabilities":{"streaming":true}}`, r.Host)
	case path == "/api/message:stream":
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello from rest"}]}}`+"\n\n")
	case a.tasks && strings.HasPrefix(path, "/api/tasks/"):
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"code":404,"status":"NOT_FOUND","message":"no such task","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`)
	default:
		http.NotFound(w, r)
	}
}
