package replay

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// A request is a client's current request.
type request struct {
	http, path string
	method     string
	id         string
	body       []byte
	params     gjson.Result
}

func newRequest(r *http.Request, body []byte) *request {
	q := &request{http: r.Method, path: r.URL.Path, body: body}
	doc := gjson.ParseBytes(body)
	if gjson.ValidBytes(body) && doc.Get("method").Exists() {
		q.method, q.id, q.params = doc.Get("method").Str, doc.Get("id").Raw, doc.Get("params")
	} else if gjson.ValidBytes(body) {
		q.params = doc
	}
	return q
}

func (q *request) String() string {
	if q.method != "" {
		return q.method
	}
	return q.http + " " + q.path
}

// name is the name that faults know it by.
func (q *request) name() string { return q.String() }

// task returns the task that it names, if any.
func (q *request) task() string {
	for _, path := range []string{"message.taskId", "taskId", "id"} {
		if id := q.params.Get(path).Str; id != "" {
			return id
		}
	}
	// HTTP+JSON has the task in the path: /v1/tasks/ID:cancel.
	if _, rest, ok := strings.Cut(q.path, "/tasks/"); ok && q.method == "" {
		id, _, _ := strings.Cut(rest, ":")
		id, _, _ = strings.Cut(id, "/")
		return id
	}
	return ""
}

// operation names the operation, in both bindings and versions. It decides how an
// unrecorded request is answered.
func (q *request) operation() string {
	switch q.method {
	case "tasks/get", "GetTask":
		return "get"
	case "tasks/cancel", "CancelTask":
		return "cancel"
	case "tasks/resubscribe", "SubscribeToTask":
		return "subscribe"
	case "":
		switch {
		case strings.HasSuffix(q.path, ":cancel"):
			return "cancel"
		case strings.HasSuffix(q.path, ":subscribe"):
			return "subscribe"
		case q.http == http.MethodGet && strings.Contains(q.path, "/tasks/"):
			return "get"
		}
	}
	return ""
}

// sends reports whether a request carries a message or causes other work. Such a
// request must not be answered twice from one recording.
func (q *request) sends() bool {
	switch q.method {
	case "message/send", "message/stream", "SendMessage", "SendStreamingMessage", "command/execute":
		return true
	}
	return strings.Contains(q.path, "message:") && q.method == ""
}

// parts returns a message's content, without what differs from run to run.
func parts(params gjson.Result) string {
	var b strings.Builder
	message := params.Get("message")
	list := message.Get("parts")
	if !list.Exists() {
		list = message.Get("content") // the HTTP+JSON binding of 0.3
	}
	list.ForEach(func(_, part gjson.Result) bool {
		switch {
		case part.Get("text").Exists():
			b.WriteString(part.Get("text").Str)
		default:
			b.WriteString(part.Raw)
		}
		b.WriteByte(0)
		return true
	})
	if b.Len() == 0 {
		return params.Get("command_path").Raw + params.Get("arguments").Raw
	}
	return b.String()
}

// match finds the recorded request for a current one. Of those with its method and
// target it prefers, roughly in this order: the same content, not played yet, the same
// task. A played request is played again if it has the same content: a client may begin
// anew. differs tells how the request deviates.
func (a *Agent) match(q *request) (x *exchange, differs string) {
	best := -1
	for _, c := range a.rec.exchanges {
		if c.method != q.method || c.method == "" && (c.http != q.http || shape(c.path) != shape(q.path)) || c.used > 0 && q.operation() != "" {
			continue
		}
		score := 0
		then := recordedParams(c)
		said, says := parts(then), parts(a.asRecorded(q, c))
		if said == says {
			score += 4
		} else if c.used > 0 && q.sends() {
			continue
		}
		if (&request{method: c.method, path: c.path, params: then}).task() == a.ids.then[q.task()] || q.task() == (&request{method: c.method, path: c.path, params: then}).task() {
			score += 2
		}
		if c.used == 0 {
			score += 3
		}
		if score > best {
			best, x, differs = score, c, ""
			if said != says {
				differs = fmt.Sprintf("%s says %q, and what was recorded says %q", q, clip(says), clip(said))
			}
		}
	}
	return x, differs
}

// asRecorded returns a request as a recorder would have written it.
func (a *Agent) asRecorded(q *request, c *exchange) gjson.Result {
	if !c.masked || len(q.body) == 0 {
		return q.params
	}
	doc := gjson.ParseBytes(trace.Mask(q.body))
	if q.method != "" {
		return doc.Get("params")
	}
	return doc
}

func recordedParams(c *exchange) gjson.Result {
	doc := gjson.ParseBytes(c.request)
	if c.method != "" {
		return doc.Get("params")
	}
	return doc
}

// shape is a path without IDs.
func shape(path string) string {
	before, rest, ok := strings.Cut(path, "/tasks/")
	if !ok {
		return path
	}
	if i := strings.IndexAny(rest, ":/"); i >= 0 {
		return before + "/tasks/*" + rest[i:]
	}
	return before + "/tasks/*"
}

func clip(s string) string {
	s = strings.ReplaceAll(strings.TrimRight(s, "\x00"), "\x00", " ")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
