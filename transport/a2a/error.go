package a2a

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The error codes of A2A that this program branches on (specification 0.3, §8;
// 1.0, §3.3.2), beside JSON-RPC's own.
const (
	CodeParse                     = -32700
	CodeInvalidRequest            = -32600
	CodeMethodNotFound            = -32601
	CodeInvalidParams             = -32602
	CodeInternal                  = -32603
	CodeTaskNotFound              = -32001
	CodeTaskNotCancelable         = -32002
	CodePushNotSupported          = -32003
	CodeUnsupportedOperation      = -32004
	CodeContentTypeNotSupported   = -32005
	CodeInvalidAgentResponse      = -32006
	CodeExtendedCardNotConfigured = -32007
	CodeExtensionSupportRequired  = -32008
	CodeVersionNotSupported       = -32009
)

// An Error is what the agent reports: a JSON-RPC error object, whatever HTTP status it
// came with, or an HTTP status alone.
type Error struct {
	// Code is the JSON-RPC code, or 0 if the agent answered with an HTTP status
	// alone.
	Code int
	// NoCode: the agent's error object had no code, and Code is [CodeInternal].
	NoCode  bool
	Message string
	// Data is whatever the agent added.
	Data JSON
	// HTTPStatus is that of the response that carried it.
	HTTPStatus int
}

func (e *Error) Error() string {
	text := ""
	switch {
	case e.Code == 0:
		// The message already holds the data.
		return fmt.Sprintf("agent: HTTP %d: %s", e.HTTPStatus, e.Message)
	case e.NoCode:
		text = fmt.Sprintf("agent: %s (an error without a code)", e.Message)
	case e.Message == "":
		text = fmt.Sprintf("agent: error %d", e.Code)
	default:
		text = fmt.Sprintf("agent: %s (%d)", e.Message, e.Code)
	}
	switch data := string(e.Data); {
	case data == "" || data == "null" || data == "{}" || data == "[]" || e.isCodeAgain():
		return text
	case len(data) > maxShownData:
		return text + "; it adds " + strings.ToValidUTF8(data[:maxShownData], "") + "…"
	default:
		return text + "; it adds " + data
	}
}

// isCodeAgain reports whether data only repeats the code as an ErrorInfo, which 1.0
// requires in each error (specification 1.0, §9.5: an ErrorInfo of this domain, alone).
func (e *Error) isCodeAgain() bool {
	data := string(e.Data)
	return strings.Contains(data, "google.rpc.ErrorInfo") && strings.Contains(data, "a2a-protocol.org") &&
		strings.Count(data, "@type") == 1
}

// maxShownData is how much of an error's data its text shows: a stack trace has no
// place in a conversation.
const maxShownData = 500

// ErrorOf returns the error response that an error is or wraps, of the agent or a gateway; nil: it is none.
func ErrorOf(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// Has reports whether there is an error, and it has one of these codes.
func (e *Error) Has(codes ...int) bool { return e != nil && slices.Contains(codes, e.Code) }

// Unauthenticated reports whether there is an error, by which the agent wants credentials, or other ones.
func (e *Error) Unauthenticated() bool {
	// -31401 and -31403 are a2a-go's.
	return e.Has(-31401, -31403) || e != nil && (e.HTTPStatus == 401 || e.HTTPStatus == 403)
}
