package check

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// maxWords is how much text of a turn is held to be compared: of more, nothing is.
	maxWords = 8 << 20
	// maxTurns is how many turns may be open.
	maxTurns = 100
	// maxUnits is how many messages and artifacts of a turn are compared.
	maxUnits = 2000
	// longText is how many characters make a text that is not said twice by chance.
	longText = 24
)

// tooMuch is why a turn is not compared.
const tooMuch = "more text than is compared"

// words compares what the agent says with what the editor gets: each text that an
// agent leaves behind must be there, and not more often than it was said. What one
// turn says is compared where one turn runs at a time: of several, nothing tells
// which event belongs to which.
type words struct {
	c     *Checker
	off   bool
	turns map[string]*turn
	// past has what the artifacts of tasks held at the end of earlier turns.
	past map[string]map[string]string
	held int // in it
}

// A turn is what was said between a prompt and its reply.
type turn struct {
	first  int64
	void   string // why it is not compared
	broken bool   // a connection was lost: what was said may have been said again
	size   int
	tasks  map[string]bool // that it has heard of

	// Of the agent: its messages and artifacts, in their order, and all that it has
	// said, without white space.
	units  []*unit
	byName map[string]*unit
	all    strings.Builder
	// Of the editor: what was said as text, by message, and as anything else.
	streams []*stream
	byKey   map[string]*stream
	other   strings.Builder
}

// A unit is a message or an artifact.
type unit struct {
	name       string
	task, base string // base was there before the turn
	text       string
	pieces     []string
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

// cut is called where a payload is not all there.
func (w *words) cut() {
	for _, t := range w.turns {
		t.void = "a payload that is too long for the trace"
	}
}

// broken is called where a stream was cut.
func (w *words) broken() {
	for _, t := range w.turns {
		t.broken = true
	}
}

// grow counts what is held for a turn.
func (t *turn) grow(s string) bool {
	if t.size += len(s); t.size > maxWords {
		*t = turn{first: t.first, void: tooMuch}
	}
	return t.void == ""
}

// said is what the editor was told as text.
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

// rest is what it was told otherwise, as JSON: a call's output, a title, an error.
func (w *words) rest(key, raw string) {
	t := w.turns[key]
	if t == nil || !t.grow(raw) {
		return
	}
	strs(gjson.Parse(raw), func(s string) { t.other.WriteString(solid(s) + "\n") }, 0)
}

// strs calls yield with the strings of a document.
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

// solid is a text without its white space: a bridge may set paragraphs apart.
func solid(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// event is what the agent says. goesOn: it answers a request about a task that is
// there, which may hold what was said before the turn; that need not be said again.
func (w *words) event(e *event, goesOn bool) {
	for _, t := range w.turns {
		old := goesOn && !t.tasks[e.task]
		t.tasks[e.task] = true
		switch e.kind {
		case kindArtifact:
			a := e.body.Get("artifact")
			t.artifact(e.task, a, e.body.Get("append").Bool())
		case kindStatus:
			t.message(e.body.Get("status.message"))
		case kindMessage:
			t.message(e.body)
		case kindTask:
			if !old {
				t.message(e.body.Get("status.message"))
			}
			e.body.Get("artifacts").ForEach(func(_, a gjson.Result) bool {
				if old {
					t.unit(artifactName(a)).base = w.before(e.task, a)
				}
				t.artifact(e.task, a, false)
				return true
			})
		}
	}
}

// unit is the message or artifact of a name. There is one also where there are too
// many: it is not compared.
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

// before is what an artifact held before the turn: all that it holds, if its task is
// older than the trace.
func (w *words) before(task string, a gjson.Result) string {
	if known, ok := w.past[task]; ok {
		return known[artifactName(a)]
	}
	return textOf(a.Get("parts"))
}

// keep notes what a turn's artifacts hold at its end.
func (w *words) keep(t *turn) {
	if w.past == nil || w.held > maxWords {
		w.past, w.held = map[string]map[string]string{}, 0
	}
	for task := range t.tasks {
		if w.past[task] == nil && len(w.past) < maxUnits {
			w.past[task] = map[string]string{}
		}
	}
	for _, u := range t.units {
		if known := w.past[u.task]; known != nil && u.task != "" && len(known) < maxUnits {
			known[u.name] = u.base + u.text
			w.held += len(u.base) + len(u.text)
		}
	}
}

func artifactName(a gjson.Result) string {
	return "artifact " + strconv.Quote(a.Get("artifactId").Str)
}

// artifact is one that is begun, goes on, or is replaced.
func (t *turn) artifact(task string, a gjson.Result, goesOn bool) {
	text := textOf(a.Get("parts"))
	if !t.grow(text) {
		return
	}
	t.all.WriteString(solid(text) + "\n")
	u := t.unit(artifactName(a))
	u.task = task
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

// message is one of the agent's, or a piece of one.
func (t *turn) message(m gjson.Result) {
	text := textOf(m.Get("parts"))
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

// end compares, at the reply to a prompt. complete: the turn has run to its end.
func (w *words) end(key string, n int64, who string, complete bool) {
	t := w.turns[key]
	delete(w.turns, key)
	if t == nil {
		return
	}
	w.keep(t)
	switch {
	case t.void != "":
		w.c.note("what was said is not compared in turns with %s", t.void)
		return
	}
	var told strings.Builder
	for _, s := range t.streams {
		told.WriteString(s.text.String() + "\n")
	}
	got, other := told.String(), t.other.String()
	from := 0 // texts mostly come in the order in which they were said
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
		if at >= 0 || !complete || strings.Contains(other, want) {
			continue
		}
		if at, lost := t.lost(u, got, other); lost {
			w.c.find(n, who, RuleWords, u.name, "what the editor got in the turn that begins with record %d is not what the agent said from %s on, which is character %d of %d",
				t.first, excerpt(u.text, at), at+1, utf8.RuneCountInString(u.text))
		}
	}
}

// twice reports a text that the editor got more often than the agent has said it.
func (t *turn) twice(c *Checker, u *unit, want, got string, n int64, who string) {
	times := strings.Count(got, want)
	if times > 1 && times > strings.Count(t.all.String(), want) {
		c.find(n, who, RuleWords, u.name, "the editor got %s %d times, in the turn that begins with record %d", excerpt(u.text, 0), times, t.first)
	}
}

// lost reports where a text that is not there in one piece goes wrong. Where texts
// mix, or where a connection was lost, or a bridge has said something in between, its
// pieces may be apart; those of a tool
// call's output may, as some agents repeat what came before.
func (t *turn) lost(u *unit, got, other string) (at int, lost bool) {
	if !slices.ContainsFunc(u.pieces, func(p string) bool { return !strings.Contains(other, solid(p)) }) {
		return 0, false
	}
	if len(t.units) > 1 || len(t.streams) > 1 || t.broken {
		rest, found := strings.ReplaceAll(got, "\n", ""), true
		for _, p := range u.pieces {
			p = solid(p)
			i := strings.Index(rest, p)
			if found = i >= 0 || strings.Contains(other, p); !found {
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
	low, high := 0, len(want) // the longest beginning that is there
	for low < high {
		if mid := (low + high + 1) / 2; strings.Contains(got, solid(string(want[:mid]))) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return min(low, len(want)-1), true
}

// excerpt is some of a text, from a character on.
func excerpt(s string, from int) string {
	r := []rune(s)[from:]
	if len(r) > maxQuoted {
		return strconv.Quote(string(r[:maxQuoted]) + "…")
	}
	return strconv.Quote(string(r))
}
