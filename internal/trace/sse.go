package trace

import (
	"bytes"
	"strings"
)

// An sse puts the events of a stream together. It is not the transport's reader:
// it only looks, and keeps what that one would refuse.
type sse struct {
	block seen // the event's lines so far, each ended by \n
	cr    bool // the last byte was \r, of which a \n is the other half
	blank bool // the line so far is empty; false at the start of the stream, where nothing ends
	lines bool // there is something in the block
	event func(block []byte, cut int64, whole bool)
}

func (s *sse) add(p []byte) {
	for len(p) > 0 {
		if s.cr && p[0] == '\n' {
			s.cr = false
			p = p[1:]
			continue
		}
		s.cr = false
		n := bytes.IndexAny(p, "\r\n")
		if n < 0 {
			s.block.add(p)
			s.lines, s.blank = true, false
			return
		}
		if n > 0 {
			s.block.add(p[:n])
			s.lines, s.blank = true, false
		}
		if s.blank || !s.lines {
			s.flush(true)
		} else {
			s.block.add([]byte{'\n'})
			s.blank = true
		}
		s.cr = p[n] == '\r'
		p = p[n+1:]
	}
}

// end says that the stream is over. What is left of an event is recorded too: it
// is often what one is looking for.
func (s *sse) end() { s.flush(false) }

func (s *sse) flush(whole bool) {
	if s.lines {
		s.event(s.block.b, s.block.cut(), whole)
	}
	s.block.b, s.block.n = s.block.b[:0], 0
	s.lines, s.blank = false, false
}

// event records an event of a stream.
func (x *exchange) event(block []byte, cut int64, whole bool) {
	r := &record{Wire: "agent", Dir: "in", Exchange: x.n, Event: "sse"}
	if !whole {
		r.Error = "the stream ended within this event"
	}
	var data []byte
	var comments []string
	for line := range bytes.Lines(block) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) {
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		case "event":
			r.Name = x.w.mask.text(string(value))
		case "id":
			r.ID = x.w.mask.text(string(value))
		default: // a comment, retry, or what nobody knows
			comments = append(comments, x.w.mask.text(string(line)))
		}
	}
	r.Comment = strings.Join(comments, "\n")
	x.w.content(r, data, cut)
	x.w.write(r)
}
