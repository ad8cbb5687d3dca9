package view

import (
	"time"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// Flow is the traffic in one direction.
type Flow struct {
	Records int
	Bytes   int64
}

// Stats are a trace's figures; those of turns, calls and streams are in its spans.
type Stats struct {
	Start   trace.Record
	Last    int64
	Records int
	Bad     int
	Flows   map[string]Flow // by direction
}

// Add takes the next record.
func (s *Stats) Add(r *trace.Record, it *Item) {
	if s.Flows == nil {
		s.Flows = map[string]Flow{}
	}
	if r.Kind == trace.KindStart && s.Start.Kind == "" {
		s.Start = *r.Clone()
	}
	s.Records++
	s.Last = max(s.Last, it.Micros)
	if it.Bad {
		s.Bad++
	}
	if d := direction(it); d != "" && it.Type != TypeHTTP {
		s.Flows[d] = Flow{s.Flows[d].Records + 1, s.Flows[d].Bytes + it.Size}
	}
}

// Duration writes a number of microseconds for people.
func Duration(micros int64) string {
	switch d := time.Duration(micros) * time.Microsecond; {
	case d < time.Millisecond:
		return d.String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
