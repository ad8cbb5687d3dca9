package demo

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// The states of a task, by their 0.3 names, which are neutral here.
const (
	stateSubmitted     = "submitted"
	stateWorking       = "working"
	stateInputRequired = "input-required"
	stateCompleted     = "completed"
	stateCanceled      = "canceled"
	stateFailed        = "failed"
)

// states are all that the protocol has; a filter may name those that no story comes to.
var states = []string{
	stateSubmitted, stateWorking, stateInputRequired, stateCompleted, stateCanceled, stateFailed, "rejected", "auth-required",
}

func terminal(state string) bool {
	return state == stateCompleted || state == stateCanceled || state == stateFailed
}

// A sendRequest is a client's message.
type sendRequest struct {
	message       *message
	blocking      bool
	historyLength *int
	push          bool // a webhook is named
}

type message struct {
	id         string
	role       string // "user" or "agent"
	parts      []part
	taskID     string
	contextID  string
	metadata   map[string]json.RawMessage
	extensions []string
}

// A part is text unless file or data is set.
type part struct {
	text string
	file *file
	data any // one of the extension's objects, or json.RawMessage as it arrived
}

func (p part) json() json.RawMessage {
	var b bytes.Buffer
	_ = writeJSON(&b, p.data) // our own structs, or JSON that has arrived
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// A file is by reference (uri) or by value: base64 as it arrived, which is only counted
// and echoed.
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

// A taskView is a task at one moment.
type taskView struct {
	id, contextID string
	state         string
	at            time.Time
	statusMessage *message
	history       []message
}

// metadata returns an event's DevelopmentToolEvent, under the extension's key.
func (e event) metadata() map[string]any {
	return map[string]any{ExtensionURI: developmentToolEvent{
		Kind: e.kind, Model: "demo-1", UserTier: "demo", Error: e.err,
	}}
}
