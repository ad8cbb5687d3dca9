package companion

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// maxBody is how large a request may be: openDiff carries a whole file. What
	// the editor sends back in a line has the same limit (stdio.MaxLine).
	maxBody = 32 << 20
	// bodyWait is how long a CLI may pause while it sends a body, headerWait how
	// long it may take for a request's header, idleWait how long a connection may
	// idle between two requests.
	bodyWait   = 30 * time.Second
	headerWait = 10 * time.Second
	idleWait   = 2 * time.Minute
	maxHeader  = 64 << 10
	// maxConns is how many connections there may be; a CLI has two or three.
	maxConns = 256
)

// httpServer returns the HTTP server for m.
func httpServer(m *mcpServer, log *slog.Logger) *http.Server {
	var conns atomic.Int64
	return &http.Server{
		Handler:           m,
		ReadHeaderTimeout: headerWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if conns.Add(1) > maxConns {
					c.Close() // which the server notices
				}
			case http.StateClosed, http.StateHijacked:
				conns.Add(-1)
			}
		},
	}
}

// guard admits only programs that have read the discovery file, which only the user can.
// Like the companion for VS Code, it refuses web pages by Origin and by Host (a page's
// own host name may resolve to this machine), even if they knew the token.
func (m *mcpServer) guard(r *http.Request) (status int, text string) {
	if r.Header["Origin"] != nil {
		return http.StatusForbidden, "web pages may not talk to the companion"
	}
	if r.Host != fmt.Sprintf("127.0.0.1:%d", m.port) && r.Host != fmt.Sprintf("localhost:%d", m.port) {
		return http.StatusForbidden, "the companion is 127.0.0.1, and called by no other name"
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(given), m.token) != 1 {
		return http.StatusUnauthorized, "the token of the discovery file is missing, or is another one: read the file anew"
	}
	if r.URL.Path != mcpPath {
		return http.StatusNotFound, "the companion is at " + mcpPath
	}
	if v := r.Header.Get(versionHeader); v != "" && !slices.Contains(protocolVersions, v) {
		return http.StatusBadRequest, "MCP " + v + " is not spoken here: there are " + strings.Join(protocolVersions, ", ")
	}
	return 0, ""
}

// refuse answers with an error without an ID.
func refuse(w http.ResponseWriter, status int, text string) {
	respond(w, status, failure(nil, codeInvalidRequest, text))
}

// respond answers with a reply, or several.
func respond(w http.ResponseWriter, status int, replies any) {
	body, err := encode(replies)
	if err != nil {
		http.Error(w, "the answer cannot be encoded", http.StatusInternalServerError)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWait)) // a test's writer has none
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the CLI may be gone
}

// accepts reports whether the client takes one of the media types.
func accepts(r *http.Request, types ...string) bool {
	values := r.Header.Values("Accept")
	for _, one := range strings.Split(strings.Join(values, ","), ",") {
		one, _, _ = strings.Cut(one, ";")
		if slices.Contains(types, strings.ToLower(strings.TrimSpace(one))) {
			return true
		}
	}
	return len(values) == 0
}

// readBody reads a request's body, which must not pause for long.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	out := http.NewResponseController(w)
	body, err := io.ReadAll(steady{http.MaxBytesReader(w, r.Body, maxBody), out})
	// No deadline, because the server goes on reading to notice the end of the connection.
	_ = out.SetReadDeadline(time.Time{})
	return body, err
}

// A steady reader gives each read its own deadline.
type steady struct {
	r   io.Reader
	out *http.ResponseController
}

func (s steady) Read(p []byte) (int, error) {
	_ = s.out.SetReadDeadline(time.Now().Add(bodyWait)) // a test's writer has none
	return s.r.Read(p)
}
