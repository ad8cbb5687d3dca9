package transport

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An opKind is one of A2A's operations (specification 1.0, §3.1), independent of
// version and binding.
type opKind uint8

const (
	// opMethod is a method that the caller names.
	opMethod opKind = iota
	opSend
	opStream
	opGet
	opList
	opCancel
	opSubscribe
	opSetPush
	opGetPush
	opListPush
	opDeletePush
	opExtendedCard
)

// streams reports whether the answer is expected to be a stream.
func (kind opKind) streams() bool { return kind == opStream || kind == opSubscribe }

// aboutPush reports whether an operation is about push notifications.
func (kind opKind) aboutPush() bool { return opSetPush <= kind && kind <= opDeletePush }

// A spelling is what the versions and the bindings call an operation.
type spelling struct {
	kind    opKind
	v03, v1 string // JSON-RPC's methods
	// verb and path are HTTP+JSON's; {name} in the path stands for the parameter of that
	// name. path03 is 0.3's, "" for the same.
	verb, path, path03 string
	// body: the other parameters are the body. Without, and with another verb than POST,
	// they are the query.
	body bool
}

// spellings has those of all operations but opMethod; the two that send messages are the first.
func spellings() []spelling {
	const (
		push    = "tasks/pushNotificationConfig/"
		task    = "/tasks/{id}"
		configs = "/pushNotificationConfigs"
		ofTask  = "/tasks/{taskId}" + configs
		one03   = task + configs + "/{pushNotificationConfigId}"
	)
	return []spelling{
		{opSend, "message/send", "SendMessage", http.MethodPost, "/message:send", "", true},
		{opStream, "message/stream", "SendStreamingMessage", http.MethodPost, "/message:stream", "", true},
		{opGet, "tasks/get", "GetTask", http.MethodGet, task, "", false},
		{opList, "tasks/list", "ListTasks", http.MethodGet, "/tasks", "", false},
		{opCancel, "tasks/cancel", "CancelTask", http.MethodPost, task + ":cancel", "", true},
		{opSubscribe, "tasks/resubscribe", "SubscribeToTask", http.MethodPost, task + ":subscribe", "", false},
		{opSetPush, push + "set", "CreateTaskPushNotificationConfig", http.MethodPost, ofTask, "", true},
		{opGetPush, push + "get", "GetTaskPushNotificationConfig", http.MethodGet, ofTask + "/{id}", one03, false},
		{opListPush, push + "list", "ListTaskPushNotificationConfigs", http.MethodGet, ofTask, task + configs, false},
		{opDeletePush, push + "delete", "DeleteTaskPushNotificationConfig", http.MethodDelete, ofTask + "/{id}", one03, false},
		{opExtendedCard, "agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard", http.MethodGet, "/extendedAgentCard", "/card", false},
	}
}

// spellingOf returns the spelling of an operation of A2A's: of any kind but opMethod.
func spellingOf(kind opKind) spelling {
	list := spellings()
	return list[slices.IndexFunc(list, func(s spelling) bool { return s.kind == kind })]
}

// method is the JSON-RPC method in a version.
func (s spelling) method(p protocol) string {
	if p.v03 {
		return s.v03
	}
	return s.v1
}

// route is HTTP+JSON's verb and path in a version. To subscribe is POST in the specifications' text,
// GET in their protos. The SDKs' newest servers take both; that for .NET takes POST in 1.x, that for
// Python GET in 0.3.
func (s spelling) route(p protocol) (verb, path string) {
	switch {
	case !p.v03:
		return s.verb, s.path
	case s.kind == opSubscribe:
		return http.MethodGet, "/v1" + s.path
	}
	return s.verb, "/v1" + cmp.Or(s.path03, s.path)
}

// operationOf returns the operation whose JSON-RPC method in a version that is; opMethod if there is none.
func operationOf(p protocol, method string) opKind {
	for _, s := range spellings() {
		if s.method(p) == method {
			return s.kind
		}
	}
	return opMethod
}

// An operation is one call of an agent with its parameters, before a binding spells it.
// Each kind uses the members that it needs.
type operation struct {
	kind   opKind
	method string // opMethod's, or:
	path   string // of a plain request below the agent's URL, which is none of A2A's
	params any    // opMethod's; nil for none
	stream bool   // the answer may be a stream
	limit  timeLimit

	message  *a2a.Outgoing
	blocking bool
	taskID   string
	metadata map[string]json.RawMessage // the request's about a task
	history  int                        // below 0: not said
	query    *a2a.TaskQuery
	push     *a2a.PushConfig
	pushID   string

	delivery  delivery
	activate  []string // extensions to ask for beside those of [Client.Activate]
	anonymous bool     // it carries no credentials
	origins   *origins // where it may go; nil: where any request of the client may

	// These are set with the request.
	id        uint64 // unique in the client
	what      string // the operation's name, for errors
	ownURL    bool   // no other operation has its URL, so that a 404 may mean the operation
	effective opKind // kind, or the operation of A2A's that opMethod's method is
	// answered: the answer is an error in the binding's form, so that an agent gave it, and not a
	// server where none is. streamed: the answer is a stream, whose errors are the agent's as well.
	answered, streamed bool
}

// newOperation makes an operation of a kind, with that kind's delivery and time limit.
func newOperation(kind opKind) *operation {
	op := &operation{kind: kind, stream: kind.streams(), history: -1, delivery: deliverRepeatable}
	switch kind {
	case opStream:
		op.delivery, op.limit = deliverAtMostOnce, limitBody
	case opMethod, opSend, opSetPush:
		op.delivery = deliverAtMostOnce
	case opSubscribe:
		op.delivery = deliverOneAttempt
	}
	return op
}

// owner is the context that the operation's message belongs to; "" if it has none: see [plainConn].
func (op *operation) owner() string {
	if op.message == nil {
		return ""
	}
	return op.message.ContextID
}

// A request is an operation as a binding spells it.
type request struct {
	verb string
	// path is below the URL of the interface, and escaped; query is added to the
	// URL's own.
	path, query string
	accept      string
	body        []byte // JSON; nil for none
}

// A binding is how operations travel (specification 1.0, §5): it makes HTTP requests of
// operations, and unwraps the answers. The shapes inside are the protocol version's.
// Bindings know no Client and no connection, and have no state.
type binding interface {
	// request spells an operation. It sets op.what, and op.effective where that is the method's. The
	// error is the caller's mistake: the protocol version, or the binding, has no words for it.
	request(p protocol, op *operation) (*request, error)
	// result unwraps the answer to an operation: it returns the operation's result, or the
	// agent's error. Neither means that this is no answer of the binding. valid: the body is JSON.
	result(op *operation, status int, body string, valid bool) (json.RawMessage, *a2a.Error)
	// event decodes one frame of a stream, which is valid JSON, into ev, or returns the agent's
	// error. A frame that is neither becomes an EventUnknown. failure: the frame is named an error.
	event(p protocol, data string, failure bool, ev *a2a.Event) *a2a.Error
}

// A namedBinding is a binding with its names.
type namedBinding struct {
	binding
	// name is what cards call it, option what ClientOptions.Binding does.
	name, option string
	// proto: A2A 0.3 has the JSON of its proto there.
	proto bool
}

// is reports whether a card's word means the binding. Some cards write it as an
// identifier (HTTP_JSON), or with a hyphen (JSON-RPC).
func (b namedBinding) is(word string) bool { return withoutMarks(b.name) == withoutMarks(word) }

// withoutMarks is a word in lower case without its separators.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_+-/ ", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// bindings lists what we speak. The card chooses, so their order means nothing.
func bindings() []namedBinding {
	return []namedBinding{
		{jsonRPC{}, bindingJSONRPC, "jsonrpc", false},
		{httpJSON{}, "HTTP+JSON", "http+json", true},
	}
}

// bindingOf returns the binding that an option names.
func bindingOf(option string) (b namedBinding, ok bool) {
	for _, b := range bindings() {
		if b.option == option {
			return b, true
		}
	}
	return namedBinding{}, false
}

// Bindings lists the values of [ClientOptions.Binding].
func Bindings() []string {
	list := []string{"auto"}
	for _, b := range bindings() {
		list = append(list, b.option)
	}
	return list
}

// below returns the URL of the request, which is below that of the interface.
func (r *request) below(base *url.URL) *url.URL {
	u := *base
	if r.path != "" {
		u.RawPath = strings.TrimRight(base.EscapedPath(), "/") + r.path
		u.Path, _ = url.PathUnescape(u.RawPath) // it was escaped by us
	}
	if r.query != "" && u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += r.query
	return &u
}
