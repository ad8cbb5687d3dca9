// Package mcphttp is what servers of MCP have in common that serve programs on this machine
// by streamable HTTP: who may come in, how a message is read, and how it is answered.
//
// [Host] starts a goroutine that serves, and returns what ends it. net/http's goroutines share one thing
// here, under a mutex: the connections that have shown no token.
package mcphttp

import (
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

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/mcp"
)

const (
	// MaxBody is how large a request may be: a tool's arguments may hold a whole file. What
	// an editor sends in a line has the same limit (stdio.MaxLine).
	MaxBody = 32 << 20
	// BodyWait is how long a client may take to send a body, headerWait a header, idleWait
	// how long a connection may idle between two requests, WriteWait how long it may take to
	// read what is written.
	BodyWait   = 30 * time.Second
	headerWait = 10 * time.Second
	idleWait   = 2 * time.Minute
	WriteWait  = 30 * time.Second
	maxHeader  = 64 << 10

	// SessionHeader and VersionHeader are MCP's.
	SessionHeader = "Mcp-Session-Id"
	VersionHeader = "Mcp-Protocol-Version"
	// Path is where a server is.
	Path = "/mcp"
)

// An Endpoint admits the clients of one server.
type Endpoint struct {
	// Name is what errors call the server, and Lacking what they say of a wrong token.
	Name, Lacking string
	Port          int
	Token         string
	// Serve serves a request of a client that has shown the token. Its error may be one of
	// [Refuse].
	Serve func(http.ResponseWriter, *http.Request) error

	strangers strangers
}

// Server returns the HTTP server for e. Its requests end with ctx.
func (e *Endpoint) Server(ctx context.Context, log *slog.Logger) *http.Server {
	return &http.Server{Handler: e, ReadHeaderTimeout: headerWait, IdleTimeout: idleWait, MaxHeaderBytes: maxHeader,
		ConnState: e.strangers.state, ConnContext: connOf,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
}

// Host serves MCP without sessions on a free port of this machine, until stop is called.
func Host(answer func(context.Context, *mcp.Message) *mcp.Reply) (url, token string, stop func() error, err error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", "", nil, err
	}
	e := &Endpoint{Name: "the editor's server", Lacking: "the token is missing, or is another one",
		Port: listener.Addr().(*net.TCPAddr).Port, Token: rand.Text()}
	e.Serve = func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", "POST")
			return Refuse(http.StatusMethodNotAllowed, "use POST")
		}
		msg, err := Read(w, r)
		switch {
		case err != nil:
			return err
		case msg.IsRequest():
			Respond(w, http.StatusOK, answer(r.Context(), msg))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
		return nil
	}
	server := e.Server(context.Background(), slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(listener) }() // ends with stop
	return fmt.Sprintf("http://127.0.0.1:%d%s", e.Port, Path), e.Token, server.Close, nil
}

// A refusal answers a request with an error without an ID.
type refusal struct {
	status, code int
	text         string
}

func (e *refusal) Error() string { return e.text }

// Refuse returns an error that answers a request with this status.
func Refuse(status int, format string, args ...any) error {
	return &refusal{status, jsonrpc2.CodeInvalidRequest, fmt.Sprintf(format, args...)}
}

// ServeHTTP implements [http.Handler].
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := e.guard(r)
	if err == nil {
		err = e.Serve(w, r)
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		if refused.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		Respond(w, refused.status, &mcp.Reply{JSONRPC: "2.0", ID: json.RawMessage("null"), Error: &mcp.Error{Code: refused.code, Message: refused.text}})
	}
}

// guard admits only programs that have the token. Like the companion for VS Code, it refuses
// web pages by Origin and by Host (a page's own host name may resolve to this machine), even
// if they knew the token.
func (e *Endpoint) guard(r *http.Request) error {
	if r.Header["Origin"] != nil {
		return Refuse(http.StatusForbidden, "web pages may not talk to %s", e.Name)
	}
	if r.Host != fmt.Sprintf("127.0.0.1:%d", e.Port) && r.Host != fmt.Sprintf("localhost:%d", e.Port) {
		return Refuse(http.StatusForbidden, "%s is 127.0.0.1, and called by no other name", e.Name)
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(e.Token)) != 1 {
		return Refuse(http.StatusUnauthorized, "%s", e.Lacking)
	}
	e.strangers.known(r)
	if r.URL.Path != Path {
		return Refuse(http.StatusNotFound, "%s is at %s", e.Name, Path)
	}
	if v := r.Header.Get(VersionHeader); v != "" && !slices.Contains(mcp.Versions(), v) {
		return Refuse(http.StatusBadRequest, "MCP %s is not spoken here: there are %s", v, strings.Join(mcp.Versions(), ", "))
	}
	return nil
}

// Read reads the message of a request.
func Read(w http.ResponseWriter, r *http.Request) (*mcp.Message, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, Refuse(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Now().Add(BodyWait)) // a test's writer has none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	// No deadline, because the server goes on reading to notice the end of the connection.
	_ = out.SetReadDeadline(time.Time{})
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, Refuse(http.StatusRequestEntityTooLarge, "more than %d bytes", large.Limit)
	} else if err != nil {
		return nil, Refuse(http.StatusBadRequest, "the request was cut off")
	}
	msg := new(mcp.Message)
	if err := json.Unmarshal(body, msg); err != nil {
		return nil, &refusal{http.StatusBadRequest, jsonrpc2.CodeParseError, "the body is no JSON-RPC message"}
	}
	if !msg.IsValid() {
		return nil, Refuse(http.StatusBadRequest, "not a JSON-RPC 2.0 message")
	}
	return msg, nil
}

// Respond answers with one JSON document, as MCP allows.
func Respond(w http.ResponseWriter, status int, answer *mcp.Reply) {
	body, err := rawjson.Marshal(answer)
	if err != nil {
		http.Error(w, "the answer cannot be encoded", http.StatusInternalServerError)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(WriteWait)) // a test's writer has none
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// MaxStrangers bounds the connections that have shown no token. Anybody on the machine
// can open some, and files are limited; a client shows the token with its first request.
const MaxStrangers = 256

// strangers are these connections, the oldest first. Beyond the limit the oldest is
// closed, so that they keep no client out.
type strangers struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (s *strangers) state(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns = append(s.conns, c)
		if len(s.conns) > MaxStrangers {
			s.conns[0].Close()
			s.conns = slices.Delete(s.conns, 0, 1)
		}
	case http.StateClosed, http.StateHijacked:
		s.forget(c)
	}
}

func (s *strangers) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.conns, c); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
}

type connKey struct{}

// connOf is [http.Server.ConnContext]: a request knows its connection.
func connOf(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// known takes a request's connection from among the strangers.
func (s *strangers) known(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		s.forget(c)
	}
}
