package transport

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

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

// reasonCode returns the code of an A2A error by its name, 0 for any other.
func reasonCode(reason string) int {
	return map[string]int{
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
	}[reason]
}

// statusCode returns the code for the name of a google.rpc.Code without a reason.
// NOT_FOUND means the task only where the operation is about one.
func statusCode(name string, aboutTask bool) int {
	switch name {
	case "INVALID_ARGUMENT", "OUT_OF_RANGE":
		return a2a.CodeInvalidParams
	case "NOT_FOUND":
		if aboutTask {
			return a2a.CodeTaskNotFound
		}
	case "UNIMPLEMENTED":
		return a2a.CodeMethodNotFound
	case "INTERNAL", "UNKNOWN", "DATA_LOSS":
		return a2a.CodeInternal
	}
	return 0
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
// stream. nil: the body has no form of an error that is known.
func readHTTPError(c *operation, status int, raw string) *a2a.Error {
	if rawjson.IsArray(raw) { // Google's streams begin with a bracket, errors too
		at := rawjson.NextElement(raw)
		if at < 0 {
			return nil
		}
		raw = raw[at:rawjson.SkipValue(raw, at)]
	}
	if !rawjson.IsObject(raw) {
		return nil
	}
	e := &a2a.Error{HTTPStatus: status}
	known := true
	switch inner, m := rawjson.Member(raw, "error"), readMembers(raw); {
	case rawjson.IsObject(inner):
		known = readRPCStatus(c, e, readMembers(inner))
	case rawjson.IsString(inner):
		known = false
		e.Message = sentence(jsonText(inner), m.text("message"), m.text("error_description"))
	case isFlatError(raw):
		*e = *readError(raw)
		e.HTTPStatus = status
		e.Code = unmask(c, e)
	case m.text("message") != "" && !rawjson.IsArray(m.get("details")):
		known = readMessageError(c, e, m.text("message"))
	case m.text("message") != "":
		known = readRPCStatus(c, e, m)
	case m.text("title") != "" || m.text("detail") != "":
		if name, own := strings.CutPrefix(m.text("type"), problemTypes); own {
			e.Code = reasonCode(strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
		}
		known = e.Code != 0
		e.Message = sentence(m.text("title"), m.text("detail"))
	default:
		return nil
	}
	switch {
	case e.Message == "" && e.Code == 0:
		return nil
	case !known && noRoute(status):
		return nil // how a server or a gateway says "nothing here"
	case !known && gatewayStatus(status):
		return nil // this may be a gateway and not the agent
	}
	return e
}

// readRPCStatus reads a google.rpc.Status. It reports whether the error is A2A's.
func readRPCStatus(c *operation, e *a2a.Error, m members) (known bool) {
	e.Message = strings.Clone(m.text("message"))
	if details := m.get("details"); details != "" && details != "null" && details != "[]" {
		e.Data = a2a.JSON(strings.Clone(details))
	} else if data := m.get("data"); data != "" && data != "null" {
		e.Data = a2a.JSON(strings.Clone(data))
	}
	more := false // than the reason, which the code holds
	rawjson.EachElement(string(e.Data), func(detail string) bool {
		code := 0
		if jsonText(rawjson.Member(detail, "domain")) == errorDomain {
			code = reasonCode(jsonText(rawjson.Member(detail, "reason")))
		}
		e.Code = cmp.Or(e.Code, code)
		metadata := rawjson.Member(detail, "metadata")
		more = more || code == 0 || metadata != "" && metadata != "{}" && metadata != "null"
		return true
	})
	if e.Code != 0 && !more {
		e.Data = ""
	}
	code, _ := strconv.Atoi(m.text("code"))
	if e.HTTPStatus == 0 && code >= 400 && code < 600 {
		e.HTTPStatus = code // in a stream the response's status says nothing
	}
	switch {
	case e.Code != 0:
		return true
	case code < 0: // JSON-RPC's
		e.Code = code
		return true
	}
	e.Code = statusCode(m.text("status"), c.aboutTask())
	return e.Code != 0
}

// readMessageError reads an error that has a message alone: the HTTP status is its code
// (SDK for Python, 0.3). Gateways send this form, too: where the status could be a
// gateway's, the message must be about a task.
func readMessageError(c *operation, e *a2a.Error, message string) (known bool) {
	e.Message = strings.Clone(message)
	push := c.as == opSetPush || c.as == opGetPush || c.as == opListPush || c.as == opDeletePush
	switch e.HTTPStatus {
	case http.StatusNotFound:
		if c.aboutTask() && strings.Contains(strings.ToLower(message), "task") {
			e.Code = a2a.CodeTaskNotFound
		}
	case http.StatusConflict:
		if c.as == opCancel {
			e.Code = a2a.CodeTaskNotCancelable
		}
	case http.StatusNotImplemented:
		if e.Code = a2a.CodeUnsupportedOperation; push {
			e.Code = a2a.CodePushNotSupported
		}
	case http.StatusUnsupportedMediaType:
		e.Code = a2a.CodeContentTypeNotSupported
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		e.Code = a2a.CodeInvalidParams
	case http.StatusInternalServerError:
		e.Code = a2a.CodeInternal
	}
	return e.Code != 0
}

// unmask reads an internal error of a2a-js for what it is. 0.3.14 fails with a mistake
// of its own where an error comes before a stream; it means that the request was
// refused. As CommonJS it does not recognise its own error types, so that only their
// texts remain.
func unmask(c *operation, e *a2a.Error) int {
	if e.Code != a2a.CodeInternal {
		return e.Code
	}
	for _, known := range []struct {
		text string
		code int
	}{
		{"Task not found: ", a2a.CodeTaskNotFound},
		{"Task not cancelable: ", a2a.CodeTaskNotCancelable},
		{"Push Notification is not supported", a2a.CodePushNotSupported},
	} {
		if strings.HasPrefix(e.Message, known.text) {
			return known.code
		}
	}
	if c.as.streams() && strings.HasPrefix(e.Message, "Bug: toJson serializer") {
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
			said = append(said, strings.Clone(p))
		}
	}
	return strings.Join(said, ": ")
}

// aboutTask reports whether an operation names a task that must exist.
func (c *operation) aboutTask() bool {
	switch c.as {
	case opSend, opStream:
		return c.message != nil && c.message.TaskID != ""
	case opGet, opCancel, opSubscribe, opSetPush, opGetPush, opListPush, opDeletePush:
		return true
	}
	return false
}
