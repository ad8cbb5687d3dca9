package transport

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// httpJSON is A2A over HTTP+JSON (specification 1.0, §11; 0.3, §3.2.3): each
// operation is a verb and a path, each frame of a stream an object with nothing
// around it. This file is what the versions share; binding_httpjson_v1.go and
// binding_httpjson_v03.go are the versions.
type httpJSON struct {
	version httpVersion
	// others has a bit for each operation of which the agent takes the other spelling:
	// see again. The bit of opMethod, which is no operation, stands for the tenant.
	others atomic.Uint32
}

// An httpVersion is what differs between the versions.
type httpVersion interface {
	// route returns the verb and path of an operation. other asks for its other
	// spelling, if it has one.
	route(kind opKind, other bool) route
	// outgoing changes the parameters of an operation, without those in the path, into
	// the version's form over HTTP.
	outgoing(kind opKind, c *operation, params members, other bool) members
	// incoming changes a result, or with opStream a frame, into the version's form over
	// JSON-RPC. What it does not know it leaves as it is.
	incoming(kind opKind, c *operation, raw string) string
	// again reports whether an error calls for the other spelling.
	again(c *operation, status int, refusal *a2a.Error) bool
}

// A route is the verb and path of an operation. {name} in the path stands for the
// parameter of that name.
type route struct {
	verb, path string
	// body: the other parameters are the body. Without, and with another verb than
	// POST, they are the query.
	body bool
}

func httpJSONKind() bindingKind {
	return bindingKind{"HTTP+JSON", "http+json", func(p protocol) binding {
		if p.name() == "0.3" {
			return &httpJSON{version: httpV03{}}
		}
		return &httpJSON{version: httpV1{}}
	}}
}

// home cuts an operation off the URL: some cards name one there. All operations are
// below what stands before it.
func (b *httpJSON) home(u *url.URL) *url.URL {
	for _, kind := range []opKind{opSend, opStream} {
		r := b.version.route(kind, false)
		if path, ok := strings.CutSuffix(u.Path, r.path); ok {
			home := *u
			home.Path, home.RawPath = path, ""
			return &home
		}
	}
	return u
}

func (b *httpJSON) request(p protocol, c *operation) (*request, error) {
	kind, params, err := b.operation(p, c)
	if err != nil {
		return nil, err
	}
	c.as = kind
	c.spelled = b.others.Load()&(1<<kind) != 0 != c.other
	r := b.version.route(kind, c.spelled)
	out := &request{verb: r.verb, accept: "application/a2a+json, application/json", what: r.verb + " " + r.path}
	if kind.streams() {
		out.accept, out.arrays = "text/event-stream", true
	}
	tenant := params.text("tenant")
	if out.path, c.pathID, params, err = fill(r.path, params, out.what); err != nil {
		return nil, err
	}
	if tenant != "" {
		out.path = "/" + b.tenantPath(c, tenant) + out.path
	}
	params = b.version.outgoing(kind, c, params, c.spelled)
	switch {
	case r.body:
		out.body = params.object(nil)
	case r.verb != http.MethodPost:
		out.query, err = params.without("tenant").query(out.what)
	}
	return out, err
}

// operation returns the kind of an operation and its parameters. A method that is
// called by its name is the version's operation of that name; this binding has no other
// methods, such as those of extensions.
func (b *httpJSON) operation(p protocol, c *operation) (kind opKind, params members, err error) {
	kind, given := c.kind, c.params
	if kind != opMethod {
		given, err = p.params(c)
	} else if kind = operationOf(p, c.method); kind == opMethod {
		refusal := &a2a.Error{Code: a2a.CodeMethodNotFound, Message: "HTTP+JSON has A2A's own operations, and no method " + c.method}
		err = failf(refusal, "%s", refusal.Message)
	}
	if err != nil || given == nil {
		return kind, nil, err
	}
	raw, err := encodeJSON(given)
	if err != nil {
		return kind, nil, failf(err, "the parameters of %s are not JSON: %v", c.method, err)
	}
	if text := strings.TrimSpace(rawjson.View(raw)); rawjson.IsObject(text) {
		return kind, readMembers(text), nil
	}
	return kind, nil, failf(nil, "the parameters of %s are no object", c.method)
}

// tenantPath spells a tenant that is part of the path. The specification has one
// segment for it; Google's tenants have several, with slashes that are not escaped. So
// plain slashes are tried first.
func (b *httpJSON) tenantPath(c *operation, tenant string) string {
	c.tenantSlash = strings.Contains(tenant, "/")
	if b.others.Load()&(1<<opMethod) != 0 != (c.other && c.tenantSlash) {
		return escapeSegment(tenant)
	}
	segments := strings.Split(tenant, "/")
	for i, s := range segments {
		segments[i] = escapeSegment(s)
	}
	return strings.Join(segments, "/")
}

// again tries the other spelling of an operation, once, where an answer says that the
// agent does not know the first. It remembers which one the agent took.
func (b *httpJSON) again(c *operation, status int, refusal *a2a.Error) bool {
	switch {
	case status < 300 && c.other:
		b.remember(c.as, c.spelled)
		if c.tenantSlash {
			b.remember(opMethod, true)
		}
	case c.other || status < 300:
	case c.tenantSlash && status == http.StatusNotFound && refusal == nil && b.others.Load()&(1<<opMethod) == 0,
		b.version.again(c, status, refusal):
		c.other = true
		return true
	}
	return false
}

func (b *httpJSON) remember(kind opKind, other bool) {
	if other {
		b.others.Or(1 << kind)
	} else {
		b.others.And(^uint32(1 << kind))
	}
}

func (b *httpJSON) result(c *operation, a *answer) (json.RawMessage, *a2a.Error) {
	raw := rawjson.View(a.body)
	switch {
	case a.json && (a.status >= 300 || hasError(raw)):
		return nil, readHTTPError(c, a.status, raw)
	case a.status >= 300:
		return nil, nil
	case a.json:
		if rawjson.Member(raw, "jsonrpc") != "" { // early versions of the SDK for .NET
			raw = readResponse(raw).result
		}
		return json.RawMessage(b.version.incoming(c.as, c, raw)), nil
	case len(a.body) == 0:
		return json.RawMessage("null"), nil
	}
	return nil, nil
}

// event takes an object of a stream. Agents send errors in six forms; the sixth, a
// broken connection, is not seen here.
func (b *httpJSON) event(p protocol, data string, failure bool, ev *a2a.Event) *a2a.Error {
	if !failure {
		p.decode(b.version.incoming(opStream, nil, data), ev)
		if ev.Kind != a2a.EventUnknown {
			return nil
		}
	}
	// A google.rpc.Status may come without anything around it, as JSON-RPC's error does.
	if failure || hasError(data) || rawjson.Member(data, "code") != "" && rawjson.IsString(rawjson.Member(data, "message")) {
		e := readHTTPError(&operation{as: opStream}, 0, data)
		if e == nil {
			e = &a2a.Error{Message: quote([]byte(data))}
		}
		return e
	}
	if r := readResponse(data); r.result != "" { // JSON-RPC's envelope, which does not belong here
		p.decode(b.version.incoming(opStream, nil, r.result), ev)
	}
	return nil
}
