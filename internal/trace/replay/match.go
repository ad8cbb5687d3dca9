package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

// maxQuoted bounds what is quoted of a request.
const maxQuoted = 80

// A request is a client's, now or then.
type request struct {
	method string // of JSON-RPC; "" in HTTP+JSON
	name   string // the method, in both bindings
	shown  string // the method, or the verb and the path
	path   string
	id     string
	params gjson.Result
}

func newRequest(verb, path, method string, body []byte) request {
	q := request{path: path}
	if gjson.ValidBytes(body) {
		q.params = gjson.ParseBytes(body)
	}
	if said := q.params.Get("method"); said.Exists() || method != "" {
		q.method = cmp.Or(said.Str, method)
		q.id, q.params = q.params.Get("id").Raw, q.params.Get("params")
	}
	q.name = cmp.Or(q.method, event.Method(verb, path))
	q.shown = cmp.Or(q.method, verb+" "+path)
	return q
}

// task returns the task that a request names; "" for none.
func (q *request) task() string { return event.TaskOf(q.params, q.path) }

// content returns what a request says, without what differs from run to run. Parts end with NUL.
func content(params gjson.Result) string {
	var b strings.Builder
	list := params.Get("message.parts")
	if !list.Exists() {
		list = params.Get("message.content") // the HTTP+JSON binding of 0.3
	}
	list.ForEach(func(_, part gjson.Result) bool {
		b.WriteString(cmp.Or(part.Get("text").Str, part.Raw) + "\x00")
		return true
	})
	return cmp.Or(b.String(), params.Get("command_path").Raw+params.Get("arguments").Raw)
}

// match finds the recorded request for a current one, or nil. Of those with its method, and
// about no other task, it takes the one with the most points: 4 for the same content, 3 if it
// was not played, 2 for the same task; of equal ones the first.
// If all were played, the last of the same content is played again: a client may begin
// anew, or ask for a task once more. differs tells how the request deviates; "" if it does not.
func (a *Agent) match(q *request) (x *exchange, differs string) {
	best, task, is := -1, q.task(), content(q.params)
	for _, c := range a.exchanges {
		then := c.task()
		same := task == then || a.ids.recorded[task] == then
		if c.method != q.method || c.name != q.name || !same && task != "" && then != "" {
			continue
		}
		score, was := 0, content(c.params)
		if was == is {
			score += 4
		} else if c.played {
			continue
		}
		if !c.played {
			score += 3
		}
		if same {
			score += 2
		}
		if score > best || score == best && c.played {
			best, x, differs = score, c, ""
			if was != is {
				differs = fmt.Sprintf("%s says %q, and what was recorded says %q", q.shown,
					safe.Short(strings.ReplaceAll(is, "\x00", " "), maxQuoted), safe.Short(strings.ReplaceAll(was, "\x00", " "), maxQuoted))
			}
		}
	}
	return x, differs
}

// ids maps recorded IDs to current ones, one to one, and back.
type ids struct{ current, recorded map[string]string }

// learn binds the IDs in a recorded request's parameters to those in a current one's, unless
// they are bound.
func (m *ids) learn(then, now gjson.Result) {
	for _, path := range [...]string{"message.messageId", "message.contextId", "message.taskId", "contextId", "taskId", "id"} {
		a, b := then.Get(path).Str, now.Get(path).Str
		if a != "" && b != "" && m.current[a] == "" && m.recorded[b] == "" {
			m.current[a], m.recorded[b] = b, a
		}
	}
}

// apply writes a document with the current IDs.
func (m *ids) apply(doc []byte) []byte {
	var pairs []string
	for then, now := range m.current {
		pairs = append(pairs, quoted(then), quoted(now))
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(doc))) // all at once: a current ID may be another's recorded one
}

func quoted(s string) string { return string(rawjson.AppendString(nil, s)) }

// withID returns a JSON-RPC document with another ID, unless one of the two is missing.
func withID(doc []byte, id string) []byte {
	old := gjson.GetBytes(doc, "id")
	if old.Index == 0 || id == "" {
		return doc
	}
	return slices.Concat(doc[:old.Index], []byte(id), doc[old.Index+len(old.Raw):])
}
