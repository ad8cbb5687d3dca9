package transport

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// httpJSON is A2A over HTTP+JSON (specification 1.0, §11; 0.3, §3.2.3): each
// operation is a verb and a path, each frame of a stream an object with nothing
// around it.
type httpJSON struct{}

// pushName is the resource name that 0.3's proto has for a push notification configuration, or,
// without an ID, for its task.
func pushName(task, id string) string {
	if id == "" {
		return "tasks/" + task
	}
	return "tasks/" + task + "/pushNotificationConfigs/" + id
}

// withoutOperation returns the URL of an interface without an operation that sends messages at its end:
// some cards name one there.
func (p protocol) withoutOperation(u *url.URL) *url.URL {
	for _, s := range spellings()[:2] {
		_, operation := s.route(p)
		if path, ok := strings.CutSuffix(u.Path, operation); ok {
			return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path, RawQuery: u.RawQuery}
		}
	}
	return u
}

// request implements [binding]. A method that is called by its name is the version's operation of that
// name, and its parameters are taken as they are; there are no other methods, such as those of extensions.
func (httpJSON) request(p protocol, op *operation) (*request, error) {
	kind := op.kind
	if kind == opMethod {
		if kind = operationOf(p, op.method); kind == opMethod {
			refusal := &a2a.Error{Code: a2a.CodeMethodNotFound, Message: "HTTP+JSON has A2A's own operations, and no method " + op.method}
			return nil, failf(refusal, "%s", refusal.Message)
		}
	}
	raw, err := p.params(op)
	if err != nil {
		return nil, err
	}
	params := parseNode(raw)
	if raw != nil && !params.IsObject() {
		return nil, failf(nil, "the parameters of %s are no object", op.method)
	}
	s := spellingOf(kind)
	verb, path := s.route(p)
	out := &request{verb: verb, accept: "application/a2a+json, application/json"}
	op.effective, op.what = kind, verb+" "+path
	if kind.streams() {
		out.accept = "text/event-stream"
	}
	if tenant := params.id("tenant"); tenant != "" {
		// One segment in the specification; Google's tenants have several, with slashes
		// that are not escaped.
		for segment := range strings.SplitSeq(tenant, "/") {
			out.path += "/" + escapeSegment(segment)
		}
	}
	filled, taken, err := fill(path, params, op.what)
	if err != nil {
		return nil, err
	}
	out.path += filled
	switch {
	case s.body:
		out.body = body(params, taken)
	case verb != http.MethodPost:
		out.query, err = query(params, append(taken, "tenant"), op.what)
	}
	return out, err
}

// result implements [binding]. An empty body is the result null.
func (httpJSON) result(op *operation, status int, raw string, valid bool) (json.RawMessage, *a2a.Error) {
	switch {
	case valid && (status >= 300 || hasError(raw)):
		return nil, readHTTPError(op, status, raw)
	case status >= 300:
		return nil, nil
	case valid:
		if rawjson.Member(raw, "jsonrpc") != "" { // early versions of the SDK for .NET
			raw = readResponse(raw).result
		}
		return json.RawMessage(raw), nil
	case raw == "":
		return json.RawMessage("null"), nil
	}
	return nil, nil
}

// event implements [binding]. Agents send errors in six forms; the sixth, a broken connection, is not
// seen here.
func (httpJSON) event(p protocol, data string, failure bool, ev *a2a.Event) *a2a.Error {
	if !failure {
		if p.decode(data, ev); ev.Kind != a2a.EventUnknown {
			return nil
		}
	}
	// A google.rpc.Status may come without anything around it, as JSON-RPC's error does.
	if failure || hasError(data) || rawjson.Member(data, "code") != "" && rawjson.IsString(rawjson.Member(data, "message")) {
		e := readHTTPError(&operation{effective: opStream}, 0, data)
		if e == nil {
			e = &a2a.Error{Message: quote([]byte(data))}
		}
		return e
	}
	if r := readResponse(data); r.result != "" { // the SDK for .NET, 1.0.0-preview1 and 2, writes JSON-RPC's envelope here, too
		p.decode(r.result, ev)
	}
	return nil
}

// body spells the parameters that are not taken, since they are in the path, as an object.
func body(params node, taken []string) []byte {
	if len(taken) == 0 && params.Raw != "" {
		return []byte(params.Raw)
	}
	b := []byte{'{'}
	params.ForEach(func(key, value gjson.Result) bool {
		if !slices.Contains(taken, key.Str) {
			b = append(append(append(comma(b, len("{")), key.Raw...), ':'), value.Raw...)
		}
		return true
	})
	return append(b, '}')
}

// query spells the parameters that are not taken as a query (specification 1.0, §11.5): lists repeat
// the name. It refuses an object, which has no place there.
func query(params node, taken []string, what string) (text string, err error) {
	var q []string
	params.ForEach(func(key, value gjson.Result) bool {
		switch {
		case slices.Contains(taken, key.Str):
		case value.IsObject():
			err = failf(nil, "%s has no place for %s, which is an object: it goes in the URL", what, key.Str)
		default:
			for _, one := range value.Array() { // of one value a list of one, of null an empty one
				q = append(q, escapeQuery(key.Str)+"="+escapeQuery(one.String()))
			}
		}
		return err == nil
	})
	return strings.Join(q, "&"), err
}

// escapeQuery escapes by RFC 3986, which has no plus for a space.
func escapeQuery(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// fill puts parameters into the path of a route, and returns the names of those that it has taken. It
// refuses one without a value.
func fill(path string, params node, what string) (filled string, taken []string, err error) {
	for {
		before, after, found := strings.Cut(path, "{")
		name, tail, _ := strings.Cut(after, "}")
		filled += before
		if !found {
			return filled, taken, nil
		}
		switch value := params.id(name); value {
		case "":
			return "", nil, failf(nil, "%s needs a value of %s, which is in its path", what, name)
		case ".", "..":
			return "", nil, failf(nil, "%q is no ID that a path can hold", value)
		default:
			filled += escapeSegment(value)
		}
		taken, path = append(taken, name), tail
	}
}

// escapeSegment escapes one segment of a path. A colon is escaped as well: it separates
// the operation (:cancel).
func escapeSegment(s string) string { return strings.ReplaceAll(url.PathEscape(s), ":", "%3A") }
