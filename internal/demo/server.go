package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBody bounds a request. Prompts carry images and files as base64, so it is large;
// it keeps one request from filling the memory.
const maxBody = 64 << 20

const (
	codeParse             = -32700
	codeInvalidRequest    = -32600
	codeMethodNotFound    = -32601
	codeInvalidParams     = -32602
	codeInternal          = -32603
	codeTaskNotFound      = -32001
	codeNotCancelable     = -32002
	codePushNotSupported  = -32003
	codeUnsupported       = -32004
	codeNoExtendedCard    = -32007
	codeExtensionRequired = -32008
	codeVersionNotSupport = -32009
)

// An rpcError is a client's fault, or something that the agent cannot do.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

func invalidParams(format string, args ...any) error {
	return &rpcError{Code: codeInvalidParams, Message: "invalid params: " + fmt.Sprintf(format, args...)}
}

// A request is one JSON-RPC request, with the results of its headers.
type request struct {
	id     json.RawMessage
	method string // by its 0.3 name
	called string // by the name that the client used
	params json.RawMessage
	wire   wire
	events bool // the client asked for an event stream
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// ServeHTTP serves the card at /.well-known/agent-card.json and JSON-RPC at /.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allow, serve := "POST", a.serveRPC
	switch r.URL.Path {
	case "/.well-known/agent-card.json":
		allow, serve = "GET, HEAD", a.serveCard
	case "/":
	default:
		httpError(w, http.StatusNotFound, fmt.Sprintf("nothing at %s: the card is at /.well-known/agent-card.json, JSON-RPC at /", r.URL.Path))
		return
	}
	if !strings.Contains(allow, r.Method) {
		w.Header().Set("Allow", allow)
		httpError(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s %s: want %s", r.Method, r.URL.Path, allow))
		return
	}
	serve(w, r)
}

// httpError answers a request that is not JSON-RPC.
func httpError(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = writeJSON(w, map[string]string{"error": text})
}

func (a *Agent) serveRPC(w http.ResponseWriter, r *http.Request) {
	if !a.admits(w, r) {
		return
	}
	req, err := a.readRequest(w, r)
	if err == nil {
		w.Header().Set(req.wire.extensionsHeader(), ExtensionURI)
		err = a.dispatch(r.Context(), w, req)
	}
	if err != nil {
		req.fail(w, err)
	}
}

// readRequest reads the envelope. The request is never nil, so that an error can be
// answered with the known members.
func (a *Agent) readRequest(w http.ResponseWriter, r *http.Request) (*request, error) {
	req := &request{id: json.RawMessage("null")}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return req, &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("the request is larger than %d bytes", tooLarge.Limit)}
		}
		return req, &rpcError{Code: codeParse, Message: "reading the request: " + err.Error()}
	}
	if !json.Valid(body) || !utf8.Valid(body) {
		return req, &rpcError{Code: codeParse, Message: "the request is not JSON in UTF-8"}
	}
	if b := bytes.TrimLeft(body, " \t\r\n"); b[0] == '[' {
		return req, &rpcError{Code: codeInvalidRequest, Message: "batches are not supported"}
	}
	var envelope struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return req, &rpcError{Code: codeInvalidRequest, Message: "not a JSON-RPC request: " + err.Error()}
	}
	switch id := envelope.ID; {
	case len(id) == 0:
		return req, &rpcError{Code: codeInvalidRequest, Message: "a request needs an id"}
	case id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f':
		return req, &rpcError{Code: codeInvalidRequest, Message: "an id is a string, a number or null"}
	}
	req.id, req.params = envelope.ID, envelope.Params
	if envelope.Version != "2.0" {
		return req, &rpcError{Code: codeInvalidRequest, Message: `jsonrpc is not "2.0"`}
	}
	if envelope.Method == "" {
		return req, &rpcError{Code: codeInvalidRequest, Message: "a request needs a method"}
	}
	if req.wire, err = wireOf(r); err != nil {
		return req, err
	}
	req.called = envelope.Method
	if req.method = req.wire.method(req.called); req.method == "" {
		return req, &rpcError{Code: codeMethodNotFound, Message: fmt.Sprintf("method not found: %s", envelope.Method)}
	}
	if !activates(r.Header.Values(req.wire.extensionsHeader())) {
		return req, &rpcError{Code: codeExtensionRequired, Message: fmt.Sprintf("extension support required: the card requires %s, which this request does not activate by the header %s",
			ExtensionURI, req.wire.extensionsHeader())}
	}
	req.events = strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream")
	return req, nil
}

// wireOf selects the A2A version of a request, by its header or by the query parameter of
// the same name. Without either it is 0.3; a patch version is refused.
func wireOf(r *http.Request) (wire, error) {
	switch asked := cmp.Or(r.Header.Get("A2A-Version"), r.URL.Query().Get("A2A-Version")); asked {
	case "1.0":
		return wire{v1: true}, nil
	case "", "0.3":
		return wire{}, nil
	default:
		return wire{}, &rpcError{Code: codeVersionNotSupport, Message: fmt.Sprintf("A2A version %q is not supported", asked)}
	}
}

// activates reports whether the header's lines name the extension. A line may
// hold several URIs, separated by commas.
func activates(lines []string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(lines, ","), ","), func(uri string) bool { return strings.TrimSpace(uri) == ExtensionURI })
}

// dispatch answers a request, or returns the error to answer it with.
func (a *Agent) dispatch(ctx context.Context, w http.ResponseWriter, req *request) error {
	var result any
	var err error
	switch req.method {
	case "message/send":
		result, err = a.send(ctx, req)
	case "message/stream":
		return a.stream(ctx, w, req)
	case "tasks/get":
		result, err = a.get(req)
	case "tasks/list":
		result, err = a.list(req)
	case "tasks/cancel":
		result, err = a.cancel(req)
	case "tasks/resubscribe":
		return a.resubscribe(ctx, w, req)
	case "command/execute":
		return a.execute(ctx, w, req)
	case "commands/get":
		result = map[string]any{"commands": published(a.commands())}
	case "agent/getAuthenticatedExtendedCard":
		return &rpcError{Code: codeNoExtendedCard, Message: "there is no extended card"}
	default:
		return &rpcError{Code: codePushNotSupported, Message: "push notifications are not supported"}
	}
	if err != nil {
		return err
	}
	return req.answer(w, result)
}

// answer sends a request's result. It reports no error: a failed connection leaves
// nobody to tell.
func (req *request) answer(w http.ResponseWriter, result any) error {
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, response{Version: "2.0", ID: req.id, Result: result})
	return nil
}

// fail answers with an error, always as HTTP 200 and JSON, also for a streaming call
// that has not sent an event.
func (req *request) fail(w http.ResponseWriter, err error) {
	e := &rpcError{Code: codeInternal, Message: err.Error()}
	errors.As(err, &e)
	spelled := req.wire.fail(*e)
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, response{Version: "2.0", ID: req.id, Error: &spelled})
}

// readParams decodes a method's parameters, which each method here needs.
func readParams(params json.RawMessage, into any) error {
	if len(params) == 0 || string(params) == "null" {
		return errors.New("params are missing")
	}
	return json.Unmarshal(params, into)
}

// writeJSON writes a value and a line feed. Unlike json.Marshal it does not escape <
// and &, which code is full of.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
