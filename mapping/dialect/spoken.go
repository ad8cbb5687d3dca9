package dialect

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Spoken is which dialects an agent is known to speak, and what it says in them. That holds
// for the rest of a conversation, because a task's history has lost the events' metadata.
// Nothing is read by its shape alone. The zero value is an agent of which nothing is known.
type Spoken struct {
	// Meta is what the metadata of the event in hand says.
	Meta Meta
	// Learned, if set, is told each dialect once: its name, its place in the list of all (see
	// [calls.ToolCall.Dialect]), and its traits.
	Learned func(name string, place uint8, r calls.Reader, t Traits)

	set set
	// known is the newest metadata, in any order: calls and the states between them have
	// their own. latest is the index of what was read last.
	known  [8]knownMeta
	latest int
	// splitter is the first spoken dialect that splits messages, nil if none does, with its place.
	splitter      splitter
	splitterPlace uint8
	searched      int    // in how many events a dialect was looked for
	room          []byte // of what Others writes
}

// A set is a set of dialects, by their places: see [placeOf].
type set uint32

func (s set) has(place uint8) bool { return s&(1<<place) != 0 }

// Any reports whether the agent is known to speak a dialect.
func (s *Spoken) Any() bool { return s.set != 0 }

// Plain reports whether the event in hand is to be read by A2A's rules alone.
func (s *Spoken) Plain() bool { return s.set == 0 || s.Meta.other }

// Speak notes that the agent speaks the dialect of that name, if there is one.
func (s *Spoken) Speak(name string) {
	if place := placeOf(name); place > 0 {
		s.learn(place)
	}
}

// learn notes that the agent speaks the dialect at a place.
func (s *Spoken) learn(place uint8) {
	if s.set.has(place) {
		return
	}
	d := dialectAt(place)
	s.set |= 1 << place
	clear(s.known[:]) // what others say in it depends on that
	if by, ok := d.(splitter); ok && s.splitter == nil {
		s.splitter, s.splitterPlace = by, place
	}
	if s.Learned != nil {
		s.Learned(d.about().name, place, d, d.about().traits)
	}
}

// Read reads the metadata of an event, and notes which dialect it shows the agent to speak.
func (s *Spoken) Read(ev *a2a.Event) {
	s.readMeta(ev.Metadata)
	s.findSplitter(ev)
}

// maxSearched is in how many events a second dialect is looked for: agents of Google's ADK may
// declare the extension for tools, too.
const maxSearched = 64

// findSplitter notes which dialect that splits messages an event is of, if any, until there is one.
func (s *Spoken) findSplitter(ev *a2a.Event) {
	if s.splitter != nil || s.set != 0 && s.searched > maxSearched {
		return
	}
	s.searched++
	for i, d := range dialects() {
		if by, ok := d.(splitter); ok && by.recognizes(ev) {
			s.learn(uint8(i + 1))
			return
		}
	}
}

// Splits reports whether a dialect that is spoken splits messages.
func (s *Spoken) Splits() bool { return s.splitter != nil }

// MaySplit reports whether a text may be something else in that dialect, also where texts of its shape were text.
func (s *Spoken) MaySplit(text string) bool { return s.splitter != nil && maySplit(text) }

// ByUser reports whether a message is the user's: it has his role, and is not the agent's by its dialect.
func (s *Spoken) ByUser(m *a2a.Message) bool {
	return m.Role == a2a.RoleUser && (s.splitter == nil || !s.splitter.ofUser(m))
}

// AsksAgain: see [Traits].
func (s *Spoken) AsksAgain() bool { return s.splitter != nil && s.splitter.about().traits.AsksAgain }

// Split splits a message, or an artifact, one of which is nil, into pieces; nil if it is to be read
// by A2A's rules.
func (s *Spoken) Split(m *a2a.Message, a *a2a.Artifact, at *Carrier) *Pieces {
	by := s.splitter
	if by == nil {
		return nil
	}
	to := &Pieces{}
	if m != nil && !by.message(m, at, to) || m == nil && !by.artifact(a, at, to) {
		return nil
	}
	for i := range to.List {
		switch p := &to.List[i]; p.Kind {
		case PieceInput:
			p.Input.dialect = s.splitterPlace
		case PieceCall:
			p.Call.Dialect, p.Call.Differences = s.splitterPlace, by.about().traits.Differences
			if p.Call.ID == "" {
				p.Call.ID = "call-" + p.Call.Name // events of two such calls cannot be told apart
			}
		}
	}
	return to
}

// readMeta sets Meta to what the first dialect that can read an event's metadata finds in it.
func (s *Spoken) readMeta(raw a2a.JSON) {
	s.Meta = Meta{}
	if raw == "" {
		return
	}
	same := false
	for i := range s.known {
		if same = s.known[i].matches(raw); same {
			s.latest = i
			break
		}
	}
	if !same {
		s.latest = (s.latest + 1) % len(s.known)
		s.known[s.latest].remember(raw)
	}
	known := &s.known[s.latest]
	if same && known.read {
		s.Meta = known.meta
		return
	}
	if same { // what is read now is kept
		raw = a2a.JSON(strings.Clone(string(raw)))
	}
	for i, d := range dialects() {
		place, about := uint8(i+1), d.about()
		if !strings.Contains(string(raw), about.sign) {
			continue
		}
		if about.traits.AnsweredElsewhere && !s.set.has(place) {
			continue // others may take an answer to such a question, but its task would be cancelled
		}
		if d.readMeta(raw, &s.Meta) {
			s.Meta.Said = true
			s.learn(place)
			if q := s.Meta.Call; q != nil {
				q.Dialect, q.Differences = place, about.traits.Differences
			}
			break
		}
		s.Meta = Meta{other: s.Meta.other}
	}
	s.Meta.Others = s.Others(raw)
	s.Meta.Extended = strings.Contains(string(s.Meta.Others), "://") || strings.Contains(string(s.Meta.Others), `"urn:`)
	if same && len(known.raw) > 0 { // else a dialect was learned
		known.meta, known.read = s.Meta, true
	}
}

// Repeats reports whether metadata says what was read last, which is in [Spoken.Known], and has
// neither an error nor a number of tokens.
func (s *Spoken) Repeats(raw a2a.JSON) bool {
	known := &s.known[s.latest]
	return known.read && known.meta.Err == "" && known.meta.Usage == "" && known.matches(raw)
}

// Known is what the metadata said that was read last.
func (s *Spoken) Known() *Meta { return &s.known[s.latest].meta }

// Others returns what of an object of metadata is under keys that no dialect reads,
// other extensions' for one; "" if nothing is. Where a dialect is spoken those are keys
// that are URIs: the agent has keys of its own beside (Gemini: model, traceId).
func (s *Spoken) Others(raw a2a.JSON) a2a.JSON {
	if len(raw) <= len("{}") {
		return ""
	}
	rest := s.room[:0]
	own := s.Any()
	rawjson.EachMember(string(raw), func(key, value string) bool {
		if s.Any() && !a2a.IsExtensionKey(key) {
			return true
		}
		reads := func(d dialect) bool { return strings.Contains(key, d.about().sign) && !ofOtherVersion(key) }
		if slices.ContainsFunc(dialects(), reads) {
			own = true
			return true
		}
		rest = rawjson.AppendMember(rest, key, value)
		return true
	})
	if s.room = rest; cap(rest) > maxKnownMeta {
		s.room = nil
	}
	switch {
	case len(rest) == 0:
		return ""
	case !own:
		return raw
	}
	return a2a.JSON(rawjson.EndObject(rest))
}

// Thinks reports whether the event in hand says that it is a thought.
func (s *Spoken) Thinks() bool { return s.Meta.kind == kindThought }

// Thought reads a part of the event in hand as a thought; false if it is none. Both dialects
// that have data for thoughts spell them alike, so an event's kind decides, or, in a snapshot,
// that there is nothing else in it.
func (s *Spoken) Thought(part *a2a.Part) (subject, description string, ok bool) {
	kind := s.Meta.kind
	if kind != kindThought && kind != kindUnsaid || !s.Any() || part.Kind != a2a.PartData {
		return "", "", false
	}
	t := &s.Meta.thought
	if t.data != string(part.Data) {
		*t = readThought(string(part.Data))
	}
	if kind == kindUnsaid && (t.members != 2 || t.subject == "" && t.description == "") {
		return "", "", false
	}
	return t.subject, t.description, t.ok
}

// A thought is data that was read as one: it is asked for twice.
type thought struct {
	data                 string
	subject, description string
	ok                   bool // it has one of them
	members              int
}

// readThought reads data as a thought: of members of one name the last string.
func readThought(data string) (t thought) {
	t.data = data
	rawjson.EachMember(data, func(key, value string) bool {
		t.members++
		switch {
		case !rawjson.IsString(value):
		case key == "subject":
			t.subject, t.ok = rawjson.Text(value), true
		case key == "description":
			t.description, t.ok = rawjson.Text(value), true
		}
		return true
	})
	return t
}

// ThoughtWords are the subject and the description in the data of a thought, as [Spoken.Thought] reads them; "" for
// what it has not.
func ThoughtWords(data string) (subject, description string) {
	t := readThought(data)
	return t.subject, t.description
}

// A knownMeta is metadata that was read: in a run of text it is mostly the same as in
// the event before, and comparing costs less than reading.
type knownMeta struct {
	raw []byte // empty if it was too long
	// traceID is where in raw an ignored value begins that differs in each event
	// (Gemini's traceId), 0 if there is none.
	traceID int
	// meta is what raw says, if read. It was read from a copy, so it stays.
	meta Meta
	read bool
}

const traceMember = `"traceId":"`

// matches reports whether metadata says what the known one said, but for the trace ID.
func (k *knownMeta) matches(raw a2a.JSON) bool {
	if k.traceID == 0 || k.meta.Usage != "" || k.meta.Err != "" { // these may hold what looks like one
		return string(k.raw) == string(raw)
	}
	if len(raw) < k.traceID || string(raw[:k.traceID]) != string(k.raw[:k.traceID]) {
		return false
	}
	one, other := string(raw[k.traceID:]), k.raw[k.traceID:]
	// No quote that is escaped ends a value, but what follows it is compared.
	i, j := strings.IndexByte(one, '"'), strings.IndexByte(string(other), '"')
	return i >= 0 && j >= 0 && one[i:] == string(other[j:])
}

// maxKnownMeta is the longest metadata that is kept: longer is hardly ever the same.
const maxKnownMeta = 4 << 10

// remember makes it metadata that was not read yet.
func (k *knownMeta) remember(raw a2a.JSON) {
	if len(raw) > maxKnownMeta {
		*k = knownMeta{}
		return
	}
	*k = knownMeta{raw: append(k.raw[:0], raw...)}
	if i := strings.Index(string(raw), traceMember); i >= 0 {
		k.traceID = i + len(traceMember)
	}
}
