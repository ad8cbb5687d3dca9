package transport

import (
	"bytes"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxLines is how many events an event may be that was not ended: each takes some
// 400 bytes, and may be no more than ten itself.
const maxLines = 1 << 16

// decode appends the events in a frame: one, mostly.
func (s *Stream) decode(f *frame) error {
	if s.decodeLike(f) {
		return nil
	}
	data := bytes.TrimSpace(f.data)
	if len(data) == 0 {
		// A heartbeat.
		return nil
	}
	clean := cleanJSON(rawjson.View(data))
	if !clean {
		data = repairText(data)
	}
	if clean || validJSON(data) {
		err := s.decodeOne(rawjson.View(data), f.failure)
		if err == nil {
			s.learn(data)
		}
		return err
	}
	if f.failure {
		return &a2a.Error{Code: a2a.CodeInternal, Message: quote(data)}
	}
	// Gemini's server ends the events of one of its streams with one newline
	// instead of two, so that they arrive as the lines of one event. JSON in
	// several lines is no JSON each, so the two cannot be mistaken.
	lines := bytes.SplitN(data, []byte("\n"), maxLines+1)
	if len(lines) > maxLines {
		return failf(nil, "%s sent an event of more than %d lines", s.at, maxLines)
	}
	for _, line := range lines {
		if len(lines) == 1 || !rawjson.IsObject(rawjson.View(line)) || !validJSON(line) {
			return failf(nil, "%s sent an event that is not JSON: %s", s.at, quote(data))
		}
	}
	for _, line := range lines {
		if err := s.decodeOne(rawjson.View(line), false); err != nil {
			return err
		}
	}
	return nil
}

// decodeLike decodes a frame that is like the last one.
func (s *Stream) decodeLike(f *frame) bool {
	if s.like == nil || f.failure {
		return false
	}
	if f.fit.like != s.like { // the template is younger than the frame
		if f.fit, s.frames.holes = s.like.fits(f.data, s.frames.holes); f.fit.like == nil || f.fit.end != len(f.data) {
			return false
		}
	}
	s.unfit = 0
	var ev *a2a.Event
	var part *a2a.Part
	s.events, ev = room(s.events)
	s.parts, part = room(s.parts)
	s.text = s.like.decode(f.data, &f.fit, s.frames.holes, ev, part, s.text)
	return true
}

// room makes room for one more, which the caller sets: clearing it before would
// cost as much.
func room[T any](list []T) ([]T, *T) {
	if len(list) < cap(list) {
		list = list[:len(list)+1]
	} else {
		list = append(list, *new(T))
	}
	return list, &list[len(list)-1]
}

// maxUnfit is how many templates may be made in a row that nothing fits. After
// them the stream is one whose events differ in other ways, and only one event
// of so many is tried.
const maxUnfit = 8

// learn makes a template of the event that was just decoded from data, if it is
// one that may be.
func (s *Stream) learn(data []byte) {
	if s.unfit > maxUnfit && s.unfit%maxUnfit != 0 {
		s.unfit++
		return
	}
	if like := newTemplate(data, &s.events[len(s.events)-1]); like != nil {
		s.like, s.frames.like = like, like
		s.unfit++
	}
}

// decodeOne takes one JSON-RPC response. A payload without one around it is
// taken as well; what is neither is an event of an unknown kind.
func (s *Stream) decodeOne(data string, failure bool) error {
	if !failure && s.decodeResult(data) {
		return nil
	}
	r := readResponse(data)
	switch {
	case r.failure != "":
		data, failure = r.failure, true
	case r.result != "":
		data = r.result
	}
	if failure {
		e := readError(data)
		if e.Code == 0 {
			e.Code = a2a.CodeInternal
		}
		return s.endpoint.explain(e)
	}
	s.events = append(s.events, a2a.Event{})
	s.endpoint.protocol.decode(data, &s.events[len(s.events)-1])
	return nil
}

// decodeResult decodes a response whose last member is its result, as it is with
// all servers that were tried; false if this one is another. Where the result ends
// is known when it has been decoded, so it is not walked before.
func (s *Stream) decodeResult(data string) bool {
	result := 0
	rawjson.Walk(data, 0, func(key string, at int) (end int) {
		switch key {
		case "result":
			result = at
			return len(data)
		case "error":
			return len(data)
		}
		return rawjson.SkipValue(data, at)
	})
	if result == 0 || !rawjson.IsObject(data[result:]) {
		return false
	}
	s.events = append(s.events, a2a.Event{})
	ev := &s.events[len(s.events)-1]
	s.endpoint.protocol.decode(data[result:], ev)
	if end := rawjson.SkipSpace(data, result+len(ev.Raw)); end < len(data) && data[end] == '}' && rawjson.SkipSpace(data, end+1) == len(data) {
		return true
	}
	s.events = s.events[:len(s.events)-1]
	return false
}
