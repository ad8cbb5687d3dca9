package transport

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxLines bounds the JSON events in one frame that was not ended: each takes some 400
// bytes decoded, even one of ten bytes.
const maxLines = 1 << 16

// decode appends the events of a frame: one mostly, none of a heartbeat. The error is the agent's,
// or says that the frame is no A2A.
func (s *Stream) decode(f *frame) error {
	s.learn()
	if s.decodeByTemplate(f) {
		return nil
	}
	// VoltAgent puts a record separator (RFC 7464) before each event, where streams are
	// asked for.
	data := bytes.TrimSpace(bytes.TrimPrefix(f.data, []byte{0x1E}))
	if len(data) == 0 {
		// A heartbeat.
		return nil
	}
	data = repairText(data)
	large := &s.source.Large
	if large.Begin(rawjson.View(data)); rawjson.ValidBut(data, large.Note) {
		large.Keep()
		err := s.decodeOne(rawjson.View(data), f.failure)
		if err == nil {
			s.lesson.data, s.lesson.event = data, s.events[len(s.events)-1]
		}
		return err
	}
	if f.failure {
		return &a2a.Error{Code: a2a.CodeInternal, Message: quote(data)}
	}
	if !bytes.ContainsAny(data, `{}"`) {
		// A word, such as OpenAI's [DONE], or a gateway's ping: it is no part of an event.
		if !s.gotEvent && s.notEvent == nil {
			s.notEvent = s.notJSON(data)
		}
		return nil
	}
	// Gemini's server ends the events of one of its streams with one newline
	// instead of two, so that they arrive as the lines of one event. JSON in
	// several lines is no JSON each, so the two cannot be mistaken.
	lines := bytes.SplitN(data, []byte("\n"), maxLines+1)
	if len(lines) > maxLines {
		return failf(ErrMalformed, "%s sent an event of more than %d lines", s.x.shownURL(), maxLines)
	}
	for _, line := range lines {
		if len(lines) == 1 || !rawjson.IsObject(rawjson.View(line)) || !rawjson.Valid(line) {
			return s.notJSON(data)
		}
	}
	for _, line := range lines {
		if err := s.decodeOne(rawjson.View(line), false); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stream) notJSON(data []byte) error {
	return failf(ErrMalformed, "%s sent an event that is not JSON: %s", s.x.shownURL(), quote(data))
}

// maxTemplates is how many templates are kept: of messages and artifacts that grow in turns, and
// of what is told of some tools from their beginning to their end.
const maxTemplates = 24

// decodeByTemplate appends the event of a frame that fits a template; false if none does.
func (s *Stream) decodeByTemplate(f *frame) bool {
	if len(s.templates) == 0 || f.failure {
		return false
	}
	if f.fit.template == nil && !s.refit(f) {
		return false
	}
	s.unfit = max(0, s.unfit-1) // not set to 0: one may fit by chance
	var ev *a2a.Event
	var part *a2a.Part
	s.events, ev = room(s.events)
	s.parts, part = room(s.parts)
	s.source.Text = f.fit.template.decode(f.data, &f.fit, s.reader.spans, ev, part, s.source.Text)
	s.follow(f.fit.template)
	return true
}

// refit sets f.fit for a frame that does not fit the likeliest template; false if no other fits. Those that
// are about as long are tried first: the others are of other tools, whose schema is most of an event.
func (s *Stream) refit(f *frame) bool {
	about := len(f.data) / 8
	for _, near := range [...]bool{true, false} {
		for _, tmpl := range s.templates {
			if more := len(f.data) - len(tmpl.raw); (-about <= more && more <= about) != near {
				continue
			}
			fit, spans := tmpl.fits(f.data, s.reader.spans)
			if fit.template != nil && fit.end == len(f.data) {
				f.fit, s.reader.spans = fit, spans
				return true
			}
		}
	}
	return false
}

// follow puts the template of the event in hand in front. What came behind that the last time is
// likely to come again: the next frame is compared with its template first.
func (s *Stream) follow(tmpl *template) {
	at := slices.Index(s.templates, tmpl)
	if at < 0 { // dropped since its frame was found
		s.reader.template = s.templates[0]
		return
	}
	s.templates[0].next = tmpl
	s.reader.template = cmp.Or(tmpl.next, tmpl)
	copy(s.templates[1:at+1], s.templates[:at])
	s.templates[0] = tmpl
}

// room returns a list with one more element, and that. It is not cleared: the caller sets it completely.
func room[T any](list []T) ([]T, *T) {
	if len(list) < cap(list) {
		list = list[:len(list)+1]
	} else {
		list = append(list, *new(T))
	}
	return list, &list[len(list)-1]
}

// maxUnfit is how many templates may be made in a row that nothing fits. After that the
// events of the stream differ too much, and only one event in so many is tried.
const maxUnfit = 8

// A lesson is the last event that was decoded, and of which there is no template yet; data is nil if there
// is none. It is learned when the next event is looked for, by when the caller has shown this one: the first
// words need not wait for it. The event is a copy, because the caller may change his.
type lesson struct {
	data  []byte
	event a2a.Event
}

// learn makes and keeps a template of the lesson, if there is one and [newTemplate] does.
func (s *Stream) learn() {
	if s.lesson.data == nil {
		return
	}
	if s.unfit > maxUnfit && s.unfit%maxUnfit != 0 {
		s.unfit++
	} else if tmpl := newTemplate(s.lesson.data, &s.lesson.event, &s.source.Large); tmpl != nil {
		s.keep(tmpl)
		s.unfit++
	}
	s.lesson = lesson{} // or it would hold a large buffer
}

// keep keeps a template, in the place of the one that was followed the longest ago if there are too many.
func (s *Stream) keep(tmpl *template) {
	if n := len(s.templates); n == maxTemplates {
		s.templates[n-1].next = nil // those that point to it hold no others
		s.templates[n-1] = tmpl
	} else {
		s.templates = append(s.templates, tmpl)
	}
	s.follow(tmpl)
}

// decodeOne appends the event that data is, valid JSON, or returns the agent's error. With the first
// event the agent has taken the way.
func (s *Stream) decodeOne(data string, failure bool) error {
	s.events = append(s.events, a2a.Event{})
	last := len(s.events) - 1
	s.events[last].FastPath().Source = &s.source
	err := s.way.binding.event(s.way.protocol, data, failure, &s.events[last])
	switch {
	case err == nil && s.reader.bareJSON && s.events[last].Kind == a2a.EventUnknown:
		s.events = s.events[:last]
		return failf(ErrPossiblyDelivered, "%s answered with JSON that is not A2A: %s", s.x.shownURL(), quote([]byte(data)))
	case err == nil:
		if !s.gotEvent && s.accepted != nil {
			s.accepted()
		}
		s.gotEvent = true
		return nil
	}
	s.events = s.events[:last]
	if err.Code == 0 {
		err.Code, err.NoCode = a2a.CodeInternal, true
	}
	return err
}
