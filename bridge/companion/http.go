package companion

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// maxSessions bounds the memory that a program can make us use; a CLI has one session.
	maxSessions = 64

	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	mcpPath       = "/mcp"
)

// An mcpServer is the MCP server over streamable HTTP.
type mcpServer struct {
	hub     *hub
	token   []byte
	port    int
	version string

	mu       sync.Mutex
	sessions map[string]*session
	closed   bool
	work     sync.WaitGroup // requests
}

func newMCPServer(h *hub, token string, port int, version string) *mcpServer {
	version = cmp.Or(version, "(devel)")
	return &mcpServer{hub: h, token: []byte(token), port: port, version: version, sessions: map[string]*session{}}
}

// ServeHTTP implements [http.Handler].
func (m *mcpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		refuse(w, http.StatusServiceUnavailable, "the companion has ended")
		return
	}
	m.work.Add(1)
	m.mu.Unlock()
	defer m.work.Done()

	if status, text := m.guard(r); status != 0 {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		refuse(w, status, text)
		return
	}
	switch r.Method {
	case http.MethodPost:
		m.post(w, r)
	case http.MethodGet:
		m.get(w, r)
	case http.MethodDelete:
		if s := m.session(w, r); s != nil {
			s.end()
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, "use GET, POST or DELETE")
	}
}

// post answers messages with one JSON document, as MCP allows. It sends no notification
// before an answer.
func (m *mcpServer) post(w http.ResponseWriter, r *http.Request) {
	messages, batch, ok := readMessages(w, r)
	if !ok {
		return
	}
	if first := &messages[0]; r.Header.Get(sessionHeader) == "" && !batch && first.Method == "initialize" && first.valid() && first.isRequest() {
		m.begin(w, first)
		return
	}
	s := m.enter(w, r)
	if s == nil {
		return
	}
	defer s.leave()
	if batch && s.version != batchVersion {
		refuse(w, http.StatusBadRequest, "MCP "+s.version+" has no batches")
		return
	}
	var replies []*reply
	for i := range messages {
		if answer := m.answer(r.Context(), s, &messages[i]); answer != nil {
			replies = append(replies, answer)
		}
	}
	switch {
	case len(replies) == 0:
		w.WriteHeader(http.StatusAccepted)
	case batch:
		respond(w, http.StatusOK, replies)
	case replies[0].Error != nil && string(replies[0].ID) == "null":
		respond(w, http.StatusBadRequest, replies[0])
	default:
		respond(w, http.StatusOK, replies[0])
	}
}

// readMessages reads the messages of a request, at least one. If the request is wrong,
// it answers it.
func readMessages(w http.ResponseWriter, r *http.Request) (messages []message, batch, ok bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return nil, false, false
	}
	if !accepts(r, "application/json", "application/*", "*/*") {
		refuse(w, http.StatusNotAcceptable, "Accept must name application/json")
		return nil, false, false
	}
	body, err := readBody(w, r)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d bytes", large.Limit))
		return nil, false, false
	} else if err != nil {
		refuse(w, http.StatusBadRequest, "the request was cut off")
		return nil, false, false
	}
	if messages, batch, err = parse(body); err != nil {
		respond(w, http.StatusBadRequest, failure(nil, codeParse, err.Error()))
		return nil, false, false
	}
	return messages, batch, true
}

// begin begins a session.
func (m *mcpServer) begin(w http.ResponseWriter, msg *message) {
	version, answer := m.initialize(msg)
	if answer.Error != nil {
		respond(w, http.StatusBadRequest, answer)
		return
	}
	s := &session{id: rand.Text(), version: version, server: m, grace: quietGrace, idle: time.Now()}
	if !m.add(s) {
		refuse(w, http.StatusServiceUnavailable, "too many sessions")
		return
	}
	m.hub.join(s)
	w.Header().Set(sessionHeader, s.id)
	respond(w, http.StatusOK, answer)
}

// add registers a session. If there are too many, the one that has not been used
// for longest ends; false: all are in use, or the server is closed.
func (m *mcpServer) add(s *session) bool {
	m.mu.Lock()
	for !m.closed && len(m.sessions) >= maxSessions {
		var oldest *session
		var since time.Time
		for _, other := range m.sessions {
			if at, idle := other.idleSince(); idle && (oldest == nil || at.Before(since)) {
				oldest, since = other, at
			}
		}
		m.mu.Unlock()
		if oldest == nil {
			return false
		}
		oldest.expire()
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	s.timer = time.AfterFunc(s.grace, s.expire)
	m.sessions[s.id] = s
	return true
}

// get is a session's stream.
func (m *mcpServer) get(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "text/event-stream", "text/*", "*/*") {
		refuse(w, http.StatusNotAcceptable, "Accept must name text/event-stream")
		return
	}
	s := m.enter(w, r)
	if s == nil {
		return
	}
	defer s.leave()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	st := s.attach(cancel)
	if st == nil {
		refuse(w, http.StatusConflict, "the session has enough streams")
		return
	}
	defer s.detach(st)
	m.hub.refresh(s)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s.stream(ctx, w, st)
}

// session returns the session of a request. If there is none, it answers the request.
func (m *mcpServer) session(w http.ResponseWriter, r *http.Request) *session {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		refuse(w, http.StatusBadRequest, "begin with initialize, and send its "+sessionHeader+" from then on")
		return nil
	}
	m.mu.Lock()
	s := m.sessions[id]
	m.mu.Unlock()
	if s == nil {
		refuse(w, http.StatusNotFound, "there is no such session: begin a new one with initialize")
	}
	return s
}

// enter is like session, and enters it: the caller must call leave.
func (m *mcpServer) enter(w http.ResponseWriter, r *http.Request) *session {
	s := m.session(w, r)
	if s != nil && !s.enter() {
		refuse(w, http.StatusNotFound, "the session has ended")
		return nil
	}
	return s
}

func (m *mcpServer) forget(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, s.id)
}

// close ends all sessions; later requests are refused.
func (m *mcpServer) close() {
	m.mu.Lock()
	m.closed = true
	sessions := make([]*session, 0, len(m.sessions))
	for _, s := range m.sessions {
		sessions = append(sessions, s)
	}
	m.mu.Unlock()
	for _, s := range sessions {
		s.end()
	}
}

// wait returns when no request is under way.
func (m *mcpServer) wait() { m.work.Wait() }

// parse reads a body: one message, or a batch of them.
func parse(body []byte) (messages []message, batch bool, err error) {
	if trimmed := strings.TrimLeft(string(body[:min(len(body), 64)]), " \t\r\n"); strings.HasPrefix(trimmed, "[") {
		if err := json.Unmarshal(body, &messages); err != nil || len(messages) == 0 {
			return nil, true, errors.New("the body is no batch of JSON-RPC messages")
		}
		return messages, true, nil
	}
	var one message
	if err := json.Unmarshal(body, &one); err != nil {
		return nil, false, errors.New("the body is no JSON-RPC message")
	}
	return []message{one}, false, nil
}
