package a2a

import "fmt"

// The error codes of A2A that this program branches on (specification 0.3, §8;
// 1.0, §3.3.2), beside JSON-RPC's own.
const (
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

// An Error is the agent's own: a JSON-RPC error object, whatever HTTP status it
// came with, or an HTTP status that says no more than itself.
type Error struct {
	// Code is the JSON-RPC code, or 0 if the agent answered with an HTTP status
	// alone.
	Code    int
	Message string
	// Data is whatever the agent added.
	Data JSON
	// HTTPStatus is that of the response that carried it.
	HTTPStatus int
}

func (e *Error) Error() string {
	switch {
	case e.Code == 0:
		return fmt.Sprintf("agent: HTTP %d: %s", e.HTTPStatus, e.Message)
	case e.Message == "":
		return fmt.Sprintf("agent: error %d", e.Code)
	}
	return fmt.Sprintf("agent: %s (%d)", e.Message, e.Code)
}

// Unauthenticated reports whether the agent wants credentials, or other ones.
func (e *Error) Unauthenticated() bool {
	// -31401 and -31403 are a2a-go's.
	return e.HTTPStatus == 401 || e.HTTPStatus == 403 || e.Code == -31401 || e.Code == -31403
}
