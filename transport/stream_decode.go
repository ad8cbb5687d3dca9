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

// decode appends the events in a frame: one, mostly.
func (s *Stream) decode(f *frame) error {
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
			s.learn(data)
		}
		return err
	}
	if f.failure {
		return &a2a.Error{Code: a2a.CodeInternal, Message: quote(data)}
	}
	if !bytes.ContainsAny(data, `{}"`) {
		// A word, such as OpenAI's [DONE], or a gateway's ping: it is no part of an event.
		if !s.spoke && s.word == nil {
			s.word = s.notJSON(data)
		}
		return nil
	}
	// Gemini's server ends the events of one of its streams with one newline
	// instead of two, so that they arrive as the lines of one event. JSON in
	// several lines is no JSON each, so the two cannot be mistaken.
	lines := bytes.SplitN(data, []byte("\n"), maxLines+1)
	if len(lines) > maxLines {
		return failf(ErrMalformed, "%s sent an event of more than %d lines", s.x.at(), maxLines)
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
	return failf(ErrMalformed, "%s sent an event that is not JSON: %s", s.x.at(), quote(data))
}

// maxTemplates is how many templates are kept: of messages and artifacts that grow in turns, and
// of what is told of some tools from their beginning to their end.
const maxTemplates = 24

// decodeByTemplate decodes a frame that is like one of the last ones.
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
	s.source.Text = f.fit.template.decode(f.data, &f.fit, s.frames.slots, ev, part, s.source.Text)
	s.follow(f.fit.template)
	return true
}

// refit finds the template of a frame that is not what was likely. Those that are about as long come first:
// the others are of other tools, whose schema is most of an event.
func (s *Stream) refit(f *frame) bool {
	about := len(f.data) / 8
	for _, near := range [...]bool{true, false} {
		for _, tmpl := range s.templates {
			if more := len(f.data) - len(tmpl.raw); (-about <= more && more <= about) != near {
				continue
			}
			fit, slots := tmpl.fits(f.data, s.frames.slots)
			if fit.template != nil && fit.end == len(f.data) {
				f.fit, s.frames.slots = fit, slots
				return true
			}
		}
	}
	return false
}

// follow notes the template of the event in hand, and puts it in front. What came behind it the
// last time is likely to come again: the next frame is compared with that first.
func (s *Stream) follow(tmpl *template) {
	at := slices.Index(s.templates, tmpl)
	if at < 0 { // dropped since its frame was found
		s.frames.template = s.templates[0]
		return
	}
	s.templates[0].next = tmpl
	s.frames.template = cmp.Or(tmpl.next, tmpl)
	copy(s.templates[1:at+1], s.templates[:at])
	s.templates[0] = tmpl
}

// room makes room for one more, which the caller sets completely: it is not cleared.
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

// learn makes a template of the event that was just decoded from data, if it is
// one that may be.
func (s *Stream) learn(data []byte) {
	if s.unfit > maxUnfit && s.unfit%maxUnfit != 0 {
		s.unfit++
		return
	}
	if tmpl := newTemplate(data, &s.events[len(s.events)-1], &s.source.Large); tmpl != nil {
		s.keep(tmpl)
		s.unfit++
	}
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

// decodeOne decodes one frame, which is valid JSON.
func (s *Stream) decodeOne(data string, failure bool) error {
	s.events = append(s.events, a2a.Event{})
	last := len(s.events) - 1
	s.events[last].FastPath().Source = &s.source
	err := s.way.kind.event(s.way.protocol, data, failure, &s.events[last])
	switch {
	case err == nil && s.frames.object && s.events[last].Kind == a2a.EventUnknown:
		s.events = s.events[:last]
		return failf(ErrPossiblyDelivered, "%s answered with JSON that is not A2A: %s", s.x.at(), quote([]byte(data)))
	case err == nil:
		if !s.spoke && s.took != nil {
			s.took()
		}
		s.spoke = true
		return nil
	}
	s.events = s.events[:last]
	if err.Code == 0 {
		err.Code, err.NoCode = a2a.CodeInternal, true
	}
	return err
}
