package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// The codes of JSON-RPC's errors that are told from others here.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeInternal       = -32603
)

// An Error is JSON-RPC's, ours or the editor's. Data is of ours alone.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("editor: %s (%d)", e.Message, e.Code) }

// An rpcMessage is the members of a line that JSON-RPC knows. They are views of the
// line.
type rpcMessage struct {
	version, id, method, params, result, err gjson.Result
}

func parseMessage(line []byte) (m rpcMessage) {
	// gjson.ParseBytes would copy the line, with the editor's images in it.
	gjson.Parse(rawjson.View(line)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "jsonrpc":
			m.version = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
		return true
	})
	return m
}

// route has a request handled, and gives an answer to the call that waits for it.
func (s *Conn) route(m rpcMessage) {
	id := "null"
	if isID(m.id) {
		id = m.id.Raw
	}
	invalid := func(what string) { s.refuse(id, codeInvalidRequest, "editor: "+what) }
	switch {
	case !m.method.Exists() && (m.result.Exists() || m.err.Exists()):
		s.answer(m)
	case !m.method.Exists():
		s.mu.Lock()
		if _, ok := s.oursLocked(m.id); ok {
			id = "null" // it may also be a bad answer to a request of ours
		}
		s.mu.Unlock()
		invalid("this message has neither a method nor a result: a request needs a method")
	case m.method.Type != gjson.String:
		invalid("the method is not a string: name it in quotes")
	case m.result.Type != gjson.Null || m.err.Type != gjson.Null:
		invalid("this message has a method and a result: send a request or an answer")
	case m.version.Exists() && (m.version.Type != gjson.String || m.version.Str != "2.0"):
		invalid(`this is not JSON-RPC 2.0: send "jsonrpc":"2.0"`)
	case m.id.Exists() && id == "null":
		invalid("the id of a request is a string or a number: leave it out to send a notification")
	case m.id.Exists() && !s.admit():
		s.refuse(id, codeInternal, fmt.Sprintf(
			"editor: %d requests are open, which is the limit: wait for replies before sending more", s.maxOpen))
	default:
		var params json.RawMessage
		if m.params.Exists() {
			params = rawjson.AppendValue(nil, m.params.Raw)
		}
		s.handle(ID(strings.Clone(m.id.Raw)), strings.Clone(m.method.Str), params)
	}
}

// admit counts one more open request, unless there are too many.
func (s *Conn) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.maxOpen {
		return false
	}
	s.open++
	return true
}

// Call sends the editor a request, and decodes its answer into result, which may be nil. It
// returns an [Error] of the editor's, or ctx's error, or another one after Close, or because a
// write failed; and the request's ID, for a cancel. What is answered later is dropped.
func (s *Conn) Call(ctx context.Context, method string, params, result any) (ID, error) {
	n := s.calls.Add(1) // from 1: some peers read a null ID as 0
	id := ID(strconv.FormatUint(n, 10))
	line, err := request(id, method, params)
	if err != nil {
		return id, err
	}
	answered := make(chan answer, 1)
	s.mu.Lock()
	if err = s.queueLocked(line); err == nil {
		s.ours[n] = answered
	}
	s.mu.Unlock()
	if err != nil {
		return id, err
	}
	select {
	case a := <-answered:
		if a.err == nil && result != nil {
			if err := json.Unmarshal(a.result, result); err != nil {
				a.err = fmt.Errorf("editor: its answer to %s cannot be read: %w", method, err)
			}
		}
		return id, a.err
	case <-ctx.Done():
		return id, ctx.Err()
	case <-s.closed:
		return id, s.errClosed()
	}
}

// An answer is the editor's to a request of ours.
type answer struct {
	result json.RawMessage
	err    error
}

// answer gives an answer to the call that waits for it.
func (s *Conn) answer(m rpcMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.oursLocked(m.id)
	if !ok {
		return
	}
	a := answer{result: json.RawMessage("null")}
	switch {
	case m.err.Type != gjson.Null: // also if there is a result: an error is the worse news
		a.err = editorError(gjson.Parse(strings.Clone(m.err.Raw)))
	case m.result.Exists():
		a.result = json.RawMessage(m.result.Raw)
	}
	s.ours[id] <- a
	delete(s.ours, id)
}

// editorError reads an error of the editor's, which should be an object with an integer and
// a string; editors send strings, too.
func editorError(e gjson.Result) *Error {
	text := e
	if e.IsObject() {
		text = e.Get("message")
	}
	return &Error{Code: int(e.Get("code").Int()), Message: text.String()}
}
