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
	// maxWords bounds the text of a turn that is compared. A turn with more is not
	// compared.
	maxWords = 8 << 20
	// maxTurns bounds the open turns.
	maxTurns = 100
	// maxUnits bounds the compared messages and artifacts of a turn.
	maxUnits = 2000
	// longText is the length from which equal texts are not a coincidence.
	longText = 24
)

// tooMuch tells why a turn is not compared.
const tooMuch = "more text than is compared"

// words compares what the agent says with what the editor gets: each text must arrive,
// and not more often than it was said. It compares turns that run alone: with several,
// nothing tells which event belongs to which.
type words struct {
	c     *Checker
	off   bool
	turns map[string]*turn
}

// A turn is what was said between a prompt and its reply.
type turn struct {
	first  int64
	void   string // why it is not compared
	broken bool   // a connection was lost, so the agent may have repeated itself
	size   int
	tasks  map[string]bool // the turn's tasks

	// The agent's side: messages and artifacts in their order, and all text without white
	// space.
	units  []*unit
	byName map[string]*unit
	all    strings.Builder
	// The editor's side: text by message, and all else.
	streams []*stream
	byKey   map[string]*stream
	other   strings.Builder
}

// A unit is a message or an artifact.
type unit struct {
	name   string
	base   string // was there before the turn
	text   string
	pieces []string
}

type stream struct{ text strings.Builder }

func (w *words) begin(key string, n int64) {
	if w.off || len(w.turns) >= maxTurns {
		return
	}
	if w.turns == nil {
		w.turns = map[string]*turn{}
	}
	w.turns[key] = &turn{first: n, tasks: map[string]bool{}, byName: map[string]*unit{}, byKey: map[string]*stream{}}
	if len(w.turns) > 1 {
		for _, t := range w.turns {
			t.void = "several turns at once"
		}
	}
}

// cut notes a payload of which only the beginning was recorded.
func (w *words) cut() {
	for _, t := range w.turns {
		t.void = "a payload that is too long for the trace"
	}
}

// broken notes a stream that was cut.
func (w *words) broken() {
	for _, t := range w.turns {
		t.broken = true
	}
}

// grow counts the text that is held for a turn.
func (t *turn) grow(s string) bool {
	if t.size += len(s); t.size > maxWords {
		*t = turn{first: t.first, void: tooMuch}
	}
	return t.void == ""
}

// said takes text for the editor.
func (w *words) said(key, message, text string) {
	t := w.turns[key]
	if t == nil || !t.grow(text) {
		return
	}
	s := t.byKey[message]
	if s == nil {
		if len(t.streams) >= maxUnits {
			t.void = tooMuch
			return
		}
		s = &stream{}
		t.byKey[message] = s
		t.streams = append(t.streams, s)
	}
	s.text.WriteString(solid(text))
}

// rest takes other JSON for the editor: a call's output, a title, an error.
func (w *words) rest(key, raw string) {
	t := w.turns[key]
	if t == nil || !t.grow(raw) {
		return
	}
	strs(gjson.Parse(raw), func(s string) { t.other.WriteString(solid(s) + "\n") }, 0)
}

// strs yields the strings of a document.
func strs(v gjson.Result, yield func(string), depth int) {
	switch {
	case v.Type == gjson.String:
		yield(v.Str)
	case (v.IsObject() || v.IsArray()) && depth < maxNesting:
		v.ForEach(func(_, inner gjson.Result) bool {
			strs(inner, yield, depth+1)
			return true
		})
	}
}

// solid removes white space from a text: a bridge may separate paragraphs.
func solid(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// event takes an event of the agent, in answer to a request. goesOn: the request is about
// an existing task, so that the event may hold text from before the turn, which need not
// be shown again. What still comes for a request of an earlier turn, as of one that was
// cancelled, is no turn's.
func (w *words) event(e *event.Event, request int64, goesOn bool) {
	for _, t := range w.turns {
		if request < t.first {
			continue
		}
		old := goesOn && !t.tasks[e.Task]
		t.tasks[e.Task] = true
		switch e.Kind {
		case event.Artifact:
			a := e.Body.Get("artifact")
			t.artifact(a, e.Append)
		case event.Status:
			t.status(e)
		case event.Message:
			t.message(e.Body)
		case event.Task:
			if !old {
				t.status(e)
			}
			e.Body.Get("artifacts").ForEach(func(_, a gjson.Result) bool {
				if old {
					t.unit(artifactName(a)).base = event.Text(a.Get("parts"))
				}
				t.artifact(a, false)
				return true
			})
		}
	}
}

// unit finds or makes the message or artifact of a name. Above maxUnits it is not
// compared.
func (t *turn) unit(name string) *unit {
	u := t.byName[name]
	if u != nil {
		return u
	}
	u = &unit{name: name}
	if len(t.units) >= maxUnits {
		t.void = tooMuch
		return u
	}
	t.byName[name] = u
	t.units = append(t.units, u)
	return u
}

func artifactName(a gjson.Result) string {
	return "artifact " + strconv.Quote(a.Get("artifactId").Str)
}

// artifact begins, continues or replaces an artifact.
func (t *turn) artifact(a gjson.Result, goesOn bool) {
	text := event.Text(a.Get("parts"))
	if !t.grow(text) {
		return
	}
	t.all.WriteString(solid(text) + "\n")
	u := t.unit(artifactName(a))
	if !goesOn {
		after, ok := strings.CutPrefix(text, u.base)
		if text = after; !ok {
			u.base = "" // it was replaced
		}
	}
	more, longer := strings.CutPrefix(text, u.text)
	switch {
	case goesOn:
		u.text += text
		u.pieces = append(u.pieces, text)
	case longer:
		u.text = text
		u.pieces = append(u.pieces, more)
	default:
		u.text, u.pieces = text, []string{text}
	}
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
	if text == "" || strings.EqualFold(strings.TrimPrefix(m.Get("role").Str, "ROLE_"), "user") || !t.grow(text) {
		return
	}
	t.all.WriteString(solid(text) + "\n")
	u := t.unit("message " + strconv.Quote(m.Get("messageId").Str))
	if strings.HasPrefix(text, u.text) {
		u.text, u.pieces = text, []string{text}
		return
	}
	u.text += text
	u.pieces = append(u.pieces, text)
}

// end compares a turn at the reply to its prompt. complete: the turn was not cut short.
func (w *words) end(key string, n int64, who string, complete bool) {
	t := w.turns[key]
	delete(w.turns, key)
	if t == nil {
		return
	}
	if t.void != "" {
		w.c.note("what was said is not compared in turns with %s", t.void)
		return
	}
	var told strings.Builder
	for _, s := range t.streams {
		told.WriteString(s.text.String() + "\n")
	}
	got, other := told.String(), t.other.String()
	flat := strings.ReplaceAll(got, "\n", "") // messages in a row may be one text of the agent's
	from := 0                                 // texts mostly come in their order
	for _, u := range t.units {
		want := solid(u.text)
		at := strings.Index(got[from:], want)
		if at >= 0 {
			from += at
		} else {
			at = strings.Index(got, want)
		}
		if at >= 0 && utf8.RuneCountInString(want) >= longText {
			t.twice(w.c, u, want, got, n, who)
		}
		if at >= 0 || !complete || strings.Contains(other, want) || strings.Contains(flat, want) {
			continue
		}
		if at, lost := t.lost(u, got, other); lost {
			w.c.find(n, who, RuleWords, u.name, "what the editor got in the turn that begins with record %d is not what the agent said from %s on, which is character %d of %d",
				t.first, excerpt(u.text, at), at+1, utf8.RuneCountInString(u.text))
		}
	}
}

// twice reports text that the editor got more often than the agent said it.
func (t *turn) twice(c *Checker, u *unit, want, got string, n int64, who string) {
	times := strings.Count(got, want)
	// What was said in pieces, and once more as a whole, was said twice.
	if said := strings.ReplaceAll(t.all.String(), "\n", ""); times > 1 && times > strings.Count(said, want) {
		c.find(n, who, RuleWords, u.name, "the editor got %s %d times, in the turn that begins with record %d", excerpt(u.text, 0), times, t.first)
	}
}

// lost finds where a text is missing that did not arrive in one piece. Its pieces may
// be apart where texts alternate, where a connection was lost, or where the bridge
// wrote in between; also in a tool call's output, because some agents repeat its
// beginning.
func (t *turn) lost(u *unit, got, other string) (at int, lost bool) {
	if !slices.ContainsFunc(u.pieces, func(p string) bool { return !strings.Contains(other, solid(p)) }) {
		return 0, false
	}
	if len(t.units) > 1 || len(t.streams) > 1 || t.broken {
		all, found := strings.ReplaceAll(got, "\n", ""), true
		rest := all
		for _, p := range u.pieces {
			p = solid(p)
			i := strings.Index(rest, p)
			if i < 0 && utf8.RuneCountInString(p) >= longText && strings.Contains(all, p) {
				continue // shown in another order, with another text's
			}
			if found = i >= 0 || utf8.RuneCountInString(p) >= longText && strings.Contains(other, p); !found {
				break
			}
			if i >= 0 && !t.broken {
				rest = rest[i+len(p):]
			}
		}
		if found {
			return 0, false
		}
	}
	want := []rune(u.text)
	low, high := 0, len(want) // the longest beginning that arrived
	for low < high {
		if mid := (low + high + 1) / 2; strings.Contains(got, solid(string(want[:mid]))) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return min(low, len(want)-1), true
}

// excerpt returns some of a text, from an index on.
func excerpt(s string, from int) string {
	r := []rune(s)[from:]
	if len(r) > maxQuoted {
		return strconv.Quote(string(r[:maxQuoted]) + "…")
	}
	return strconv.Quote(string(r))
}
