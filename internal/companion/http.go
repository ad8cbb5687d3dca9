package companion

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxBody is how large a request may be: openDiff carries a whole file. What
	// the editor sends back in a line has the same limit (stdio.MaxLine).
	maxBody = 32 << 20
	// bodyWait is how long a CLI may take to send a body, headerWait a header, idleWait
	// how long a connection may idle between two requests.
	bodyWait   = 30 * time.Second
	headerWait = 10 * time.Second
	idleWait   = 2 * time.Minute
	maxHeader  = 64 << 10
	// maxSessions bounds the memory that a program can make us use; a CLI has one session,
	// and one that has gone ends soon.
	maxSessions = 64

	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	mcpPath       = "/mcp"
)

// httpServer returns the HTTP server for m. Its requests end with the hub.
func httpServer(m *mcpServer, log *slog.Logger) *http.Server {
	return &http.Server{Handler: m, ReadHeaderTimeout: headerWait, IdleTimeout: idleWait, MaxHeaderBytes: maxHeader,
		ConnState: m.strangers.state, ConnContext: connOf,
		BaseContext: func(net.Listener) context.Context { return m.hub.ctx }, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
}

// An mcpServer is the MCP server over streamable HTTP.
type mcpServer struct {
	hub     *hub
	token   []byte
	port    int
	version string

	strangers strangers

	mu       sync.Mutex
	sessions map[string]*session
}

func newMCPServer(h *hub, token string, port int, version string) *mcpServer {
	version = cmp.Or(version, "(devel)")
	return &mcpServer{hub: h, token: []byte(token), port: port, version: version, sessions: map[string]*session{}}
}

// A refusal answers a request with an error without an ID.
type refusal struct {
	status, code int
	text         string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, codeInvalidRequest, fmt.Sprintf(format, args...)}
}

// ServeHTTP implements [http.Handler].
func (m *mcpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e := (*refusal)(nil); errors.As(m.serve(w, r), &e) {
		if e.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		respond(w, e.status, failure(nil, e.code, e.text))
	}
}

func (m *mcpServer) serve(w http.ResponseWriter, r *http.Request) error {
	if err := m.guard(r); err != nil {
		return err
	}
	switch r.Method {
	case http.MethodPost:
		return m.post(w, r)
	case http.MethodGet:
		return m.get(w, r)
	case http.MethodDelete:
		s, err := m.session(r)
		if err == nil {
			s.end()
			w.WriteHeader(http.StatusNoContent)
		}
		return err
	}
	w.Header().Set("Allow", "GET, POST, DELETE")
	return refuse(http.StatusMethodNotAllowed, "use GET, POST or DELETE")
}

// guard admits only programs that have read the discovery file, which only the user can.
// Like the companion for VS Code, it refuses web pages by Origin and by Host (a page's
// own host name may resolve to this machine), even if they knew the token.
func (m *mcpServer) guard(r *http.Request) error {
	if r.Header["Origin"] != nil {
		return refuse(http.StatusForbidden, "web pages may not talk to the companion")
	}
	if r.Host != fmt.Sprintf("127.0.0.1:%d", m.port) && r.Host != fmt.Sprintf("localhost:%d", m.port) {
		return refuse(http.StatusForbidden, "the companion is 127.0.0.1, and called by no other name")
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(given), m.token) != 1 {
		return refuse(http.StatusUnauthorized, "the token of the discovery file is missing, or is another one: read the file anew")
	}
	m.strangers.known(r)
	if r.URL.Path != mcpPath {
		return refuse(http.StatusNotFound, "the companion is at %s", mcpPath)
	}
	if v := r.Header.Get(versionHeader); v != "" && !slices.Contains(protocolVersions, v) {
		return refuse(http.StatusBadRequest, "MCP %s is not spoken here: there are %s", v, strings.Join(protocolVersions, ", "))
	}
	return nil
}

// post answers a message with one JSON document, as MCP allows. It sends no notification
// before an answer.
func (m *mcpServer) post(w http.ResponseWriter, r *http.Request) error {
	msg, err := readMessage(w, r)
	if err != nil {
		return err
	}
	if r.Header.Get(sessionHeader) == "" && msg.Method == "initialize" && msg.isRequest() {
		return m.begin(w, msg)
	}
	s, err := m.enter(r)
	if err != nil {
		return err
	}
	defer s.leave()
	if answer := m.answer(r.Context(), s, msg); answer != nil {
		respond(w, http.StatusOK, answer)
	} else {
		w.WriteHeader(http.StatusAccepted)
	}
	return nil
}

// readMessage reads the message of a request.
func readMessage(w http.ResponseWriter, r *http.Request) (*message, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Now().Add(bodyWait)) // a test's writer has none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	// No deadline, because the server goes on reading to notice the end of the connection.
	_ = out.SetReadDeadline(time.Time{})
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "more than %d bytes", large.Limit)
	} else if err != nil {
		return nil, refuse(http.StatusBadRequest, "the request was cut off")
	}
	msg := new(message)
	if err := json.Unmarshal(body, msg); err != nil {
		return nil, &refusal{http.StatusBadRequest, codeParse, "the body is no JSON-RPC message"}
	}
	if !msg.valid() {
		return nil, refuse(http.StatusBadRequest, "not a JSON-RPC 2.0 message")
	}
	return msg, nil
}

// respond answers with a reply.
func respond(w http.ResponseWriter, status int, answer *reply) {
	body, err := encode(answer)
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

// begin begins a session.
func (m *mcpServer) begin(w http.ResponseWriter, msg *message) error {
	answer := m.initialize(msg)
	if answer.Error != nil {
		respond(w, http.StatusBadRequest, answer)
		return nil
	}
	s := &session{id: rand.Text(), server: m, grace: idleGrace}
	s.ctx, s.cancel = context.WithCancel(m.hub.ctx)
	m.mu.Lock()
	if len(m.sessions) >= maxSessions {
		m.mu.Unlock()
		s.cancel()
		return refuse(http.StatusServiceUnavailable, "too many sessions")
	}
	s.timer = time.AfterFunc(s.grace, s.expire)
	m.sessions[s.id] = s
	m.mu.Unlock()
	m.hub.join(s)
	w.Header().Set(sessionHeader, s.id)
	respond(w, http.StatusOK, answer)
	return nil
}

// get is a session's stream.
func (m *mcpServer) get(w http.ResponseWriter, r *http.Request) error {
	s, err := m.enter(r)
	if err != nil {
		return err
	}
	defer s.leave()
	wake := s.attach()
	m.hub.refresh(s)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s.stream(r.Context(), w, wake)
	return nil
}

// session returns the session of a request.
func (m *mcpServer) session(r *http.Request) (*session, error) {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		return nil, refuse(http.StatusBadRequest, "begin with initialize, and send its %s from then on", sessionHeader)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		return s, nil
	}
	return nil, refuse(http.StatusNotFound, "there is no such session: begin a new one with initialize")
}

// enter is like session, and enters it: the caller must call leave.
func (m *mcpServer) enter(r *http.Request) (*session, error) {
	s, err := m.session(r)
	if err == nil && !s.enter() {
		err = refuse(http.StatusNotFound, "the session has ended")
	}
	return s, err
}

func (m *mcpServer) forget(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, s.id)
}
