package fastpath

import "unsafe"

// Large knows the large objects and arrays in a stream's events. Those of a tool call have the
// tool's schema in common: what stood in the one before, as deep, is compared and not read.
type Large struct {
	text   string // of the event in hand
	spans  []span // what is large in it, in its order
	before []byte // a copy of the newest large event, and what is large there
	known  []span
}

// A span is where a value stands; end is 0 while it is read.
type span struct {
	at, end, depth int
	repeats        bool // it was in the event before
}

const (
	minSpan  = 256 // the least that is worth a comparison
	maxSpans = 32
	minKept  = 1 << 10 // between the events of a call are small ones
	maxKept  = 64 << 10
)

// Begin begins to read an event. It is valid JSON as far as Note was told of it.
func (l *Large) Begin(text string) { l.text, l.spans = text, l.spans[:0] }

// Keep keeps the event in hand, which is valid.
func (l *Large) Keep() {
	if n := len(l.text); n >= minKept && n <= maxKept {
		l.before, l.known = append(l.before[:0], l.text...), append(l.known[:0], l.spans...)
	}
}

// Note is told of a value that begins, with an end of 0, and then of its end. Where that is known
// without reading it, Note returns it.
func (l *Large) Note(at, end, depth int) int {
	if end == 0 {
		rest := l.text[at:]
		if len(rest) < minSpan || len(l.spans) == maxSpans {
			return 0
		}
		for i := range l.known {
			k := &l.known[i]
			if n := k.end - k.at; k.depth == depth && n <= len(rest) && rest[:n] == string(l.before[k.at:k.end]) {
				end = at + n
				break
			}
		}
		l.spans = append(l.spans, span{at, end, depth, end > 0})
		return end
	}
	for i := len(l.spans) - 1; i >= 0 && l.spans[i].at >= at; i-- {
		if s := &l.spans[i]; s.at == at {
			if s.end = end; end-at < minSpan {
				l.spans = l.spans[:i]
			}
		}
	}
	return end
}

// Len returns the length of the value that rest, the end of the event in hand, begins with; 0 if
// it is not known. In any other text nothing is.
func (l *Large) Len(rest string) int {
	at := len(l.text) - len(rest)
	if at < 0 || rest == "" || unsafe.StringData(rest) != unsafe.StringData(l.text[at:]) {
		return 0
	}
	for i := range l.spans {
		if l.spans[i].at == at {
			return l.spans[i].end - at
		}
	}
	return 0
}

// Repeats reports whether a value in the event in hand was in the one before.
func (l *Large) Repeats(value string) bool {
	at := int(uintptr(unsafe.Pointer(unsafe.StringData(value))) - uintptr(unsafe.Pointer(unsafe.StringData(l.text))))
	for i := range l.spans {
		if s := &l.spans[i]; s.at == at && s.end == at+len(value) {
			return s.repeats
		}
	}
	return false
}
