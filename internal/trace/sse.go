package trace

import "bytes"

// An sseEvent is an event of a stream, or a comment between events. Its bytes are valid
// during the call that gets it.
type sseEvent struct {
	data              payload
	hasData           bool
	name, id, comment string
	whole             bool // a blank line has ended it
}

// An sse splits a stream into events, by the WHATWG standard. It is not the transport's
// reader: it also reads what that one would refuse.
type sse struct {
	line pieces
	data pieces
	last []byte // the data of the newest event that had some
	ev   sseEvent
	any  bool // the event has a field
	cr   bool // the last byte was \r, and a \n belongs to it
}

func newSSE(limit int) *sse {
	return &sse{line: pieces{limit: limit + len("data: ")}, data: pieces{limit: limit}}
}

// add takes bytes, and calls event for each completed event.
func (s *sse) add(b []byte, event func(*sseEvent)) {
	for len(b) > 0 {
		if s.cr && b[0] == '\n' {
			s.cr = false
			b = b[1:]
			continue
		}
		s.cr = false
		n := bytes.IndexByte(b, '\n')
		line := b
		if n >= 0 {
			line = b[:n]
		}
		if cr := bytes.IndexByte(line, '\r'); cr >= 0 {
			n, s.cr = cr, true
		}
		if n < 0 {
			s.line.add(b)
			break
		}
		if s.line.size == 0 && n <= s.line.limit { // most lines come as a whole
			s.field(wholePayload(b[:n]), event)
		} else {
			s.line.add(b[:n])
			s.field(s.line.payload, event)
			s.line.reset()
		}
		b = b[n+1:]
	}
}

// end calls event for an incomplete last event, and reports whether that has data.
func (s *sse) end(event func(*sseEvent)) bool {
	if s.line.size > 0 {
		s.field(s.line.payload, event)
	}
	cut := s.any && s.ev.hasData
	s.dispatch(event, false)
	return cut
}

// field takes a line; an empty one ends the event.
func (s *sse) field(p payload, event func(*sseEvent)) {
	if p.size == 0 {
		s.dispatch(event, true)
		return
	}
	s.any = true
	name, value, _ := bytes.Cut(p.b, []byte{':'})
	name = bytes.TrimPrefix(name, []byte("\ufeff"))
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if s.ev.hasData {
			s.data.add([]byte{'\n'})
		}
		s.ev.hasData = true
		s.data.add(value)
		s.data.size += p.size - int64(len(p.b))
		s.data.long = s.data.long || p.long
	case "event":
		s.ev.name = clip(value)
	case "id":
		s.ev.id = clip(value)
	default: // a comment, retry, or what nobody knows
		if s.ev.comment != "" {
			s.ev.comment += "\n"
		}
		if len(s.ev.comment) < headSize {
			s.ev.comment += clip(p.b)
		}
	}
}

func clip(b []byte) string { return string(b[:min(len(b), headSize)]) }

// dispatch calls event if there were any fields, and begins the next one.
func (s *sse) dispatch(event func(*sseEvent), whole bool) {
	if !s.any {
		return
	}
	s.ev.data, s.ev.whole = s.data.payload, whole
	event(&s.ev)
	if s.ev.hasData {
		s.last, s.data.b = s.data.b, s.last
	}
	s.data.reset()
	s.ev, s.any = sseEvent{}, false
}
