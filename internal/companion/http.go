package companion

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/mapping/mcp"
)

// maxSessions bounds the memory that a program can make us use; a CLI has one session,
// and one that has gone ends soon.
const maxSessions = 64

// An mcpServer is the MCP server over streamable HTTP. It admits programs that have read the
// discovery file, which only the user can.
type mcpServer struct {
	*mcphttp.Endpoint
	hub     *hub
	version string

	mu       sync.Mutex
	sessions map[string]*session
}

func newMCPServer(h *hub, token string, port int, version string) *mcpServer {
	m := &mcpServer{hub: h, version: cmp.Or(version, "(devel)"), sessions: map[string]*session{}}
	m.Endpoint = &mcphttp.Endpoint{Name: "the companion", Port: port, Token: token, Serve: m.serve,
		Lacking: "the token of the discovery file is missing, or is another one: read the file anew"}
	return m
}

func (m *mcpServer) serve(w http.ResponseWriter, r *http.Request) error {
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
	return mcphttp.Refuse(http.StatusMethodNotAllowed, "use GET, POST or DELETE")
}

// post answers a message. It sends no notification before an answer.
func (m *mcpServer) post(w http.ResponseWriter, r *http.Request) error {
	msg, err := mcphttp.Read(w, r)
	if err != nil {
		return err
	}
	if r.Header.Get(mcphttp.SessionHeader) == "" && msg.Method == "initialize" && msg.IsRequest() {
		return m.begin(w, msg)
	}
	s, err := m.enter(r)
	if err != nil {
		return err
	}
	defer s.leave()
	if answer := m.answer(r.Context(), s, msg); answer != nil {
		mcphttp.Respond(w, http.StatusOK, answer)
	} else {
		w.WriteHeader(http.StatusAccepted)
	}
	return nil
}

// begin begins a session.
func (m *mcpServer) begin(w http.ResponseWriter, msg *mcp.Message) error {
	answer := msg.Initialize(mcp.Versions(), mcp.Implementation{Name: "a2astdio-companion", Title: "a2astdio IDE companion", Version: m.version})
	if answer.Error != nil {
		mcphttp.Respond(w, http.StatusBadRequest, answer)
		return nil
	}
	s := &session{id: rand.Text(), server: m, grace: idleGrace}
	s.ctx, s.cancel = context.WithCancel(m.hub.ctx)
	m.mu.Lock()
	if len(m.sessions) >= maxSessions {
		m.mu.Unlock()
		s.cancel()
		return mcphttp.Refuse(http.StatusServiceUnavailable, "too many sessions")
	}
	s.timer = time.AfterFunc(s.grace, s.expire)
	m.sessions[s.id] = s
	m.mu.Unlock()
	m.hub.join(s)
	w.Header().Set(mcphttp.SessionHeader, s.id)
	mcphttp.Respond(w, http.StatusOK, answer)
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
	id := r.Header.Get(mcphttp.SessionHeader)
	if id == "" {
		return nil, mcphttp.Refuse(http.StatusBadRequest, "begin with initialize, and send its %s from then on", mcphttp.SessionHeader)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		return s, nil
	}
	return nil, mcphttp.Refuse(http.StatusNotFound, "there is no such session: begin a new one with initialize")
}

// enter is like session, and enters it: the caller must call leave.
func (m *mcpServer) enter(r *http.Request) (*session, error) {
	s, err := m.session(r)
	if err == nil && !s.enter() {
		err = mcphttp.Refuse(http.StatusNotFound, "the session has ended")
	}
	return s, err
}

func (m *mcpServer) forget(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, s.id)
}
