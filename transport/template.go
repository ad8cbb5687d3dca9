package transport

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxTemplate is the longest event that is kept as a template: events of text and of most
	// tool calls are shorter, and copying longer ones pays only if they repeat.
	maxTemplate = 8 << 10
	// maxSlots is how many strings may differ from one event to the next.
	maxSlots = 32
	// opaqueDepth is how deep data and metadata are looked into for strings that may differ: a
	// tool's output is six deep in Gemini's data.
	opaqueDepth = 8
)

// A template is an event that has been decoded, with slots: the strings in it
// that the decoder only passes on (a text, times, IDs of messages and artifacts, what is in data and in
// metadata). Successive events of a stream are the same bytes but for those, so
// the next one is compared, and not parsed: outside the slots it is equal byte
// for byte, and in each slot there is one JSON string that is valid as it is. So
// it is valid JSON of the same shape, and decodes to the same event with other
// strings in those places. Whatever differs in another way (a state, the end, an
// escape that must be repaired) does not fit, and is decoded in full.
//
// Only statuses and artifacts with one part of text or data, or none, are made templates.
type template struct {
	raw   string // a copy: events that fit share what they have outside the slots
	slots []hole
	event a2a.Event
	part  a2a.Part // its kind is unknown if there is none
	// views are the strings of event and part that a slot is in.
	views []viewSpan
	text  int    // the slot that is the text; -1 if there is none
	after string // what stands behind the last slot
	// next is what came behind the last event that fitted: an agent says of each call the same in turn.
	next *template
}

// A fit is where the slots of a template are in an event that fits it.
type fit struct {
	template *template
	slots    int // the first of them, in the list that they were appended to
	end      int // of the event
	// escaped and plain are the text's: see scanned.
	escaped, plain bool
}

// A slot is a string, from its opening quote to behind its closing one, or a
// natural number.
type slot struct{ start, end int }

// A hole is a slot of a template.
type hole struct {
	slot
	// plain: the decoder looks into it, so that it must be without escapes.
	plain bool
	// before is what stands between it and the slot before. same is that with the slot, for
	// strings that mostly are what they were, and need not be scanned; "" for others.
	before, same string
}

// A position is one in the frame: after a number of slots, this far.
type position struct{ slots, offset int }

// A viewSpan is a string of the event or the part: at this offset in it, from one
// place to the other.
type viewSpan struct {
	inPart   bool
	at       uintptr
	from, to position
}

// newTemplate makes a template of an event, which was decoded from data; nil if
// it is not worth it. large is what is known of data.
func newTemplate(data []byte, ev *a2a.Event, large *fastpath.Large) *template {
	parts, ok := fewParts(data, ev)
	if !ok {
		return nil
	}
	t := &template{event: *ev, text: -1}
	if rest := parts; parts.Raw != "" {
		if !rest.Next(&t.part) || t.part.Kind != a2a.PartData && (t.part.Kind != a2a.PartText || t.part.TextJSON == `""`) || rest.Next(new(a2a.Part)) {
			return nil
		}
	}
	if t.part.Kind == a2a.PartText {
		t.event.FastPath().Shape = new(fastpath.Shape)
	}
	t.raw = string(data)
	t.addSlots(data, large)
	t.addViews(data)
	from := 0
	for i := range t.slots {
		h := &t.slots[i]
		if h.before = t.raw[from:h.start]; t.raw[h.start] == '"' && i != t.text {
			h.same = t.raw[from:h.end]
		}
		from = h.end
	}
	t.after = t.raw[from:]
	return t
}

// fewParts returns the parts of an event that may become a template: nothing in the event
// but them is of a kind that differs from one to the next.
func fewParts(data []byte, ev *a2a.Event) (parts a2a.Parts, ok bool) {
	// Several lines of data are not one in the stream.
	if len(data) > maxTemplate || ev.EndsLeg || ev.Message.ReferenceTaskIDs != "" || ev.Message.Extensions != "" || ev.Artifact.Extensions != "" ||
		bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		return parts, false
	}
	switch ev.Kind {
	case a2a.EventStatus:
		parts = ev.Message.Parts
		return parts, len(parts.FastPath().List) == 0
	case a2a.EventArtifact:
		return ev.Artifact.Parts, true
	}
	return parts, false
}

// spanIn returns where in data s, a view of it, is, and whether it is.
func spanIn(data []byte, s string) (slot, bool) {
	start := int(uintptr(unsafe.Pointer(unsafe.StringData(s))) - uintptr(unsafe.Pointer(unsafe.SliceData(data))))
	return slot{start, start + len(s)}, s != "" && start >= 0 && start+len(s) <= len(data)
}

// addSlots makes slots of what may differ: the text, times, IDs, and the
// scalars of data and metadata. What is large and stood in the event before is taken for what
// each event repeats.
func (t *template) addSlots(data []byte, large *fastpath.Large) {
	ev := &t.event
	t.addSlot(data, string(t.part.TextJSON), 0)
	t.addSlot(data, ev.Timestamp, 1)
	t.addSlot(data, ev.Message.ID, 1)
	t.addSlot(data, ev.Artifact.ID, 1)
	for _, m := range []a2a.JSON{ev.Metadata, ev.Message.Metadata, ev.Artifact.Metadata, t.part.Metadata, t.part.Data} {
		if !strings.Contains(string(m), compatMarker) {
			eachScalar(string(m), opaqueDepth, large, func(s string) { t.addSlot(data, s, 0) })
		}
	}
	if text, in := spanIn(data, string(t.part.TextJSON)); in {
		t.text = slices.IndexFunc(t.slots, func(h hole) bool { return h.slot == text })
	}
}

// addSlot makes a slot of a view and of the quotes around it. What gets none (an ID
// with escapes, one too many) must stay the same.
func (t *template) addSlot(data []byte, s string, quotes int) {
	h, in := spanIn(data, s)
	h = slot{h.start - quotes, h.end + quotes}
	if !in || h.start < 0 || h.end > len(data) || quotes > 0 && data[h.start] != '"' || len(t.slots) == maxSlots {
		return
	}
	at := slices.IndexFunc(t.slots, func(other hole) bool { return other.start > h.start })
	if at < 0 {
		at = len(t.slots)
	}
	t.slots = slices.Insert(t.slots, at, hole{slot: h, plain: quotes > 0})
}

// addViews notes the strings of the event that are views of a part with slots, and has
// the others point to memory that stays.
func (t *template) addViews(data []byte) {
	each := func(inPart bool, base unsafe.Pointer, fields ...*string) {
		for _, f := range fields {
			at := uintptr(unsafe.Pointer(f)) - uintptr(base)
			if h, in := spanIn(data, *f); in {
				from, to := t.positionOf(h.start, false), t.positionOf(h.end, true)
				if from.slots != to.slots {
					t.views = append(t.views, viewSpan{inPart, at, from, to})
				} else {
					*f = t.raw[h.start:h.end]
				}
			} else if *f != "" {
				*f = strings.Clone(*f)
			}
		}
	}
	e, p := &t.event, &t.part
	each(false, unsafe.Pointer(e), &e.TaskID, &e.ContextID, (*string)(&e.State), &e.Timestamp,
		(*string)(&e.Metadata), (*string)(&e.Raw),
		&e.Message.ID, (*string)(&e.Message.Role), &e.Message.TaskID, &e.Message.ContextID, (*string)(&e.Message.Parts.Raw), (*string)(&e.Message.Metadata),
		&e.Artifact.ID, &e.Artifact.Name, &e.Artifact.Description, (*string)(&e.Artifact.Parts.Raw), (*string)(&e.Artifact.Metadata))
	p.Text = "" // set from its slot
	each(true, unsafe.Pointer(p), (*string)(&p.TextJSON), (*string)(&p.Data), (*string)(&p.Metadata), (*string)(&p.Raw))
}

// positionOf says where a position is relative to the slots. What ends within a slot, before its
// closing quote, ends as far from the slot's end in every frame.
func (t *template) positionOf(at int, isEnd bool) position {
	p := position{0, at}
	for n, h := range t.slots {
		if h.end <= at || isEnd && h.start < at {
			p = position{n + 1, at - h.end}
		}
	}
	return p
}

// fits compares the beginning of data with the template, and appends to slots
// where they are in it.
func (t *template) fits(data []byte, slots []slot) (fit, []slot) {
	whole := rawjson.View(data)
	f := fit{template: t, slots: len(slots)}
	for i := range t.slots {
		h := &t.slots[i]
		rest := whole[f.end:]
		if h.same != "" && strings.HasPrefix(rest, h.same) {
			slots = append(slots, slot{f.end + len(h.before), f.end + len(h.same)})
			f.end += len(h.same)
			continue
		}
		if !strings.HasPrefix(rest, h.before) {
			return fit{}, slots
		}
		at := f.end + len(h.before)
		var s scanned
		if h.same != "" || i == t.text {
			s = scanString(whole, at, h.end-h.start > shortText)
		} else {
			s.end = scanNatural(whole, at)
		}
		if s.end == 0 {
			return fit{}, slots
		}
		if i == t.text {
			if f.escaped, f.plain = s.escaped, s.plain; s.end == at+2 {
				return fit{}, slots
			}
		} else if s.escaped && h.plain {
			return fit{}, slots // it would have to be decoded
		}
		slots = append(slots, slot{at, s.end})
		f.end = s.end
	}
	if !strings.HasPrefix(whole[f.end:], t.after) {
		return fit{}, slots
	}
	f.end += len(t.after)
	return f, slots
}

// decode makes the event of data, which fits with its slots where found says. The
// part is the caller's to keep as long as the event; text is the buffer for what
// has to be unescaped.
func (t *template) decode(data []byte, f *fit, found []slot, ev *a2a.Event, part *a2a.Part, text []byte) []byte {
	*ev, *part = t.event, t.part
	whole := rawjson.View(data)
	found = found[f.slots:]
	for i := range t.views {
		v := &t.views[i]
		target := unsafe.Pointer(ev)
		if v.inPart {
			target = unsafe.Pointer(part)
		}
		*(*string)(unsafe.Add(target, v.at)) = whole[v.from.in(found):v.to.in(found)]
	}
	if t.part.Kind == a2a.PartUnknown {
		return text
	}
	if ev.Kind == a2a.EventArtifact {
		ev.Artifact.Parts.FastPath().Only = part
	} else {
		ev.Message.Parts.FastPath().Only = part
	}
	if t.text < 0 {
		return text
	}
	h := found[t.text]
	part.Text, part.FastPath().Plain = whole[h.start+1:h.end-1], f.plain
	if f.escaped {
		from := len(text)
		text = rawjson.AppendUnescaped(text, part.Text)
		part.Text = rawjson.View(text[from:])
	}
	return text
}

// in returns the index of a position in data that has its slots there.
func (p position) in(found []slot) int {
	if p.slots == 0 {
		return p.offset
	}
	return found[p.slots-1].end + p.offset
}

// eachScalar calls f with each string and each natural number that is a value in
// raw, as it is written, but not in what is large and was in the event before.
func eachScalar(raw string, depth int, large *fastpath.Large, f func(string)) {
	switch {
	case raw == "" || depth == 0 || large.Repeats(raw):
	case raw[0] == '"' || scanNatural(raw, 0) == len(raw):
		f(raw)
	case raw[0] == '{':
		rawjson.EachMember(raw, func(_, value string) bool { eachScalar(value, depth-1, large, f); return true })
	case raw[0] == '[':
		rawjson.EachElement(raw, func(value string) bool { eachScalar(value, depth-1, large, f); return true })
	}
}
