package transport

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxTemplate is the longest event that is kept as a template: events of
	// text are far shorter, and copying longer ones pays only if they repeat.
	maxTemplate = 4 << 10
	// maxHoles is how many strings may differ from one event to the next.
	maxHoles = 16
	// opaqueDepth is how deep metadata is looked into for strings that may differ.
	opaqueDepth = 4
)

// A template is an event that has been decoded, with holes: the strings in it
// that the decoder only passes on (a text, times, IDs of messages, what is in
// metadata). Successive events of a stream are the same bytes but for those, so
// the next one is compared, and not parsed: outside the holes it is equal byte
// for byte, and in each hole there is one JSON string that is valid as it is. So
// it is valid JSON of the same shape, and decodes to the same event with other
// strings in those places. Whatever differs in another way (a state, the end, an
// escape that must be repaired) does not fit, and is decoded in full.
//
// Only events with one part of text are made templates: there are thousands of
// them, and tool calls between them leave the template as it is.
type template struct {
	raw   []byte // a copy: events that fit share what they have outside the holes
	holes []hole
	event a2a.Event
	part  a2a.Part
	// views are the strings of event and part that a hole is in.
	views []viewSpan
	text  int // the hole that is the text
}

// A fit is where the holes of a template are in an event that fits it.
type fit struct {
	like  *template
	holes int // the first of them, in the list that they were appended to
	end   int // of the event
	// escaped and plain are the text's: see scanned.
	escaped, plain bool
}

// A hole is a string, from its opening quote to behind its closing one, or a
// natural number.
type hole struct{ start, end int }

// A place is a position in the frame: after a number of holes, this far.
type place struct{ holes, past int }

// A viewSpan is a string of the event or the part: at this offset in it, from one
// place to the other.
type viewSpan struct {
	inPart   bool
	at       uintptr
	from, to place
}

// newTemplate makes a template of an event, which was decoded from data; nil if
// it is not worth it.
func newTemplate(data []byte, ev *a2a.Event) *template {
	parts := ev.Artifact.Parts
	switch {
	case len(data) > maxTemplate || ev.EndsLeg:
		return nil
	case ev.Kind == a2a.EventStatus && ev.HasMessage:
		parts = ev.Message.Parts
	case ev.Kind != a2a.EventArtifact:
		return nil
	}
	if !beginsWithText(parts.Raw) || bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		return nil // several lines of data are not one in the stream
	}
	t := &template{event: *ev}
	t.event.Like = new(a2a.Likeness)
	if rest := parts; !rest.Next(&t.part) || t.part.Kind != a2a.PartText || t.part.TextJSON == `""` || rest.Next(new(a2a.Part)) {
		return nil
	}
	t.raw = bytes.Clone(data)
	base := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	spanOf := func(s string) (hole, bool) {
		start := int(uintptr(unsafe.Pointer(unsafe.StringData(s))) - base)
		return hole{start, start + len(s)}, s != "" && start >= 0 && start+len(s) <= len(data)
	}
	// What gets no hole (an ID with escapes, one too many) must stay the same.
	add := func(s string, quotes int) {
		h, in := spanOf(s)
		h = hole{h.start - quotes, h.end + quotes}
		if !in || h.start < 0 || h.end > len(data) || quotes > 0 && data[h.start] != '"' || len(t.holes) == maxHoles {
			return
		}
		for i, other := range t.holes {
			if other.start > h.start {
				t.holes = append(t.holes[:i], append([]hole{h}, t.holes[i:]...)...)
				return
			}
		}
		t.holes = append(t.holes, h)
	}
	add(string(t.part.TextJSON), 0)
	text, _ := spanOf(string(t.part.TextJSON))
	add(ev.Timestamp, 1)
	add(ev.Message.ID, 1)
	for _, m := range []a2a.JSON{ev.Metadata, ev.Message.Metadata, ev.Artifact.Metadata, t.part.Metadata} {
		if !strings.Contains(string(m), compatMarker) {
			eachScalar(string(m), opaqueDepth, func(s string) { add(s, 0) })
		}
	}
	for i, h := range t.holes {
		if h == text {
			t.text = i
		}
	}
	// The strings of the event: all that are not views of a part without holes.
	each := func(inPart bool, base unsafe.Pointer, fields ...*string) {
		for _, f := range fields {
			at := uintptr(unsafe.Pointer(f)) - uintptr(base)
			if h, in := spanOf(*f); in {
				from, to := t.place(h.start), t.endPlace(h.end)
				if from.holes != to.holes {
					t.views = append(t.views, viewSpan{inPart, at, from, to})
				} else {
					*f = rawjson.View(t.raw)[h.start:h.end]
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
	p.Text = "" // set from its hole
	each(true, unsafe.Pointer(p), (*string)(&p.TextJSON), (*string)(&p.Metadata), (*string)(&p.Raw))
	return t
}

// place says where a position is relative to the holes.
func (t *template) place(at int) place {
	n, past := 0, at
	for n < len(t.holes) && t.holes[n].end <= at {
		past = at - t.holes[n].end
		n++
	}
	return place{n, past}
}

// endPlace is place for the end of a string: what ends within a hole, before its
// closing quote, ends as far from the hole's end in every frame.
func (t *template) endPlace(at int) place {
	for n, h := range t.holes {
		if h.start < at && at < h.end {
			return place{n + 1, at - h.end}
		}
	}
	return t.place(at)
}

// fits compares the beginning of data with the template, and appends to holes
// where they are in it.
func (t *template) fits(data []byte, holes []hole) (fit, []hole) {
	whole := rawjson.View(data)
	at, from := 0, 0
	f := fit{like: t, holes: len(holes)}
	for i := range t.holes {
		h := &t.holes[i]
		n := h.start - from
		if len(whole) < at+n || whole[at:at+n] != string(t.raw[from:h.start]) {
			return fit{}, holes
		}
		at += n
		var s scanned
		if t.raw[h.start] == '"' {
			s = scanString(whole, at)
		} else {
			s.end = scanNatural(whole, at)
		}
		if s.end == 0 {
			return fit{}, holes
		}
		if i == t.text {
			if f.escaped, f.plain = s.escaped, s.plain; s.end == at+2 {
				return fit{}, holes
			}
		} else if s.escaped {
			return fit{}, holes // it would have to be decoded
		}
		holes = append(holes, hole{at, s.end})
		at, from = s.end, h.end
	}
	if f.end = at + len(t.raw) - from; f.end > len(whole) || whole[at:f.end] != string(t.raw[from:]) {
		return fit{}, holes
	}
	return f, holes
}

// decode makes the event of data, which fits with its holes where found says. The
// part is the caller's to keep as long as the event; text is the buffer for what
// has to be unescaped.
func (t *template) decode(data []byte, f *fit, found []hole, ev *a2a.Event, part *a2a.Part, text []byte) []byte {
	*ev, *part = t.event, t.part
	whole := rawjson.View(data)
	found = found[f.holes:]
	for i := range t.views {
		v := &t.views[i]
		target := unsafe.Pointer(ev)
		if v.inPart {
			target = unsafe.Pointer(part)
		}
		*(*string)(unsafe.Add(target, v.at)) = whole[v.from.in(found):v.to.in(found)]
	}
	h := found[t.text]
	part.Text, part.Plain = whole[h.start+1:h.end-1], f.plain
	if f.escaped {
		from := len(text)
		text = rawjson.AppendUnescaped(text, part.Text)
		part.Text = rawjson.View(text[from:])
	}
	if ev.Kind == a2a.EventArtifact {
		ev.Artifact.Parts.Only = part
	} else {
		ev.Message.Parts.Only = part
	}
	return text
}

// in returns the index of a place in data that has its holes there.
func (p place) in(found []hole) int {
	if p.holes == 0 {
		return p.past
	}
	return found[p.holes-1].end + p.past
}

// eachScalar calls f with each string and each natural number that is a value in
// raw, as it is written.
func eachScalar(raw string, depth int, f func(string)) {
	switch {
	case raw == "" || depth == 0:
	case raw[0] == '"' || scanNatural(raw, 0) == len(raw):
		f(raw)
	case raw[0] == '{':
		rawjson.EachMember(raw, func(_, value string) bool { eachScalar(value, depth-1, f); return true })
	case raw[0] == '[':
		rawjson.EachElement(raw, func(value string) bool { eachScalar(value, depth-1, f); return true })
	}
}
