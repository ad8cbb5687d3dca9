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
// metadata). Successive events of a stream differ in those alone, so the next one is compared, and not
// parsed. It fits if it is equal byte for byte outside the slots, and has in each slot one JSON string that
// is valid as it is. Then it is valid JSON of the same shape, and decodes to the same event with other
// strings in those places. Whatever differs in another way (a state, the end, an
// escape that must be repaired) does not fit, and is decoded in full.
//
// Only statuses and artifacts with one part of text or data, or none, are made templates.
type template struct {
	raw   string // a copy: events that fit share what they have outside the slots
	slots []slot
	event a2a.Event
	part  a2a.Part // its kind is unknown if there is none
	// views are the strings of event and part that contain a slot.
	views []view
	text  int    // the index of the slot that is the text; -1 if there is none
	after string // what stands behind the last slot
	// next fitted the event that came behind the last one that fitted this template, nil if none
	// has: an agent says of each call the same in turn.
	next *template
}

// A fit says that an event fits a template, and where the slots are in it. The zero value: none fits.
type fit struct {
	template  *template
	firstSpan int // the index of the first slot's span, in the list that fits has appended them to
	end       int // of the event
	// escaped and plain are the text's: see scanned.
	escaped, plain bool
}

// A span is where a value stands in a frame: of a string from its opening quote to behind its closing one.
type span struct{ start, end int }

// A slot is a string, or a natural number, that may differ. Its span is the one in the template.
type slot struct {
	span
	// plain: the decoder looks into it, so that it must be without escapes.
	plain bool
	// before is what stands between it and the slot before. same is that with the slot, for
	// strings that mostly are what they were, and need not be scanned; "" for others.
	before, same string
}

// A position is a place in any frame that fits: offset bytes behind the end of so many slots.
type position struct{ slots, offset int }

// A view is a string field of the event, or of the part: its offset in that struct, and the
// positions in the frame that it is a view of.
type view struct {
	inPart   bool
	field    uintptr
	from, to position
}

// newTemplate makes a template of an event, which was decoded from data; nil for an event of
// which none is made. large knows which values of data are large and repeat.
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

// fewParts returns the parts of an event that may become a template; false if something else in
// the event is of a kind that differs from one to the next. It does not count them.
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

// spanIn returns where s stands in data; false if s is empty, or no view of data.
func spanIn(data []byte, s string) (span, bool) {
	start := int(uintptr(unsafe.Pointer(unsafe.StringData(s))) - uintptr(unsafe.Pointer(unsafe.SliceData(data))))
	return span{start, start + len(s)}, s != "" && start >= 0 && start+len(s) <= len(data)
}

// addSlots makes slots of what may differ: the text, times, IDs, and the scalars of data and
// metadata; and sets t.text. What is large and stood in the event before gets no slot: each event
// repeats it.
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
		t.text = slices.IndexFunc(t.slots, func(h slot) bool { return h.span == text })
	}
}

// addSlot makes a slot of a view, together with so many quotes on each side, in the order of data. What
// gets none (an ID with escapes, one too many) must stay the same.
func (t *template) addSlot(data []byte, s string, quotes int) {
	h, in := spanIn(data, s)
	h = span{h.start - quotes, h.end + quotes}
	if !in || h.start < 0 || h.end > len(data) || quotes > 0 && data[h.start] != '"' || len(t.slots) == maxSlots {
		return
	}
	at := slices.IndexFunc(t.slots, func(other slot) bool { return other.start > h.start })
	if at < 0 {
		at = len(t.slots)
	}
	t.slots = slices.Insert(t.slots, at, slot{span: h, plain: quotes > 0})
}

// addViews sets t.views: the strings of the event that are views of a stretch with slots. It has
// the others point to memory that stays.
func (t *template) addViews(data []byte) {
	each := func(inPart bool, base unsafe.Pointer, fields ...*string) {
		for _, f := range fields {
			offset := uintptr(unsafe.Pointer(f)) - uintptr(base)
			if h, in := spanIn(data, *f); in {
				from, to := t.positionOf(h.start, false), t.positionOf(h.end, true)
				if from.slots != to.slots {
					t.views = append(t.views, view{inPart, offset, from, to})
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

// positionOf returns the position of an index in the template; isEnd: something ends there. What
// ends within a slot, before its closing quote, ends as far from the slot's end in every frame.
func (t *template) positionOf(at int, isEnd bool) position {
	p := position{0, at}
	for n, h := range t.slots {
		if h.end <= at || isEnd && h.start < at {
			p = position{n + 1, at - h.end}
		}
	}
	return p
}

// fits compares the beginning of data with the template. If it fits, the spans of its slots are
// appended; if not, the fit is zero, and what was appended to the spans is to be dropped.
func (t *template) fits(data []byte, spans []span) (fit, []span) {
	whole := rawjson.View(data)
	f := fit{template: t, firstSpan: len(spans)}
	for i := range t.slots {
		h := &t.slots[i]
		rest := whole[f.end:]
		if h.same != "" && strings.HasPrefix(rest, h.same) {
			spans = append(spans, span{f.end + len(h.before), f.end + len(h.same)})
			f.end += len(h.same)
			continue
		}
		if !strings.HasPrefix(rest, h.before) {
			return fit{}, spans
		}
		at := f.end + len(h.before)
		var s scanned
		if h.same != "" || i == t.text {
			s = scanString(whole, at, h.end-h.start > shortText)
		} else {
			s.end = scanNatural(whole, at)
		}
		if s.end == 0 {
			return fit{}, spans
		}
		if i == t.text {
			if f.escaped, f.plain = s.escaped, s.plain; s.end == at+2 {
				return fit{}, spans
			}
		} else if s.escaped && h.plain {
			return fit{}, spans // it would have to be decoded
		}
		spans = append(spans, span{at, s.end})
		f.end = s.end
	}
	if !strings.HasPrefix(whole[f.end:], t.after) {
		return fit{}, spans
	}
	f.end += len(t.after)
	return f, spans
}

// decode makes the event of data, which fits, with its slots in spans. It writes ev, and part, which
// must live as long as the event. It returns buf with the text appended, if that had to be unescaped.
func (t *template) decode(data []byte, f *fit, spans []span, ev *a2a.Event, part *a2a.Part, buf []byte) []byte {
	*ev, *part = t.event, t.part
	whole := rawjson.View(data)
	spans = spans[f.firstSpan:]
	for i := range t.views {
		v := &t.views[i]
		target := unsafe.Pointer(ev)
		if v.inPart {
			target = unsafe.Pointer(part)
		}
		*(*string)(unsafe.Add(target, v.field)) = whole[v.from.in(spans):v.to.in(spans)]
	}
	if t.part.Kind == a2a.PartUnknown {
		return buf
	}
	if ev.Kind == a2a.EventArtifact {
		ev.Artifact.Parts.FastPath().Only = part
	} else {
		ev.Message.Parts.FastPath().Only = part
	}
	if t.text < 0 {
		return buf
	}
	text := spans[t.text]
	part.Text, part.FastPath().Plain = whole[text.start+1:text.end-1], f.plain
	if f.escaped {
		from := len(buf)
		buf = rawjson.AppendUnescaped(buf, part.Text)
		part.Text = rawjson.View(buf[from:])
	}
	return buf
}

// in returns the index of a position in a frame whose slots are in spans.
func (p position) in(spans []span) int {
	if p.slots == 0 {
		return p.offset
	}
	return spans[p.slots-1].end + p.offset
}

// eachScalar calls f with each string and each natural number that is a value in raw, as it is
// written, down to depth. What is large and was in the event before it skips.
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
