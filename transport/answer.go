package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxQuote is how much of an answer that is not A2A is quoted in an error.
const maxQuote = 200

// mediaType returns the response's media type without its parameters.
func (x *exchange) mediaType() string {
	t, _, err := mime.ParseMediaType(x.resp.Header.Get("Content-Type"))
	if err != nil {
		t, _, _ = strings.Cut(x.resp.Header.Get("Content-Type"), ";")
	}
	return strings.ToLower(strings.TrimSpace(t))
}

func (x *exchange) isStream() bool { return x.mediaType() == "text/event-stream" }

// body reads the answer to its end, which also keeps the connection.
func (x *exchange) body() ([]byte, error) {
	defer x.resp.Body.Close()
	if x.isStream() {
		// A unary method that is answered with events: the first one is it.
		frames, err := newFrameReader(x.resp.Body, false).next(nil)
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, x.cut(err)
		}
		return bytes.Clone(frames[0].data), nil
	}
	b, err := io.ReadAll(io.LimitReader(x.resp.Body, MaxEvent+1))
	switch {
	case err != nil:
		return nil, x.cut(err)
	case len(b) > MaxEvent:
		return nil, failf(nil, "%s answered %s with more than %d MiB", shown(x.url), x.what, MaxEvent>>20)
	}
	return b, nil
}

// cut says that an answer stopped short.
func (x *exchange) cut(err error) error {
	is := errors.Join(ErrInterrupted, err)
	if !x.a.op.repeat {
		is = errors.Join(ErrPossiblyDelivered, is)
	}
	switch {
	case x.c.base.Err() != nil:
		return failf(errors.Join(ErrEnded, is), "%s: the client was closed", shown(x.url))
	case x.caller.Err() != nil:
		return failf(errors.Join(x.caller.Err(), is), "%s: %s was given up: %v", shown(x.url), x.what, x.caller.Err())
	}
	if !x.a.op.repeat {
		return x.fate(failf(is, "%s: %s in the middle of its answer to %s: %s", shown(x.url), reason(err), x.what, notAgain))
	}
	return x.fate(failf(is, "%s: %s in the middle of its answer to %s", shown(x.url), reason(err), x.what))
}

// result reads a JSON-RPC response, whatever its HTTP status and media type: Go
// 0.3 sends its errors as text/plain, others with 4xx or 500. No result and no
// error is the result null.
func (x *exchange) result() (json.RawMessage, error) {
	b, err := x.body()
	if err != nil {
		return nil, err
	}
	b = repairText(bytes.TrimSpace(b))
	if len(b) == 0 || b[0] != '{' || !validJSON(b) {
		return nil, x.notRPC(b)
	}
	r := readResponse(rawjson.View(b))
	switch {
	case r.failure != "":
		return nil, x.agentError(r.failure)
	case x.resp.StatusCode >= 300 || !r.is:
		return nil, x.notRPC(b)
	case r.result == "":
		return json.RawMessage("null"), nil
	}
	return json.RawMessage(r.result), nil
}

// A response is what is in a JSON-RPC response, as it is written. The id is not
// looked at: each exchange has one request, and servers that could not parse it
// answer with null.
type response struct {
	is              bool // it looks like one
	result, failure string
}

func readResponse(raw string) (r response) {
	rawjson.EachMember(raw, func(key, value string) bool {
		switch key {
		case "jsonrpc":
			r.is = true
		case "result":
			r.is, r.result = true, value
		case "error":
			if value != "null" {
				r.is, r.failure = true, value
			}
		}
		return true
	})
	return r
}

// agentError makes an error of what the agent gave as one.
func (x *exchange) agentError(raw string) error {
	e := readError(raw)
	e.HTTPStatus = x.resp.StatusCode
	if e.Code == 0 && e.HTTPStatus < 300 {
		e.Code = a2a.CodeInternal
	}
	x.addChallenge(e)
	return e
}

// readError reads an error object; a string is its message alone. It copies:
// errors outlive what they were read from.
func readError(raw string) *a2a.Error {
	e := new(a2a.Error)
	if !rawjson.IsObject(raw) {
		e.Message = strings.Clone(jsonText(raw))
		return e
	}
	rawjson.EachMember(raw, func(key, value string) bool {
		switch key {
		case "code":
			// 1e3 is a number too, but nobody's code; and one is a string.
			e.Code, _ = strconv.Atoi(jsonText(value))
		case "message":
			e.Message = strings.Clone(jsonText(value))
		case "data", "details":
			if value != "null" {
				e.Data = a2a.JSON(strings.Clone(value))
			}
		}
		return true
	})
	return e
}

// addChallenge keeps what the agent says about how to authenticate.
func (x *exchange) addChallenge(e *a2a.Error) {
	if challenge := x.resp.Header.Values("WWW-Authenticate"); len(challenge) > 0 && e.Data == "" {
		if b, err := json.Marshal(map[string][]string{"wwwAuthenticate": challenge}); err == nil {
			e.Data = a2a.JSON(b)
		}
	}
}

// notRPC says what is wrong with an answer that is no JSON-RPC response.
func (x *exchange) notRPC(b []byte) error {
	status := x.resp.StatusCode
	at := shown(x.url)
	what := x.mediaType()
	if what == "" {
		what = "something"
	}
	if status < 300 {
		if len(b) == 0 {
			return failf(x.lost(), "%s answered %s with an empty %d", at, x.what, status)
		}
		if strings.HasSuffix(what, "json") {
			return failf(x.lost(), "%s answered %s with JSON that is not JSON-RPC: %s", at, x.what, quote(b))
		}
		// Most likely a web page: nothing was delivered to any agent.
		return failf(nil, "%s answered %s, not A2A: is --agent the agent's URL?", at, what)
	}
	e := &a2a.Error{HTTPStatus: status}
	x.addChallenge(e)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Message = at + " wants other credentials"
		if status == http.StatusUnauthorized {
			e.Message = at + " wants credentials"
		}
		if challenge := x.resp.Header.Get("WWW-Authenticate"); challenge != "" {
			e.Message += " (" + challenge + ")"
		}
		e.Message += ": --header gives them"
	case status == http.StatusTooManyRequests:
		e.Message = at + " has too much to do"
		if wait, told := retryAfter(x.resp); told {
			e.Message += fmt.Sprintf(": try again in %v", wait)
		}
	case status < 400:
		e.Message = at + " redirects to nowhere"
	case what == "text/html":
		e.Message = at + " answered text/html, not A2A: is --agent the agent's URL?"
	case len(b) == 0:
		e.Message = at + " answered " + x.what + " with nothing else"
	default:
		e.Message = at + ": " + quote(b)
	}
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if !x.a.op.repeat {
			return failf(errors.Join(ErrPossiblyDelivered, e), "HTTP %d: %s: %s", status, e.Message, notAgain)
		}
	}
	return e
}

// lost is what an answer that says nothing means for what was sent.
func (x *exchange) lost() error {
	if x.a.op.repeat {
		return nil
	}
	return ErrPossiblyDelivered
}

// quote shows the beginning of an answer on one line.
func quote(b []byte) string {
	more := ""
	if len(b) > maxQuote {
		b, more = b[:maxQuote], "…"
	}
	s := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(b), ""))
	return strings.Join(strings.Fields(s), " ") + more
}
