package stdio

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// An rpcMessage has the members of a line that JSON-RPC knows, as views of it. Of a key that
// occurs twice it has the last.
type rpcMessage map[string]gjson.Result

func parseMessage(line []byte) rpcMessage {
	m := rpcMessage{}
	// gjson.ParseBytes would copy the line, with the editor's images in it.
	gjson.Parse(rawjson.View(line)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "jsonrpc", "id", "method", "params", "result", "error":
			m[key.Str] = value
		}
		return true
	})
	return m
}

// route has a request handled, decodes an answer into v, or refuses the message. It reports
// whether v is set.
func (s *Conn) route(m rpcMessage, v any) bool {
	given, version, method, params := m["id"], m["jsonrpc"], m["method"], m["params"]
	result, failure := m["result"], m["error"]
	id := "null"
	if isID(given) {
		id = given.Raw
	}
	invalid := func(what string) bool {
		s.refuse(id, jsonrpc2.CodeInvalidRequest, "editor: "+what)
		return false
	}
	switch {
	case !method.Exists() && (result.Exists() || failure.Exists()):
		return decodeAnswer(m, v)
	case !method.Exists():
		return invalid("this message has neither a method nor a result: a request needs a method")
	case method.Type != gjson.String:
		return invalid("the method is not a string: name it in quotes")
	case result.Type != gjson.Null || failure.Type != gjson.Null:
		return invalid("this message has a method and a result: send a request or an answer")
	case version.Exists() && (version.Type != gjson.String || version.Str != "2.0"):
		return invalid(`this is not JSON-RPC 2.0: send "jsonrpc":"2.0"`)
	case given.Exists() && id == "null":
		return invalid("the id of a request is a string or a number: leave it out to send a notification")
	}
	if given.Exists() && !s.admit() {
		s.refuse(id, jsonrpc2.CodeInternalError, fmt.Sprintf(
			"editor: %d requests are open, which is the limit: wait for replies before sending more", s.maxOpen))
		return false
	}
	var kept json.RawMessage
	if params.Exists() {
		kept = rawjson.AppendValue(nil, params.Raw)
	}
	s.handle(ID(strings.Clone(given.Raw)), strings.Clone(method.Str), kept)
	return false
}

// admit counts one more open request; false if there are too many.
func (s *Conn) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.maxOpen {
		return false
	}
	s.open++
	return true
}

// decodeAnswer decodes an answer into v; false if its id cannot be ours. The line itself would not
// do: the library matches some keys without regard to case, and mixes up what belongs to a
// request and to a response.
func decodeAnswer(m rpcMessage, v any) bool {
	id, ok := ownRequest(m["id"])
	if !ok {
		return false
	}
	b := strconv.AppendUint([]byte(`{"jsonrpc":"2.0","id":`), id, 10)
	switch {
	case m["error"].Type != gjson.Null: // also if there is a result: an error is the worse news
		b = append(append(b, `,"error":`...), editorError(m["error"])...)
	case m["result"].Exists():
		b = append(append(b, `,"result":`...), m["result"].Raw...)
	default:
		b = append(b, `,"result":null`...)
	}
	if err := json.Unmarshal(append(b, '}'), v); err != nil {
		// For example a number that no float64 holds. The call must still end.
		what, _ := json.Marshal("editor: its answer cannot be read: " + err.Error())
		_ = json.Unmarshal(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":%s}}`, id, jsonrpc2.CodeInternalError, what), v)
	}
	return true
}

// editorError spells an error of the editor as the library takes it, with an integer and a string;
// editors send a string alone, too.
func editorError(e gjson.Result) []byte {
	text := e
	if e.IsObject() {
		text = e.Get("message")
	}
	out := jsonrpc2.Error{Code: e.Get("code").Int(), Message: text.String()}
	if data := e.Get("data"); data.Exists() {
		out.Data = new(json.RawMessage(data.Raw))
	}
	b, _ := json.Marshal(out) // a string always encodes, and data was JSON
	return b
}

// An ID is a request's: its JSON, a string or a number as the editor wrote it, so that it comes
// back byte for byte; "" is that of a notification.
type ID string

// headID returns the JSON of the id of a request of which only the beginning
// can be trusted; "null" if it is not certain. An error reply to an id that the
// line did not have, or to one of an answer, would end another request. So the line
// must have a method, and go on after the id, or it could be 1 of 12.
func headID(line []byte) string {
	line = line[:min(len(line), lineHead)]
	id := gjson.GetBytes(line, "id")
	if !isID(id) || !gjson.Valid(id.Raw) || !utf8.ValidString(id.Raw) || id.Index+len(id.Raw) == len(line) || gjson.GetBytes(line, "method").Type != gjson.String {
		return "null"
	}
	return id.Raw
}

func isID(v gjson.Result) bool { return v.Type == gjson.String || v.Type == gjson.Number }

// ownRequest returns the number of the request of ours that an answer with this id belongs to;
// false for an id that is no whole number. Clients in languages with one kind of number, or
// that keep ids as keys of a table, answer request 1 with "1" or 1.0.
func ownRequest(id gjson.Result) (n uint64, ok bool) {
	f, err := strconv.ParseFloat(id.String(), 64)
	n = uint64(f)
	return n, err == nil && float64(n) == f
}
