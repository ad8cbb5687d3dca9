package demo

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// The states of a task, by their 0.3 names, which are the neutral ones here.
const (
	stateSubmitted     = "submitted"
	stateWorking       = "working"
	stateInputRequired = "input-required"
	stateCompleted     = "completed"
	stateCanceled      = "canceled"
	stateFailed        = "failed"
)

func terminal(state string) bool {
	return state == stateCompleted || state == stateCanceled || state == stateFailed
}

// A spelling is one version of A2A on the wire. It knows how things are written
// and nothing of what they mean.
type spelling interface {
	// method returns the 0.3 name of a method, which the dispatcher uses, or
	// "" if this version has no such method.
	method(name string) string
	// extensionsHeader is where a client activates extensions.
	extensionsHeader() string
	// send reads the parameters of both methods that carry a message.
	send(params json.RawMessage) (*sendRequest, error)
	// state reads a task state, as a filter of the task list.
	state(name string) (string, bool)
	// task is a task that is a whole result.
	task(v taskView) any
	// result is a task where a message could be instead: the answer to a
	// message, and the first event of a stream.
	result(v taskView) any
	// update is a status update.
	update(t *task, e event, extension bool) any
	// The four methods of push notification configurations: what they are asked, by
	// the method's 0.3 name, and what they answer.
	pushParams(method string, params json.RawMessage) (pushRequest, error)
	pushConfig(taskID string, c *pushConfig) any
	pushList(configs []any) any
	pushDeleted() any
	// pushed is what is posted to a webhook for an event, pushType its content type.
	pushed(t *task, e event, extension bool) any
	pushType() string
	// subscribesToOver reports whether a subscription to a task that is over is
	// answered with the task, and not with an error.
	subscribesToOver() bool
	// fail is an error as this version has it.
	fail(e rpcError) rpcError
}

// A sendRequest is a message on its way in.
type sendRequest struct {
	message       *message
	blocking      bool
	historyLength *int
	push          *pushConfig // nil: no push notifications
}

// An audience says which readers a message is for.
type audience int

const (
	everyone      audience = iota
	extensionOnly          // thoughts and tool calls
	coreOnly               // the prose that replaces them
)

func (a audience) includes(extension bool) bool {
	return a == everyone || (a == extensionOnly) == extension
}

type message struct {
	id         string
	role       string // "user" or "agent"
	parts      []part
	taskID     string
	contextID  string
	metadata   map[string]json.RawMessage
	extensions []string
	audience   audience
}

// A part is text unless file or data is set.
type part struct {
	text string
	file *file
	data any // one of the extension's objects, or json.RawMessage as it arrived
}

// json spells a part's data.
func (p part) json() json.RawMessage {
	var b bytes.Buffer
	_ = writeJSON(&b, p.data) // our own structs, or JSON that has arrived
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// A file is by reference (uri) or by value: base64 as it arrived, because it is
// only ever counted and echoed.
type file struct {
	name, mimeType, uri, base64 string
	size                        int
}

// newFile checks the parts of a file that both versions of A2A have.
func newFile(name, mimeType, uri, bytes string) (*file, error) {
	if (uri == "") == (bytes == "") {
		return nil, fmt.Errorf("a file part has either bytes or a URI")
	}
	data, err := base64.StdEncoding.DecodeString(bytes)
	if err != nil {
		return nil, fmt.Errorf("the bytes of a file part are not base64: %v", err)
	}
	return &file{name: name, mimeType: mimeType, uri: uri, base64: bytes, size: len(data)}, nil
}

// An event is one entry of a task's log.
type event struct {
	created bool // the task itself; message is the prompt
	state   string
	final   bool
	message *message
	kind    string // DevelopmentToolEventKind
	err     string // DevelopmentToolEvent.error
	at      time.Time
}

// seenBy returns the event as a reader sees it, and whether it sees it at all.
func (e event) seenBy(extension bool) (event, bool) {
	if e.message == nil || e.message.audience.includes(extension) {
		return e, true
	}
	e.message = nil
	return e, e.final || e.kind == kindStateChange
}

// A taskView is a task at one moment, as one reader sees it.
type taskView struct {
	id, contextID string
	state         string
	at            time.Time
	statusMessage *message
	history       []message
}

// metadata returns the DevelopmentToolEvent of an event, keyed as A2A wants
// the data of an extension, or nil for a reader that did not activate it.
func (e event) metadata(extension bool) map[string]any {
	if !extension {
		return nil
	}
	return map[string]any{ExtensionURI: developmentToolEvent{
		Kind: e.kind, Model: "demo-1", UserTier: "demo", Error: e.err,
	}}
}
