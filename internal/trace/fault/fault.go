// Package fault makes a server's answers fail on demand, like those of networks,
// proxies and crashing agents.
//
// It starts no goroutine: a [Plan] has a mutex, since requests of any number come at once.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Help tells how to write faults.
const Help = "cut-after=500 (bytes; or 3events) or status=503, for the first request, the card's not counted; with *N for the first N, " +
	"with *0 for all, with @METHOD for those of that method"

type fault struct {
	status bool // the answer is only the status n; else the connection ends after n bytes of the body
	n      int
	events bool // n counts events
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
		f, ok := parse(s)
		if !ok {
			return nil, fmt.Errorf("there is no fault %q: there are %s", s, Help)
		}
		p.list = append(p.list, f)
	}
	return p, nil
}

// form is a fault as it is written. A method or a number of requests may come first.
const form = `^(cut-after|status)=(\d+)(events?)?(@[^*]+)?(?:\*(\d+))?(@[^*]+)?$`

func parse(s string) (*fault, bool) {
	m := regexp.MustCompile(form).FindStringSubmatch(s)
	if m == nil {
		return nil, false
	}
	n, err := strconv.Atoi(m[2])
	left, leftErr := strconv.Atoi(cmp.Or(m[5], "1"))
	if left == 0 {
		left = -1
	}
	f := &fault{m[1] == "status", n, m[3] != "", strings.TrimPrefix(m[4]+m[6], "@"), left}
	return f, err == nil && leftErr == nil && (!f.status || n >= 200 && n <= 599 && !f.events)
}

// A Set is the faults of one request.
type Set struct {
	Status        int // the whole answer, if it is not 0
	bytes, events int // that are left before the connection ends; negative: no limit
}

// Take returns the faults of a request, and counts it against their limits; a nil Plan has
// none. A request for a card is not counted, and has only those that name its method: what a
// client does when a conversation breaks could not be tried otherwise.
func (p *Plan) Take(method string) *Set {
	s := &Set{bytes: -1, events: -1}
	if p == nil {
		return s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.list {
		if f.left == 0 || f.method != method && (f.method != "" || strings.Contains(method, "/.well-known/")) {
			continue
		}
		if f.left > 0 {
			f.left--
		}
		switch {
		case f.status:
			s.Status = cmp.Or(s.Status, f.n)
		case f.events:
			s.events = f.n
		default:
			s.bytes = f.n
		}
	}
	return s
}

// Apply puts the faults into a response's body: an error where the connection has to end.
func (s *Set) Apply(resp *http.Response) {
	if s.bytes < 0 && s.events < 0 {
		return
	}
	stream := strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/event-stream")
	resp.Body = &body{ReadCloser: resp.Body, set: *s, stream: stream}
}

// A body is a response's body, which fails where its faults say.
type body struct {
	io.ReadCloser
	set    Set
	stream bool   // of events
	data   bool   // the current event has some
	line   []byte // how the current line begins
}

var errCut = errors.New("the connection is cut by a fault")

func (b *body) Read(p []byte) (int, error) {
	s := &b.set
	if s.bytes == 0 || s.events == 0 {
		return 0, errCut
	}
	if s.bytes > 0 {
		p = p[:min(len(p), s.bytes)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.stream && s.events > 0 {
		n = b.pass(p[:n])
	}
	if s.bytes > 0 {
		s.bytes -= n
	}
	if s.bytes == 0 || s.events == 0 {
		err = nil // the next one is errCut
	}
	return n, err
}

// pass counts the events that end in p, and returns how much of p may pass.
func (b *body) pass(p []byte) int {
	const field = "data:"
	for i, c := range p {
		switch {
		case c == '\n' && len(b.line) == 0 && b.data:
			b.data = false
			if b.set.events--; b.set.events == 0 {
				return i + 1
			}
		case c == '\n':
			b.data = b.data || string(b.line) == field
			b.line = b.line[:0]
		case c != '\r' && len(b.line) < len(field):
			b.line = append(b.line, c)
		}
	}
	return len(p)
}
