package transport

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
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

// isStream reports whether the answer is an event stream, by its label or by how it begins.
func (x *exchange) isStream() bool {
	return x.mediaType() == "text/event-stream" || x.resp.StatusCode < 300 && x.beginsAsStream()
}

// body reads the answer to its end, which also keeps the connection, and closes it. Of a stream it
// returns the first event: a unary method may be answered with one. A card is checked as it came, other
// answers are repaired ([repairText]).
func (x *exchange) body() (b []byte, err error) {
	defer x.resp.Body.Close()
	limit, larger := x.c.maxMessage(), x.c.tooLarge()
	if x.op.effective == opExtendedCard {
		limit, larger = maxCard, fmt.Sprintf("more than %d MiB", maxCard>>20)
	}
	if x.isStream() {
		r := newFrameReader(x.resp.Body, false)
		r.max = limit
		frames, end := r.next(nil)
		if err = end; err == nil {
			b = bytes.Clone(frames[0].data)
		} else if err == io.EOF {
			err = nil
		}
	} else {
		b, err = io.ReadAll(io.LimitReader(x.resp.Body, int64(limit)+1))
		b = bytes.TrimPrefix(b, []byte("\uFEFF"))
	}
	switch {
	case err == errEventSize, len(b) > limit:
		return nil, failf(ErrTooLarge, "%s answered %s with %s", x.shownURL(), x.op.what, larger)
	case err != nil:
		return nil, x.lossError(err, true)
	case x.op.effective == opExtendedCard:
		return bytes.TrimSpace(b), nil
	}
	return repairText(bytes.TrimSpace(b)), nil
}

// maxCard is how large a card may be: all of one is read, kept and shown. The largest that was seen has 30 kB;
// one of 60 MiB that was made for it took 1.4 GB and half a minute.
const maxCard = 4 << 20

// agentError adds to the agent's error what the response says beside it, and what the user can do.
func (x *exchange) agentError(e *a2a.Error) error {
	if e.HTTPStatus == 0 || x.resp.StatusCode >= 300 {
		e.HTTPStatus = x.resp.StatusCode
	}
	if e.Code == 0 && e.HTTPStatus < 300 {
		e.Code, e.NoCode = a2a.CodeInternal, true
	}
	x.addChallenge(e)
	if advice := x.advice(); advice != "" && e.Code == 0 {
		e.Message = advice + "; it says: " + e.Message
	} else if x.cure != "" {
		return failf(e, "%s: %s", strings.TrimPrefix(e.Error(), "agent: "), x.cure)
	}
	return e
}

// addChallenge puts what the agent says about how to authenticate into the error's data, if it has none.
func (x *exchange) addChallenge(e *a2a.Error) {
	if challenge := x.resp.Header.Values("WWW-Authenticate"); len(challenge) > 0 && e.Data == "" {
		if b, err := json.Marshal(map[string][]string{"wwwAuthenticate": challenge}); err == nil {
			e.Data = a2a.JSON(b)
		}
	}
}

// notA2A returns the error for an answer that the binding cannot read; an [a2a.Error] is in it if
// the status is no success.
func (x *exchange) notA2A(b []byte) error {
	status, at, what := x.resp.StatusCode, x.shownURL(), cmp.Or(x.mediaType(), "something")
	page := what == "text/html"
	const noAgent = " answered with a web page, not A2A: is --agent the agent's URL, or does a gateway before it want you to sign in?"
	if status < 300 {
		var lost error
		if !x.op.delivery.repeatable() {
			lost = ErrPossiblyDelivered
		}
		switch {
		case len(b) == 0:
			return failf(lost, "%s answered %s with an empty %d", at, x.op.what, status)
		case page: // no agent has got the request
			return failf(nil, "%s", at+noAgent)
		case rawjson.Valid(b):
			what = "JSON"
		}
		return failf(lost, "%s answered %s with %s that is not A2A: %s: is --agent the agent's URL?", at, x.op.what, what, quote(b))
	}
	e := &a2a.Error{HTTPStatus: status, Message: x.advice()}
	x.addChallenge(e)
	switch {
	case x.wantsTLS(b):
		return failf(ErrUnreachable, "%s: it speaks TLS: %s", at, cureTLS)
	case e.Message != "":
	case x.isNotServed(page):
		return x.notServed(e)
	case page && gatewayStatus(status):
		e.Message = at + " answered with a web page, most likely a gateway's or a proxy's: is the agent behind it running, and is it the right way there?"
	case page && status >= http.StatusInternalServerError:
		e.Message = at + " answered with a web page that tells of a fault there: the log of its server knows more"
	case page:
		e.Message = at + noAgent
	case len(b) == 0:
		e.Message = at + " answered " + x.op.what + " with nothing else"
	case gatewayStatus(status):
		e.Message = at + ": " + quote(b) + ": is the agent behind it running?"
	default:
		e.Message = at + ": " + quote(b)
	}
	e.Message += x.pause()
	if gatewayStatus(status) && !x.op.delivery.repeatable() {
		return failf(errors.Join(ErrPossiblyDelivered, e), "HTTP %d: %s%s", status, e.Message, x.notAgain(" (%s)"))
	}
	return e
}

// pause is what a gateway asks for, "" if that is not one's answer, or it does not say. Of a 429 advice tells it.
func (x *exchange) pause() string {
	if wait, _ := retryAfter(x.resp); wait > 0 && gatewayStatus(x.resp.StatusCode) {
		return fmt.Sprintf("; it asks for a pause of %v", wait.Round(time.Second))
	}
	return ""
}

// wantsTLS reports whether an answer is what a TLS server (Go, nginx, Apache) says to a
// client that does not speak TLS.
func (x *exchange) wantsTLS(b []byte) bool {
	return x.url.Scheme == "http" && x.resp.StatusCode == http.StatusBadRequest &&
		(bytes.Contains(b, []byte("HTTPS ")) || bytes.Contains(b, []byte("SSL-enabled")))
}

// advice says what the user can do about a refusal, judged by its HTTP status; "" if nothing is known.
func (x *exchange) advice() string {
	at := x.shownURL()
	switch status := x.resp.StatusCode; status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text := at + " wants other credentials"
		if status == http.StatusUnauthorized {
			text = at + " wants credentials"
		}
		if challenge := x.resp.Header.Get("WWW-Authenticate"); challenge != "" {
			text += " (" + challenge + ")"
		}
		return text + ": " + cmp.Or(x.cure, cureCredentials(x.resp.Header.Get("WWW-Authenticate")))
	case http.StatusProxyAuthRequired:
		return "the proxy on the way to " + at + " wants credentials: " + cureProxy
	case http.StatusRequestEntityTooLarge:
		return at + " does not take a message of this size"
	case http.StatusTooManyRequests:
		text := at + " has too much to do"
		if wait, has := retryAfter(x.resp); has {
			return text + fmt.Sprintf(": it asks for a pause of %v; try again then", wait.Round(time.Second))
		}
		return text + ": try again later; it does not say when"
	}
	return ""
}

// cureCredentials says how to give what a challenge (RFC 9110, 11.6.1) asks for.
func cureCredentials(challenge string) string {
	scheme, _, _ := strings.Cut(challenge, " ")
	value, note := "Bearer TOKEN", ""
	switch strings.ToLower(scheme) {
	case "basic":
		value, note = "Basic ...", " (user:password in base64)"
	case "", "bearer", "dpop":
	default:
		value = quote([]byte(scheme)) + " ..."
	}
	return "--header 'Authorization: " + value + "' gives them" + note + ", better in the variable A2ASTDIO_HEADER"
}

// isNotServed reports whether an answer says that the agent does not serve the operation's URL. nginx says 405 for
// its page of a 504.
func (x *exchange) isNotServed(page bool) bool {
	status := x.resp.StatusCode
	return x.op.ownURL && noRoute(status) && (!page || status == http.StatusNotFound)
}

// notServed completes the error for an operation whose URL the agent does not serve. For a message the
// URL must be wrong; other operations an agent need not offer. 405 (the URL takes other verbs) and 501
// say that surely, and get the code of a missing method; 404 may mean the task.
func (x *exchange) notServed(e *a2a.Error) error {
	e.Message = x.shownURL() + " is not there"
	if x.op.effective == opSend {
		e.Message += ": is --agent the agent's URL, and the one in its card right? --card takes a card that is corrected"
		return e
	}
	if x.op.effective == opStream || e.HTTPStatus != http.StatusNotFound {
		e.Code = a2a.CodeMethodNotFound
	}
	e.Message += ": the agent does not seem to offer that"
	return e
}

// quote shows the beginning of an answer on one line.
func quote(b []byte) string {
	if len(b) <= maxQuote {
		return safe.Line(string(b), 3*maxQuote) // a picture of a control character takes three
	}
	return safe.Line(strings.ToValidUTF8(string(b[:maxQuote]), ""), 3*maxQuote) + "…"
}

// beginsAsStream reports whether a body that is not labelled as an event stream begins as one
// all the same, as no JSON does. It waits for the first bytes, and leaves them in the body.
func (x *exchange) beginsAsStream() bool {
	switch t := x.mediaType(); {
	case strings.HasSuffix(t, "json"), t == "", t == "text/plain", t == "application/octet-stream":
	default:
		return false
	}
	body := x.resp.Body
	src := bufio.NewReader(body)
	x.resp.Body = struct {
		io.Reader
		io.Closer
	}{src, body}
	begin, _ := src.Peek(len("event:")) // no event is shorter; the next read returns the error
	return slices.ContainsFunc([]string{":", "data:", "event:", "id:", "retry:"}, func(field string) bool {
		return bytes.HasPrefix(begin, []byte(field))
	})
}
