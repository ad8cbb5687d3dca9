package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

const (
	maxSkew  = 10 * time.Minute        // how far a timestamp may be from the time at which it comes
	heldBack = 1500 * time.Millisecond // from when on a stream that comes at once is told
)

// An eventRule is a rule about one event or result.
type eventRule struct {
	rule, weight string
	at           [2]string // as of broken
	// broken returns what is wrong; "" for nothing. So do the functions below.
	broken func(x *exchange, e *event.Event) string
}

// eventRules are the rules that an event shows alone, or with its request.
func eventRules() []eventRule {
	unsaid := [2]string{}
	parts := [2]string{"6.5", "4.1.6"}
	return []eventRule{
		{RuleVersion, Error, unsaid, wrongForm},
		{RuleVersion, Warning, [2]string{"6", "A.2.1"}, otherWords},
		{RuleOrder, Error, [2]string{"7.3", "3.1.3"}, wrongTask},
		{RuleOrder, Error, [2]string{"6.4", "4.1.4"}, wrongRole},
		{RuleOrder, Error, [2]string{"6.4", "4.1.4"}, foreignMessage},
		{RuleOrder, Warning, [2]string{"6.1", "4.1.1"}, func(_ *exchange, e *event.Event) string {
			return thereTwice(e.Body, "history.#.messageId", "artifacts.#.artifactId")
		}},
		{RuleOrder, Warning, [2]string{"6.4", "4.1.4"}, func(x *exchange, e *event.Event) string {
			// Before the end such a message may be a piece of one, as Gemini CLI's server sends them.
			id, said := e.Message().Get("messageId").Str, gjson.Get(x.previous, "status.message")
			if text := event.Text(said.Get("parts")); event.Terminal(e.State) && id != "" && id == said.Get("messageId").Str && !strings.HasPrefix(event.Text(e.Parts()), text) {
				return fmt.Sprintf("the message has the ID %q, as one before it that said %s: each has an ID of its own", id, excerpt(text))
			}
			return ""
		}},
		{RuleOrder, Error, [2]string{"7.2.2", ""}, func(x *exchange, e *event.Event) string {
			if e.Final && (e.State == "working" || e.State == "submitted") {
				return "final: true tells clients that nothing more comes, and the state is " + e.State
			}
			return ""
		}},
		{RuleOrder, Warning, unsaid, func(x *exchange, e *event.Event) string {
			if e.Kind != event.Task && e.State == "submitted" && x.newest.State == "working" {
				return "the state was working, and goes back to submitted"
			}
			return ""
		}},
		{RuleOrder, Warning, unsaid, func(x *exchange, e *event.Event) string {
			if e.Kind == event.Message && x.task != "" && x.answers > 1 {
				return "a message comes alone, and this stream is about a task: what is said of a task is in its status, or an artifact"
			}
			return ""
		}},
		{RuleOrder, Warning, [2]string{"7.3.1", "3.2.4"}, func(x *exchange, e *event.Event) string {
			if most, n := x.asks("historyLength"), e.Body.Get("history.#").Int(); n > most.Int() && (most.Int() > 0 || x.op.version == "1.0" && most.String() == "0") {
				return fmt.Sprintf("historyLength was %d, and the history has %d messages", most.Int(), n)
			}
			return ""
		}},
		{RuleState, Warning, unsaid, silentState},
		{RuleSchema, Error, parts, twofoldParts},
		{RuleSchema, Warning, parts, poorParts},
	}
}

// rules checks an event against eventRules, and its timestamp against the record's time.
func (w *agentWire) rules(r *trace.Record, x *exchange, e *event.Event) {
	x.spoke = x.spoke || e.Body.Get("artifacts.#").Int() > 0 ||
		slices.ContainsFunc(e.Parts().Array(), func(p gjson.Result) bool { return p.Get("text").Type != gjson.String || p.Get("text").Str != "" })
	for i, rule := range eventRules() {
		w.broken(r, rule.rule, rule.weight, x.method, rule.broken(x, e), x.op.version == "1.0", rule.at, fmt.Sprint(i))
	}
	when, err := time.Parse(time.RFC3339Nano, e.Body.Get("status.timestamp").Str)
	if err != nil {
		return
	}
	asks := x.params.Get("message").Exists()
	switch skew := when.Sub(r.Time); {
	case asks && !r.Time.IsZero() && skew.Abs() > maxSkew:
		w.warn(r.N, x, RuleState, "status.timestamp is %s, and it came at %s: is the time zone wrong?",
			when.UTC().Format(time.RFC3339), r.Time.UTC().Format(time.RFC3339))
	case when.Before(x.timestamp):
		w.warn(r.N, x, RuleState, "status.timestamp is earlier than that of the event before")
	}
	x.timestamp = when
}

// broken reports a broken rule, if text says so. at are the sections of A2A 0.3 and 1.0 that
// have it, if not those of the rule.
func (w *agentWire) broken(r *trace.Record, rule, weight, what, text string, v1 bool, at [2]string, kind string) {
	if text == "" {
		return
	}
	f := &Finding{Record: r.N, Who: Agent, Rule: rule, Weight: weight, What: what, Text: text}
	if at != [2]string{} {
		f.Source = Section(v1, at[0], at[1])
	}
	w.c.report(f, kind)
}

// wrongForm: the words of one version of A2A in another.
func wrongForm(x *exchange, e *event.Event) string {
	kind := e.Body.Get("kind").Exists()
	switch {
	case x.loose || e.Kind == "" || x.op.result == "Task":
	case x.op.version == "0.3" && e.V1:
		return `it has no "kind", which tells what it is in A2A 0.3, that of the request; a member (task, message, statusUpdate, artifactUpdate) tells it in 1.0 alone`
	case x.op.version == "1.0" && kind && !e.V1:
		return `it is in the form of A2A 0.3, and the request was one of 1.0, where a member (task, message, statusUpdate, artifactUpdate) tells what it is`
	}
	return ""
}

// otherWords: members that the other version of A2A has.
func otherWords(x *exchange, e *event.Event) (wrong string) {
	places := map[string]gjson.Result{"": e.Body, "status.message.": e.Body.Get("status.message")}
	for i, p := range e.Parts().Array() {
		places[fmt.Sprintf("parts[%d].", i)] = p
	}
	words, other := []string{"final", "kind", "mimeType"}, "0.3"
	if x.op.version != "1.0" {
		words, other = []string{"raw", "mediaType", "filename"}, "1.0"
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		for _, word := range words {
			if v := places[place].Get(word); v.Exists() && wrong == "" && !x.loose && e.V1 == (x.op.version == "1.0") {
				wrong = fmt.Sprintf("%s%s is a member of A2A %s, and has no meaning in %s", place, word, other, x.op.version)
			}
		}
	}
	return wrong
}

// wrongTask: it is about another task than the one that was asked for.
func wrongTask(x *exchange, e *event.Event) string {
	want := x.about
	if want == "" || e.Task == "" || want == e.Task || e.Kind == event.Message {
		return ""
	}
	return fmt.Sprintf("the task %q was asked for, and this is %q", want, e.Task)
}

// wrongRole: the user speaks in the agent's place. An echo of the prompt may.
func wrongRole(x *exchange, e *event.Event) string {
	m, sent := e.Message(), x.params.Get("message.messageId").Str
	role := strings.ToLower(strings.TrimPrefix(m.Get("role").Str, "ROLE_"))
	same := sent != "" && m.Get("messageId").Str == sent
	for _, h := range e.Body.Get("history").Array() {
		if got := h.Get("role").Str; sent != "" && h.Get("messageId").Str == sent && strings.EqualFold(strings.TrimPrefix(got, "ROLE_"), "agent") {
			return fmt.Sprintf("the history has the user's message with the role %q", got)
		}
	}
	switch {
	case role == "user" && !same && (e.Kind == event.Message || x.params.Get("message").Exists()):
		return fmt.Sprintf("the role is %q, and it must be the agent's: the agent says it", m.Get("role").Str)
	case role == "agent" && same:
		return "the message has the ID of the user's message: each has an ID of its own"
	}
	return ""
}

// foreignMessage: the message in a status names another task or context than the status.
func foreignMessage(_ *exchange, e *event.Event) string {
	m := e.Body.Get("status.message")
	for _, id := range [...]struct{ name, want string }{{"taskId", e.Task}, {"contextId", e.Context}} {
		if got := m.Get(id.name).Str; got != "" && id.want != "" && got != id.want {
			return fmt.Sprintf("status.message.%s is %q, and the event's is %q", id.name, got, id.want)
		}
	}
	return ""
}

// thereTwice returns what is wrong with lists, at these paths, that have an ID twice.
func thereTwice(doc gjson.Result, paths ...string) string {
	for _, path := range paths {
		seen := map[string]bool{}
		for _, id := range doc.Get(path).Array() {
			if list, _, _ := strings.Cut(path, ".#"); seen[id.Str] {
				return fmt.Sprintf("%s: %q is there twice", list, id.Str)
			}
			seen[id.Str] = true
		}
	}
	return ""
}

// silentState: a state that needs words, and none were said.
func silentState(x *exchange, e *event.Event) string {
	said := e.Message().Exists()
	if !x.params.Get("message").Exists() {
		return ""
	}
	switch {
	case e.State == "unspecified" || e.State == "unknown":
		return "the state is " + e.State + ", which tells nothing"
	case (e.State == "failed" || e.State == "rejected") && !said:
		return "the task was " + e.State + ", and no status.message says why"
	case event.Waits(e.State) && !said && !x.spoke:
		return "the task waits for the user, and no status.message says for what"
	case e.State == "completed" && !x.spoke && !x.params.Get("message.taskId").Exists():
		return "the task is completed, and nothing was said in a message or an artifact"
	}
	return ""
}

// twofoldParts: files with their content in two places.
func twofoldParts(_ *exchange, e *event.Event) string {
	for _, p := range e.Parts().Array() {
		if p.Get("file.bytes").Str != "" && p.Get("file.uri").Str != "" {
			return "a file has bytes and a uri, and must have one of them"
		}
	}
	return ""
}

// poorParts: parts that do not look meant.
func poorParts(x *exchange, e *event.Event) (wrong string) {
	parts := e.Parts()
	if parts.IsArray() && parts.Get("#").Int() == 0 && !e.Append && !e.Body.Get("lastChunk").Bool() {
		return "parts is empty: it says nothing"
	}
	parts.ForEach(func(_, p gjson.Result) bool {
		text := p.Get("text").Str
		switch {
		case p.Get("kind").Str == "text" && p.Get("file").IsObject(), p.Get("kind").Str == "file" && text != "":
			wrong = "a part is text and a file at once, and clients read the one that its kind names: " + quote(p)
		case p.Get("file.bytes").Type == gjson.String && p.Get("file.uri").Type == gjson.String && (p.Get("file.bytes").Str == "" || p.Get("file.uri").Str == ""):
			wrong = "a file has bytes and a uri, of which one is empty: that should not be there"
		case strings.ContainsRune(text, '\uFFFD'):
			wrong = "the text holds U+FFFD, which stands for bytes that are no UTF-8: " + excerpt(text)
		case strings.HasPrefix(text, `{"jsonrpc"`), strings.HasPrefix(text, `{"kind"`):
			wrong = "the text is JSON of A2A itself: " + excerpt(text)
		}
		return wrong == ""
	})
	return wrong
}
