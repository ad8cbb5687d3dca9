package view

import (
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// A Histogram counts times in classes two hundredths apart: a few kilobytes for any
// number of times.
type Histogram struct {
	counts map[int]int
	N      int
	Max    int64
}

const classes = 1.02

// Add counts a time, in microseconds.
func (h *Histogram) Add(micros int64) {
	if h.counts == nil {
		h.counts = map[int]int{}
	}
	micros = max(micros, 0)
	h.counts[int(math.Log(float64(micros+1))/math.Log(classes))]++
	h.N++
	h.Max = max(h.Max, micros)
}

// Quantile returns the time that a part q of all times does not exceed.
func (h *Histogram) Quantile(q float64) int64 {
	left := int(math.Ceil(q * float64(h.N)))
	for _, class := range slices.Sorted(maps.Keys(h.counts)) {
		if left -= h.counts[class]; left <= 0 {
			return min(h.Max, int64(math.Pow(classes, float64(class)+0.5)-0.5))
		}
	}
	return h.Max
}

// A Gap is a time of silence on all wires.
type Gap struct {
	Micros int64
	After  int64 // the record before it
	Name   string
}

// maxGaps is how many of the longest gaps are kept, maxStreams how many streams.
const (
	maxGaps    = 5
	maxStreams = 1000
)

// Flow is the traffic in one direction.
type Flow struct {
	Records int
	Bytes   int64
}

// A Stream is what one exchange has brought.
type Stream struct {
	Exchange   int64
	Name       string
	Start      int64
	FirstEvent int64 // microseconds after the request
	Events     int
	Silence    int64 // the longest time between two events
	Between    Histogram
	Reason     string

	last int64
}

// Stats are a trace's figures.
type Stats struct {
	Start   trace.Record
	Last    int64
	Records int
	Flows   map[string]*Flow      // by direction
	Methods map[string]*Histogram // times until the reply
	Counts  map[string]int        // of names
	Streams []*Stream
	Between Histogram // of all events
	Gaps    []Gap
	Bad     int

	open  map[string]int64 // open requests, by direction and ID: their time
	names map[string]string
	byX   map[int64]*Stream
	prev  Item
}

// Add takes the next record.
func (s *Stats) Add(r *trace.Record, it *Item) {
	if s.Flows == nil {
		s.Flows, s.Methods, s.Counts = map[string]*Flow{}, map[string]*Histogram{}, map[string]int{}
		s.open, s.names, s.byX = map[string]int64{}, map[string]string{}, map[int64]*Stream{}
	}
	if r.Kind == trace.KindStart && s.Start.Kind == "" {
		s.Start = *r.Clone()
	}
	if s.Records > 0 && r.Kind != trace.KindStop {
		s.gap(it)
	}
	s.Records++
	s.Last = max(s.Last, it.Micros)
	s.prev = *it
	if it.Bad {
		s.Bad++
	}
	if d := direction(it); d != "" && it.Type != TypeHTTP {
		f := s.Flows[d]
		if f == nil {
			f = new(Flow)
			s.Flows[d] = f
		}
		f.Records++
		f.Bytes += it.Size
		if it.Type != TypeReply && len(s.Counts) < maxStreams {
			s.Counts[it.Name]++
		}
	}
	s.latency(it)
	if it.Exchange > 0 {
		s.stream(r, it)
	}
}

func (s *Stats) gap(it *Item) {
	g := Gap{it.Micros - s.prev.Micros, s.prev.N, s.prev.Name}
	if len(s.Gaps) == maxGaps && g.Micros <= s.Gaps[maxGaps-1].Micros || g.Micros <= 0 {
		return
	}
	s.Gaps = append(s.Gaps, g)
	sort.SliceStable(s.Gaps, func(i, j int) bool { return s.Gaps[i].Micros > s.Gaps[j].Micros })
	s.Gaps = s.Gaps[:min(len(s.Gaps), maxGaps)]
}

// latency pairs requests and replies of the editor's wire.
func (s *Stats) latency(it *Item) {
	if it.From != LaneEditor && it.To != LaneEditor || it.ID == "" || len(s.open) > maxSpans {
		return
	}
	switch it.Type {
	case TypeRequest:
		s.open[it.From+it.ID], s.names[it.From+it.ID] = it.Micros, it.Name
	case TypeReply:
		key := it.To + it.ID
		if began, ok := s.open[key]; ok {
			s.took(s.names[key], it.Micros-began)
			delete(s.open, key)
			delete(s.names, key)
		}
	}
}

func (s *Stats) took(method string, micros int64) {
	h := s.Methods[method]
	if h == nil {
		if len(s.Methods) >= maxStreams {
			return
		}
		h = new(Histogram)
		s.Methods[method] = h
	}
	h.Add(micros)
}

func (s *Stats) stream(r *trace.Record, it *Item) {
	st := s.byX[it.Exchange]
	switch r.Kind {
	case trace.KindRequest:
		if len(s.byX) < maxSpans {
			s.byX[it.Exchange] = &Stream{Exchange: it.Exchange, Name: it.Name, Start: it.Micros}
		}
	case trace.KindEvent:
		if st == nil {
			return
		}
		if st.Events++; st.Events == 1 {
			st.FirstEvent = it.Micros - st.Start
		} else {
			st.Between.Add(it.Micros - st.last)
			s.Between.Add(it.Micros - st.last)
			st.Silence = max(st.Silence, it.Micros-st.last)
		}
		st.last = it.Micros
	case trace.KindEnd:
		if st == nil {
			return
		}
		delete(s.byX, it.Exchange)
		st.Reason = r.Reason
		switch {
		case st.Events == 0:
			s.took(st.Name, r.Took)
		case len(s.Streams) < maxStreams:
			s.Streams = append(s.Streams, st)
		}
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
