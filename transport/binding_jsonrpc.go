package transport

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// bindingJSONRPC is what cards call the JSON-RPC binding.
const bindingJSONRPC = "JSONRPC"

// jsonRPC is A2A over JSON-RPC 2.0 (specification 1.0, §9; 0.3, §3.2.1): each
// operation is a method, each answer and each frame of a stream a response.
type jsonRPC struct{}

// The types that we take. For a stream, JSON is named as well: an agent may
// refuse at once, or have no more than one thing to say.
const (
	acceptJSON   = "application/json"
	acceptStream = "text/event-stream, application/json"
)

// request implements [binding].
func (jsonRPC) request(p protocol, op *operation) (*request, error) {
	method := op.method
	if op.kind != opMethod {
		method = spellingOf(op.kind).method(p)
	}
	params, err := p.params(op)
	if err != nil {
		return nil, err
	}
	op.what = method
	name, _ := rawjson.Marshal(method) // a string always encodes
	body := append(strconv.AppendUint([]byte(`{"jsonrpc":"2.0","id":`), op.id, 10), `,"method":`...)
	body = append(body, name...)
	if params != nil {
		body = append(append(body, `,"params":`...), params...)
	}
	r := &request{verb: http.MethodPost, accept: acceptJSON, body: append(body, '}')}
	if op.stream {
		r.accept = acceptStream
	}
	return r, nil
}

// result implements [binding]. It reads a response whatever its HTTP status and type: a2a-go 0.3 sends errors as
// text/plain, others send them with 4xx or 500. A response without result and error is
// read as the result null. An "error" without a code or a version is what routers say with
// 404 (NestJS, Fastify, Spring), and no response.
func (jsonRPC) result(_ *operation, status int, raw string, valid bool) (json.RawMessage, *a2a.Error) {
	if !valid || !rawjson.IsObject(raw) {
		return nil, nil
	}
	r := readResponse(raw)
	switch {
	case r.failure != "":
		e, _ := readError(r.failure)
		if e.Code == 0 && !r.versioned && status == http.StatusNotFound {
			return nil, nil
		}
		return nil, e
	case !r.is && rawjson.Member(raw, "code") != "": // an error object by itself
		if e, _ := readError(raw); e.Code < 0 {
			return nil, e
		}
		return nil, nil
	case status >= 300 || !r.is:
		return nil, nil
	case r.result == "":
		return json.RawMessage("null"), nil
	}
	return json.RawMessage(r.result), nil
}

// event implements [binding]. It reads one response, and a payload without a response around it as well.
func (jsonRPC) event(p protocol, data string, failure bool, ev *a2a.Event) *a2a.Error {
	if !failure && decodeResult(p, data, ev) {
		return nil
	}
	r := readResponse(data)
	switch {
	case r.failure != "":
		data, failure = r.failure, true
	case r.result != "":
		data = r.result
	}
	if failure {
		e, _ := readError(data)
		return e
	}
	p.decode(data, ev)
	return nil
}

// decodeResult decodes a response whose last member is its result, as all servers that were tried send
// it, into ev; false for any other response, and then ev is not to be used. Decoding finds the end of
// the result, so that no pass is needed before.
func decodeResult(p protocol, data string, ev *a2a.Event) bool {
	result := 0
	rawjson.Walk(data, 0, func(key string, at int) (end int) {
		switch key {
		case "result":
			result = at
			return len(data)
		case "error":
			return len(data)
		}
		return rawjson.SkipValue(data, at)
	})
	if result == 0 || !rawjson.IsObject(data[result:]) {
		return false
	}
	p.decode(data[result:], ev)
	end := rawjson.SkipSpace(data, result+len(ev.Raw))
	return end < len(data) && data[end] == '}' && rawjson.SkipSpace(data, end+1) == len(data)
}

// A response is what is in a JSON-RPC response, as it is written. The id is not
// looked at: each exchange has one request, and servers that could not parse it
// answer with null.
type response struct {
	is              bool // it has the form of a response
	versioned       bool // it names a version of JSON-RPC
	result, failure string
}

func readResponse(raw string) (r response) {
	rawjson.EachMember(raw, func(key, value string) bool {
		switch key {
		case "jsonrpc":
			r.is, r.versioned = true, true
		case "result":
			r.is, r.result = true, value
		case "error":
			if value != "null" {
				r.is, r.failure = true, value
			}
		}
		return true
	})
	return r
}
