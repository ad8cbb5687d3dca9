package companion

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/rawjson"
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
	m := &mcpServer{hub: h, version: version, sessions: map[string]*session{}}
	m.Endpoint = &mcphttp.Endpoint{Name: "the companion", Port: port, Token: token, Serve: m.serve,
		Lacking: "the token of the discovery file is missing, or is another one: read the file anew"}
	return m
}

// serve answers a request that has the token. An error is the answer, by [mcphttp.Refuse].
func (m *mcpServer) serve(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodPost:
		return m.post(w, r)
	case http.MethodGet:
		return m.get(w, r)
	case http.MethodDelete:
		s, err := m.session(r)
		if err == nil {
			s.end(true)
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
		return m.initialize(w, msg)
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

func (m *mcpServer) initialize(w http.ResponseWriter, msg *mcp.Message) error {
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
	s.timer = time.AfterFunc(s.grace, func() { s.end(false) })
	m.sessions[s.id] = s
	m.mu.Unlock()
	m.hub.join(s)
	w.Header().Set(mcphttp.SessionHeader, s.id)
	mcphttp.Respond(w, http.StatusOK, answer)
	return nil
}

func (m *mcpServer) get(w http.ResponseWriter, r *http.Request) error {
	s, err := m.enter(r)
	if err != nil {
		return err
	}
	defer s.leave()
	wake := s.attach()
	m.hub.resend(s)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s.stream(r.Context(), w, wake)
	return nil
}

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

// enter is session, which it keeps alive: the caller calls leave.
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

// answer handles a message of a session; nil: there is nothing to answer. Answers are
// ignored, since the CLIs get no requests.
func (m *mcpServer) answer(ctx context.Context, s *session, msg *mcp.Message) *mcp.Reply {
	if !msg.IsRequest() {
		return nil
	}
	tools := toolList
	if m.hub.noDiffs.Load() {
		// The CLIs ask once, and have no diffs unless both tools are there.
		tools = `{"tools":[]}`
	}
	return msg.Answer(json.RawMessage(tools), func(params json.RawMessage) (*mcp.CallResult, *mcp.Error) {
		return m.callTool(ctx, s, params)
	})
}

// toolList is the result of tools/list. suppressNotification is deprecated in the CLIs,
// which still send it; it asks for what closeDiff does anyway.
const toolList = `{"tools":[
{"name":"openDiff","title":"Open a diff","description":"Opens an editable diff of a file in the editor. What the user decides is told later, by ide/diffAccepted or ide/diffRejected.",
"inputSchema":{"type":"object","properties":{
"filePath":{"type":"string","description":"The absolute path of the file"},
"newContent":{"type":"string","description":"The proposed content of the whole file"}},
"required":["filePath","newContent"]}},
{"name":"closeDiff","title":"Close a diff","description":"Closes the diff of a file in the editor. The answer is a JSON object with the content that the user has left in it, if there was one.",
"inputSchema":{"type":"object","properties":{
"filePath":{"type":"string","description":"The absolute path of the file"},
"suppressNotification":{"type":"boolean","description":"Deprecated: closing never sends a notification"}},
"required":["filePath"]}}]}`

func (m *mcpServer) callTool(ctx context.Context, s *session, raw json.RawMessage) (*mcp.CallResult, *mcp.Error) {
	var params struct {
		Name      string `json:"name"`
		Arguments struct {
			FilePath   *string `json:"filePath"`
			NewContent *string `json:"newContent"`
		} `json:"arguments"`
	}
	err := decode(raw, &params)
	args, opens := params.Arguments, params.Name == "openDiff"
	switch {
	case !opens && params.Name != "closeDiff":
		return nil, &mcp.Error{Code: jsonrpc2.CodeInvalidParams, Message: "there is no tool " + params.Name}
	case err != nil:
	case args.FilePath == nil:
		err = errors.New("filePath is missing")
	case opens && args.NewContent == nil:
		err = errors.New("newContent is missing")
	case opens:
		if err = m.hub.openDiff(ctx, s, *args.FilePath, *args.NewContent); err == nil {
			return &mcp.CallResult{Content: []any{}}, nil
		}
	default:
		var left struct {
			Content *string `json:"content,omitempty"`
		}
		if left.Content, err = m.hub.closeDiff(s, *args.FilePath); err == nil {
			text, _ := rawjson.Marshal(left) // a string always encodes
			return mcp.Text(string(text)), nil
		}
	}
	return mcp.Failure(err), nil
}
