// Package fault makes a server's answers fail on demand, like those of networks,
// proxies and crashing agents.
package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kinds of faults.
const (
	cutAfter = "cut-after" // the connection ends after so many bytes, or events, of the body
	reset    = "reset"     // the same, by a reset; without a number, before the first byte
	drop     = "drop"      // an event is missing
	dup      = "dup"       // an event comes twice
	delay    = "delay"     // the answer and each event come later
	status   = "status"    // the answer is only this status
)

// Help tells how to write faults.
const Help = "cut-after=500 (bytes; or 3events), reset, reset=500, drop=N, dup=N (the Nth event), delay=200ms, status=503; " +
	"with @METHOD for that method only, with *N for the first N requests; cut-after, reset and status are for the first one, unless *0 says all; the request for the card is none of them"

type fault struct {
	kind   string
	n      int  // bytes, a status, or which event
	events bool // n counts events
	wait   time.Duration
	method string
	left   int // requests left; negative: all
}

// A Plan holds all faults of a server. It may be used from any goroutine.
type Plan struct {
	mu   sync.Mutex
	list []*fault
}

// Parse reads faults in the syntax of Help.
func Parse(list []string) (*Plan, error) {
	p := &Plan{}
	for _, s := range list {
		f, err := parse(s)
		if err != nil {
			return nil, fmt.Errorf("there is no fault %q: there are %s", s, Help)
		}
		p.list = append(p.list, f)
	}
	return p, nil
}

func parse(s string) (*fault, error) {
	f := &fault{left: -1}
	rest, times, limited := s, "", false
	for i := strings.LastIndexAny(rest, "@*"); i >= 0; i = strings.LastIndexAny(rest, "@*") {
		if rest[i] == '@' {
			f.method = rest[i+1:]
		} else {
			times, limited = rest[i+1:], true
		}
		rest = rest[:i]
	}
	kind, value, has := strings.Cut(rest, "=")
	f.kind = kind
	var err error
	switch kind {
	case cutAfter:
		if value, f.events = strings.CutSuffix(value, "events"); !f.events {
			value, f.events = strings.CutSuffix(value, "event")
		}
		f.n, err = strconv.Atoi(value)
		f.left = 1
	case reset:
		if has {
			f.n, err = strconv.Atoi(value)
		}
		f.left = 1
	case drop, dup:
		if f.n, err = strconv.Atoi(value); f.n == 0 {
			f.n = -1
		}
	case delay:
		f.wait, err = time.ParseDuration(value)
	case status:
		f.n, err = strconv.Atoi(value)
		if f.n < 200 || f.n > 599 {
			err = strconv.ErrRange
		}
		f.left = 1
	default:
		err = strconv.ErrSyntax
	}
	if limited && err == nil {
		if f.left, err = strconv.Atoi(times); f.left == 0 {
			f.left = -1
		}
	}
	if err == nil && (f.n < 0 || f.wait < 0 || f.left < -1) {
		err = strconv.ErrRange
	}
	return f, err
}

// Any reports whether there are faults.
func (p *Plan) Any() bool { return p != nil && len(p.list) > 0 }

// For returns the faults of a request, and counts it against their limits. That of a card is not
// counted, and has only those that name its method: what a client does when a conversation breaks
// could not be tried otherwise.
func (p *Plan) For(method string) *Faults {
	if !p.Any() {
		return &Faults{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &Faults{}
	for _, x := range p.list {
		if x.left == 0 || x.method != method && (x.method != "" || strings.Contains(method, "/.well-known/")) {
			continue
		}
		if x.left > 0 {
			x.left--
		}
		f.list = append(f.list, *x)
	}
	return f
}

type Faults struct{ list []fault }

// Status is the status to answer with; 0: none.
func (f *Faults) Status() int {
	if i := slices.IndexFunc(f.list, func(x fault) bool { return x.kind == status }); i >= 0 {
		return f.list[i].n
	}
	return 0
}

// Delay is how long to wait before the answer and before each event.
func (f *Faults) Delay() (d time.Duration) {
	for _, x := range f.list {
		d += x.wait
	}
	return d
}

// copies is how often to send an event.
func (f *Faults) copies(event int) int {
	n := 1
	for _, x := range f.list {
		switch {
		case x.kind == drop && x.n == event:
			return 0
		case x.kind == dup && x.n == event:
			n++
		}
	}
	return n
}

// limit is the number of bytes or events after which the connection ends; negative:
// none.
func (f *Faults) limit(events bool) (n int, byReset bool) {
	n = -1
	for _, x := range f.list {
		if (x.kind == cutAfter || x.kind == reset) && x.events == events && (n < 0 || x.n < n) {
			n, byReset = x.n, x.kind == reset
		}
	}
	return n, byReset
}
