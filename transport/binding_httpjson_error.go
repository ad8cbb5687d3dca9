package transport

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file reads errors as servers send them over HTTP+JSON, and gives them JSON-RPC's
// codes (specification 1.0, §5.4 and §11.6). 1.x has google.rpc.Status, whose reason
// names an A2A error. 0.3 specifies nothing: its servers send a JSON-RPC error object,
// or a message alone. There are also problem details (RFC 9457), and the errors of
// gateways.

const (
	// errorDomain is that of A2A's own reasons in a google.rpc.ErrorInfo.
	errorDomain = "a2a-protocol.org"
	// problemTypes is how the types of A2A's own problem details begin. The drafts of
	// 1.0 had these (§11.6), and many servers still send them.
	problemTypes = "https://a2a-protocol.org/errors/"
)

// reasonCodes are the codes of errors by A2A's names for them.
var reasonCodes = map[string]int{
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
}

// statusCodes are the codes for the names of a google.rpc.Code without a reason.
// NOT_FOUND means the task only where the operation is about one.
var statusCodes = map[string]int{
	"INVALID_ARGUMENT": a2a.CodeInvalidParams, "OUT_OF_RANGE": a2a.CodeInvalidParams,
	"NOT_FOUND": a2a.CodeTaskNotFound, "UNIMPLEMENTED": a2a.CodeMethodNotFound,
	"INTERNAL": a2a.CodeInternal, "UNKNOWN": a2a.CodeInternal, "DATA_LOSS": a2a.CodeInternal,
}

// messageCodes are the codes for the HTTP statuses of errors that have a message alone
// (SDK for Python, 0.3). Gateways and routers send this form, too: 404 must be about a task,
// and not about its path.
var messageCodes = map[int]int{
	http.StatusNotFound: a2a.CodeTaskNotFound, http.StatusConflict: a2a.CodeTaskNotCancelable,
	http.StatusNotImplemented: a2a.CodeUnsupportedOperation, http.StatusUnsupportedMediaType: a2a.CodeContentTypeNotSupported,
	http.StatusBadRequest: a2a.CodeInvalidParams, http.StatusUnprocessableEntity: a2a.CodeInvalidParams,
	http.StatusInternalServerError: a2a.CodeInternal,
}

func messageCode(c *operation, status int, message string) int {
	ofTask := func(word string) bool { return strings.Contains(word, "task") && !strings.Contains(word, "/tasks/") }
	switch {
	case status == http.StatusNotFound && !(c.aboutTask() && slices.ContainsFunc(strings.Fields(strings.ToLower(message)), ofTask)),
		status == http.StatusConflict && c.as != opCancel:
		return 0
	case status == http.StatusNotImplemented && c.as.aboutPush():
		return a2a.CodePushNotSupported
	}
	return messageCodes[status]
}

// hasError reports whether an object holds an error in place of a result.
func hasError(raw string) bool {
	e := rawjson.Member(raw, "error")
	return rawjson.IsObject(raw) && (rawjson.IsObject(e) || rawjson.IsString(e))
}

// isFlatError reports whether an object is a JSON-RPC error object by itself.
func isFlatError(raw string) bool {
	code, err := strconv.Atoi(rawjson.Member(raw, "code"))
	return rawjson.IsObject(raw) && err == nil && code < 0 && rawjson.IsString(rawjson.Member(raw, "message"))
}

// readHTTPError reads the body of an HTTP status that is no success; status is 0 in a
// stream. nil: the body has no form of an error that is known. What it returns is no view
// of raw, which errors outlive.
func readHTTPError(c *operation, status int, raw string) *a2a.Error {
	if !rawjson.IsObject(raw) {
		return nil
	}
	e, m := &a2a.Error{HTTPStatus: status}, parseNode([]byte(raw))
	inner, message := m.at("error"), m.id("message")
	switch {
	case inner.IsObject():
		readRPCStatus(c, e, inner)
	case inner.Type == gjson.String:
		e.Message = sentence(inner.Str, message, m.id("error_description"))
	case isFlatError(raw):
		*e = *readError(raw)
		e.HTTPStatus, e.Code = status, unmask(c, e)
	case message != "" && !m.at("details").IsArray():
		e.Message, e.Code = message, messageCode(c, status, message)
	case message != "":
		readRPCStatus(c, e, m)
	default:
		if name, own := strings.CutPrefix(m.id("type"), problemTypes); own {
			e.Code = reasonCodes[strings.ToUpper(strings.ReplaceAll(name, "-", "_"))]
		}
		e.Message = sentence(m.id("title"), m.id("detail"))
	}
	// Without a code of A2A's this may be how a server or a gateway says "nothing here",
	// or a gateway and not the agent.
	if e.Code == 0 && (e.Message == "" || noRoute(status) || gatewayStatus(status)) {
		return nil
	}
	return e
}

// readRPCStatus reads a google.rpc.Status.
func readRPCStatus(c *operation, e *a2a.Error, m node) {
	e.Message = m.id("message")
	var details node
	for _, member := range []string{"details", "data"} {
		if data := m.at(member); e.Data == "" && data.Raw != "" && data.Raw != "null" && data.Raw != "[]" {
			details, e.Data = data, a2a.JSON(data.Raw)
		}
	}
	code, more := reasonIn(details)
	if e.Code = code; code != 0 && !more {
		e.Data = ""
	}
	code, _ = strconv.Atoi(m.id("code"))
	if e.HTTPStatus == 0 && code >= 400 && code < 600 {
		e.HTTPStatus = code // in a stream the response's status says nothing
	}
	if code < 0 { // JSON-RPC's
		e.Code = cmp.Or(e.Code, code)
	}
	if name := m.id("status"); e.Code == 0 && (name != "NOT_FOUND" || c.aboutTask()) {
		e.Code = statusCodes[name]
	}
}

// reasonIn returns the code of an A2A error that details name; more: they say more than
// that.
func reasonIn(details node) (code int, more bool) {
	for _, detail := range details.elements() {
		is := 0
		if detail.text("domain") == errorDomain {
			is = reasonCodes[detail.text("reason")]
		}
		code = cmp.Or(code, is)
		metadata := detail.at("metadata").Raw
		more = more || is == 0 || metadata != "" && metadata != "{}" && metadata != "null"
	}
	return code, more
}

// unmask reads an internal error of a2a-js for what it is. 0.3.14 fails with a mistake
// of its own where an error comes before a stream; it means that the request was
// refused. As CommonJS it does not recognise its own error types, so that only their
// texts remain.
func unmask(c *operation, e *a2a.Error) int {
	switch is := func(text string) bool { return strings.HasPrefix(e.Message, text) }; {
	case e.Code != a2a.CodeInternal:
		return e.Code
	case is("Task not found: "):
		return a2a.CodeTaskNotFound
	case is("Task not cancelable: "):
		return a2a.CodeTaskNotCancelable
	case is("Push Notification is not supported"):
		return a2a.CodePushNotSupported
	case c.as.streams() && is("Bug: toJson serializer"):
		e.Message = "refused, without a reason that could be read (" + e.Message + ")"
		return a2a.CodeInvalidRequest
	}
	return e.Code
}

// sentence joins the texts of several members.
func sentence(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, ": ")
}

// aboutTask reports whether an operation names a task that must exist.
func (c *operation) aboutTask() bool {
	switch c.as {
	case opSend, opStream:
		return c.message != nil && c.message.TaskID != ""
	case opGet, opCancel, opSubscribe:
		return true
	}
	return c.as.aboutPush()
}
