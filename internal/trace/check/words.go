package check

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace/event"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	maxWords = 16 << 20 // bounds the JSON of a turn whose text is compared
	maxTurns = 100      // bounds the open turns
	longText = 24       // the length from which equal texts are not a coincidence
)

// words compares what the agent says with what the editor gets: each text must arrive,
// and not more often than it was said. Of turns that overlap nothing is compared, since
// nothing tells which event belongs to which.
type words struct {
	c          *Checker
	off        bool
	turns      map[string]*turn // the open ones, by their session
	waitedWith [2]string        // the ID and the parts of the newest message that a task has waited with
}

// A turn is what was said between a prompt and its reply.
type turn struct {
	first  int64           // the record of the prompt
	void   string          // why it is not compared; "": it is
	broken bool            // a connection was lost, so the agent may have repeated itself
	size   int             // of the JSON that came, see maxWords
	tasks  map[string]bool // of its events
	// The agent's side: messages and artifacts, and all text in its order, without spaces.
	said units
	all  strings.Builder
	// The editor's side: text by message, and all else, both without spaces.
	got   units
	other strings.Builder
}

// units are messages and artifacts in the order of their beginning.
type units struct {
	list   []*unit
	byName map[string]*unit
}

// unit returns the unit of a name, a new one if there is none.
func (u *units) unit(name string) *unit {
	if u.byName == nil {
		u.byName = map[string]*unit{}
	}
	if u.byName[name] == nil {
		u.byName[name] = &unit{name: name}
		u.list = append(u.list, u.byName[name])
	}
	return u.byName[name]
}

// A unit is a message or an artifact, with its text as it came.
type unit struct {
	name   string
	base   string // the text that was there before the turn, and is not in pieces
	pieces []string
	size   int // of the pieces
}

func (u *unit) text() string { return strings.Join(u.pieces, "") }

func (u *unit) add(text string) {
	u.pieces, u.size = append(u.pieces, text), u.size+len(text)
}

// rest returns what of a text is behind all that the unit holds, if the text begins with that.
func (u *unit) rest(text string) (rest string, ok bool) {
	if len(text) < u.size {
		return "", false
	}
	return strings.CutPrefix(text, u.text())
}

func (w *words) begin(session string, n int64) {
	if w.off || len(w.turns) >= maxTurns {
		return
	}
	w.turns[session] = &turn{first: n, tasks: map[string]bool{}}
	if len(w.turns) > 1 {
		w.voidAll("several turns at once")
	}
}

// voidAll has no open turn compared.
func (w *words) voidAll(why string) {
	for _, t := range w.turns {
		t.void = why
	}
}

// openTurn returns a session's open turn, and counts what it is about to hold; nil if there
// is none that is compared.
func (w *words) openTurn(session string, size int) *turn {
	t := w.turns[session]
	if t == nil {
		return nil
	}
	if t.size += size; t.size > maxWords {
		*t = turn{first: t.first, size: t.size, void: "more text than is compared"}
	}
	if t.void != "" {
		return nil
	}
	return t
}

// said takes text that the editor gets.
func (w *words) said(session, message, text string) {
	if t := w.openTurn(session, len(message)+len(text)); t != nil {
		t.got.unit(message).add(withoutSpace(text))
	}
}

// other takes other JSON that the editor gets: a call's output, a title, an error.
func (w *words) other(session, raw string) {
	if t := w.openTurn(session, len(raw)); t != nil {
		eachString(gjson.Parse(raw), func(s string) { t.other.WriteString(withoutSpace(s) + "\n") }, 0)
	}
}

// eachString calls yield for each string in v, which is at a depth of its payload.
func eachString(v gjson.Result, yield func(string), depth int) {
	switch {
	case v.Type == gjson.String:
		yield(v.Str)
	case (v.IsObject() || v.IsArray()) && depth < maxNesting:
		v.ForEach(func(_, inner gjson.Result) bool {
			eachString(inner, yield, depth+1)
			return true
		})
	}
}

// withoutSpace removes white space from a text: a bridge may separate paragraphs.
func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// event takes an event of the agent, in answer to the request in a record. goesOn: the request is about
// an existing task, so that the event may hold text from before the turn, which need not
// be shown again. What still comes for a request of an earlier turn, as of one that was
// cancelled, is no turn's.
func (w *words) event(e *event.Event, request int64, goesOn bool) {
	stays := w.stays(e)
	for session := range w.turns {
		t := w.openTurn(session, len(e.Body.Raw))
		if t == nil || request < t.first {
			continue
		}
		old := goesOn && !t.tasks[e.Task]
		t.tasks[e.Task] = true
		switch e.Kind {
		case event.Artifact:
			t.artifact(e.Body.Get("artifact"), e.Append, false)
		case event.Status:
			if !stays {
				t.status(e)
			}
		case event.Message:
			t.message(e.Body)
		case event.Task:
			if !old && !stays {
				t.status(e)
			}
			for _, a := range e.Body.Get("artifacts").Array() {
				t.artifact(a, false, old)
			}
		}
	}
}

// stays reports whether a task that was answered still has the message that it has waited
// with, which was shown. A short one may be the next token of a text. It notes such messages.
func (w *words) stays(e *event.Event) bool {
	m := e.Body.Get("status.message")
	now := [2]string{m.Get("messageId").Str, m.Get("parts").Raw}
	if now[0] != "" && event.Waits(e.State) {
		w.waitedWith = [2]string{strings.Clone(now[0]), strings.Clone(now[1])}
		return false
	}
	return now[0] != "" && now == w.waitedWith && len(withoutSpace(event.Text(m.Get("parts")))) >= 16
}

// artifact begins, continues or replaces an artifact. old: all of it was there before the turn.
func (t *turn) artifact(a gjson.Result, goesOn, old bool) {
	text := event.Text(a.Get("parts"))
	t.all.WriteString(withoutSpace(text) + "\n")
	u := t.said.unit("artifact " + strconv.Quote(a.Get("artifactId").Str))
	if old {
		u.base = text
	}
	if !goesOn {
		after, ok := strings.CutPrefix(text, u.base)
		if text = after; !ok {
			u.base = "" // it was replaced
		}
		more, longer := u.rest(text)
		if text = more; !longer {
			text, u.pieces, u.size = after, nil, 0
		}
	}
	u.add(text)
}

// status takes the message of a state, but no filler, which nobody is shown.
func (t *turn) status(e *event.Event) {
	m := e.Body.Get("status.message")
	if !dialect.IsFiller(a2a.State(e.State), event.Text(m.Get("parts"))) {
		t.message(m)
	}
}

// message takes a message of the agent's, or a piece of one.
func (t *turn) message(m gjson.Result) {
	text := event.Text(m.Get("parts"))
	if text == "" || strings.EqualFold(strings.TrimPrefix(m.Get("role").Str, "ROLE_"), "user") {
		return
	}
	t.all.WriteString(withoutSpace(text) + "\n")
	u := t.said.unit("message " + strconv.Quote(m.Get("messageId").Str))
	if _, longer := u.rest(text); longer {
		u.pieces, u.size = nil, 0
	}
	u.add(text)
}

// end compares a turn at its reply, the record n, of who. complete: the turn was not cut short.
func (w *words) end(session string, n int64, who string, complete bool) {
	t := w.turns[session]
	delete(w.turns, session)
	if t == nil {
		return
	}
	if t.void != "" {
		w.c.note("what was said is not compared in turns with %s", t.void)
		return
	}
	var all strings.Builder
	for _, s := range t.got.list {
		all.WriteString(s.text() + "\n")
	}
	got, other := all.String(), t.other.String()
	flat := strings.ReplaceAll(got, "\n", "") // messages in a row may be one text of the agent's
	from := 0                                 // texts mostly come in their order
	for _, u := range t.said.list {
		want := withoutSpace(u.text())
		at := strings.Index(got[from:], want)
		if at >= 0 {
			from += at
		} else {
			at = strings.Index(got, want)
		}
		if at >= 0 && utf8.RuneCountInString(want) >= longText {
			t.reportTwice(w.c, u, want, got, n, who)
		}
		if at >= 0 || !complete || strings.Contains(other, want) || strings.Contains(flat, want) || t.cameInPieces(u, flat, other) {
			continue
		}
		text := []rune(u.text())
		lost := lostAt(text, got)
		w.c.fail(n, who, RuleWords, u.name, "what the editor got in the turn that begins with record %d is not what the agent said from %s on, which is character %d of %d",
			t.first, excerpt(string(text[lost:])), lost+1, len(text))
	}
}

// reportTwice reports text that the editor got more often than the agent said it.
func (t *turn) reportTwice(c *Checker, u *unit, want, got string, n int64, who string) {
	times := strings.Count(got, want)
	// What was said in pieces, and once more as a whole, was said twice.
	if said := strings.ReplaceAll(t.all.String(), "\n", ""); times > 1 && times > strings.Count(said, want) {
		c.fail(n, who, RuleWords, u.name, "the editor got %s %d times, in the turn that begins with record %d", excerpt(u.text()), times, t.first)
	}
}

// cameInPieces reports whether a text that did not arrive in one piece has arrived. Its pieces may
// be apart where texts alternate, where a connection was lost, or where the bridge wrote in
// between; also in a tool call's output, because some agents repeat its beginning.
func (t *turn) cameInPieces(u *unit, flat, other string) bool {
	if !slices.ContainsFunc(u.pieces, func(p string) bool { return !strings.Contains(other, withoutSpace(p)) }) {
		return true
	}
	if len(t.said.list) == 1 && len(t.got.list) <= 1 && !t.broken {
		return false
	}
	rest := flat
	for _, p := range u.pieces {
		p = withoutSpace(p)
		long := utf8.RuneCountInString(p) >= longText
		switch i := strings.Index(rest, p); {
		case i >= 0 && !t.broken:
			rest = rest[i+len(p):]
		case i < 0 && !(long && (strings.Contains(flat, p) || strings.Contains(other, p))): // a long one may come in another order
			return false
		}
	}
	return true
}

// lostAt returns how many runes of a text arrived, from its beginning on; less than all.
func lostAt(text []rune, got string) int {
	low, high := 0, len(text)
	for low < high {
		if mid := (low + high + 1) / 2; strings.Contains(got, withoutSpace(string(text[:mid]))) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return min(low, len(text)-1)
}

func excerpt(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		return strconv.Quote(string(r[:maxQuoted]) + "…")
	}
	return strconv.Quote(s)
}
