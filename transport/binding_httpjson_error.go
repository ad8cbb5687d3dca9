package transport

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file reads errors as servers send them over HTTP+JSON, and gives them JSON-RPC's
// codes (specification 1.0, §5.4 and §11.6). 1.x has google.rpc.Status, whose reason names
// an A2A error. 0.3 specifies nothing: its servers send a JSON-RPC error object, or a
// message alone. Whatever else comes is told by its HTTP status and its text.

// codesByName has A2A's codes by its names of errors, and by those of a google.rpc.Code without
// a reason. NOT_FOUND means the task only where the operation is about one.
var codesByName = map[string]int{
	"TASK_NOT_FOUND":                     a2a.CodeTaskNotFound,
	"TASK_NOT_CANCELABLE":                a2a.CodeTaskNotCancelable,
	"PUSH_NOTIFICATION_NOT_SUPPORTED":    a2a.CodePushNotSupported,
	"UNSUPPORTED_OPERATION":              a2a.CodeUnsupportedOperation,
	"CONTENT_TYPE_NOT_SUPPORTED":         a2a.CodeContentTypeNotSupported,
	"INVALID_AGENT_RESPONSE":             a2a.CodeInvalidAgentResponse,
	"EXTENDED_AGENT_CARD_NOT_CONFIGURED": a2a.CodeExtendedCardNotConfigured,
	"EXTENSION_SUPPORT_REQUIRED":         a2a.CodeExtensionSupportRequired,
	"VERSION_NOT_SUPPORTED":              a2a.CodeVersionNotSupported,
	"PARSE_ERROR":                        a2a.CodeParse,
	"INVALID_REQUEST":                    a2a.CodeInvalidRequest,
	"METHOD_NOT_FOUND":                   a2a.CodeMethodNotFound,
	"INVALID_PARAMS":                     a2a.CodeInvalidParams,
	"INTERNAL_ERROR":                     a2a.CodeInternal,

	"INVALID_ARGUMENT": a2a.CodeInvalidParams, "NOT_FOUND": a2a.CodeTaskNotFound,
	"UNIMPLEMENTED": a2a.CodeMethodNotFound, "INTERNAL": a2a.CodeInternal,
}

// codeOfStatus returns A2A's code for an error that has a message alone (SDK for Python, 0.3); 0 for none.
// Gateways and routers send this form, too: 404 must be about a task, and not about its path.
func codeOfStatus(op *operation, status int, message string) int {
	ofTask := func(word string) bool { return strings.Contains(word, "task") && !strings.Contains(word, "/tasks/") }
	switch status {
	case http.StatusNotFound:
		if op.namesTask() && slices.ContainsFunc(strings.Fields(strings.ToLower(message)), ofTask) {
			return a2a.CodeTaskNotFound
		}
	case http.StatusConflict:
		if op.effective == opCancel {
			return a2a.CodeTaskNotCancelable
		}
	case http.StatusNotImplemented:
		if op.effective.aboutPush() {
			return a2a.CodePushNotSupported
		}
		return a2a.CodeUnsupportedOperation
	case http.StatusUnsupportedMediaType:
		return a2a.CodeContentTypeNotSupported
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return a2a.CodeInvalidParams
	case http.StatusInternalServerError:
		return a2a.CodeInternal
	}
	return 0
}

// hasError reports whether an object holds an error in place of a result.
func hasError(raw string) bool {
	e := rawjson.Member(raw, "error")
	return rawjson.IsObject(raw) && (rawjson.IsObject(e) || rawjson.IsString(e))
}

// readError reads what errors of all forms have in common, and returns the object, too; a text is the
// message alone. It copies: errors outlive what they were read from.
func readError(raw string) (*a2a.Error, node) {
	n := parseNode([]byte(raw))
	if !n.IsObject() {
		return &a2a.Error{Message: strings.Clone(jsonText(raw))}, n
	}
	e := &a2a.Error{Message: n.id("message")}
	e.Code, _ = strconv.Atoi(n.id("code")) // one agent sends a string; a number like 1e3 reads as no code
	for _, member := range []string{"data", "details"} {
		if value := n.Get(member).Raw; e.Data == "" && value != "null" && value != "[]" {
			e.Data = a2a.JSON(value)
		}
	}
	return e, n
}

// readHTTPError reads the body of an HTTP status that is no success; status is 0 in a
// stream. nil: the body has no form of an error that is known.
func readHTTPError(op *operation, status int, raw string) *a2a.Error {
	if !rawjson.IsObject(raw) {
		return nil
	}
	e, n := readError(raw)
	within := n.Get("error")
	if within.IsObject() {
		e, n = readError(within.Raw)
	} else if within.Type == gjson.String {
		e.Message = cmp.Or(e.Message, within.Str)
	}
	code := e.Code // JSON-RPC's, below 0, or an HTTP status
	e.HTTPStatus, e.Code = status, reasonIn(e.Data)
	if status == 0 && code >= 400 && code < 600 {
		e.HTTPStatus = code // in a stream the response's status says nothing
	}
	switch name := n.text("status"); {
	case e.Code != 0:
	case code < 0:
		e.Code = unmasked(code, e.Message)
	case name != "NOT_FOUND" || op.namesTask():
		e.Code = codesByName[name]
	}
	if e.Code == 0 && !within.IsObject() && within.Type != gjson.String && !rawjson.IsArray(string(e.Data)) {
		e.Code, e.Data = codeOfStatus(op, status, e.Message), ""
	}
	// Without a code of A2A's this may be how a server or a gateway says "nothing here",
	// or a gateway and not the agent.
	if e.Message == "" || e.Code == 0 && (noRoute(status) || gatewayStatus(status)) {
		return nil
	}
	return e
}

// reasonIn returns the code of the first A2A error that details, a list of google.rpc.ErrorInfo, name; else 0.
func reasonIn(details a2a.JSON) (code int) {
	var list []struct{ Domain, Reason string }
	_ = json.Unmarshal([]byte(details), &list) // what is no such list has no reasons
	for _, detail := range list {
		if detail.Domain == "a2a-protocol.org" {
			code = cmp.Or(code, codesByName[detail.Reason])
		}
	}
	return code
}

// unmasked returns the code that an error of a2a-js should have, by its text; any other code as it is.
// 0.3.14 does not recognise its own error types as CommonJS, so that only their texts remain; and it
// fails with a mistake of its own where it refuses a stream.
func unmasked(code int, message string) int {
	texts := map[string]int{
		"Task not found: ":                   a2a.CodeTaskNotFound,
		"Task not cancelable: ":              a2a.CodeTaskNotCancelable,
		"Push Notification is not supported": a2a.CodePushNotSupported,
		"Bug: toJson serializer":             a2a.CodeInvalidRequest,
	}
	for text, is := range texts {
		if code == a2a.CodeInternal && strings.HasPrefix(message, text) {
			return is
		}
	}
	return code
}

// namesTask reports whether an operation names a task that must exist.
func (op *operation) namesTask() bool {
	switch op.effective {
	case opSend, opStream:
		return op.message != nil && op.message.TaskID != ""
	case opGet, opCancel, opSubscribe:
		return true
	}
	return op.effective.aboutPush()
}
