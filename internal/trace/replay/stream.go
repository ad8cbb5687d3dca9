package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// A pace turns recorded times into waits.
type pace struct {
	speed float64
	from  int64 // recorded
	began time.Time
}

func (a *Agent) clock(from int64) *pace { return &pace{a.opts.Speed, from, time.Now()} }

// never is the time of what does not come.
const never = math.MaxInt64

// until is how long it takes until a recorded time is due.
func (p *pace) until(at int64) time.Duration {
	switch {
	case at == never:
		return never
	case p.speed <= 0:
		return 0
	}
	return time.Until(p.began.Add(time.Duration(float64(at-p.from)/p.speed) * time.Microsecond))
}

// due waits until a recorded time is due. It reports false if the stream ends before:
// the client has gone, or the task was cancelled, which the client is told. t may be
// nil.
func (p *playing) due(clock *pace, at int64, t *task) bool {
	var canceled chan struct{}
	if t != nil {
		canceled = t.canceled
	}
	timer := time.NewTimer(clock.until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
	case <-canceled:
	}
	select {
	case <-canceled:
		p.a.mu.Lock()
		last := t.canceledEvent()
		p.a.mu.Unlock()
		p.data(p.result(last))
		return false
	default:
		return p.ctx.Err() == nil
	}
}

// stream plays an exchange's events from an index on, and ends as recorded.
func (p *playing) stream(x *exchange, from int, clock *pace) {
	var t *task
	for i := from; i < len(x.events); i++ {
		ev := &x.events[i]
		if !p.due(clock, ev.at, t) {
			return
		}
		if ev.lost {
			p.a.opts.Note(fmt.Sprintf("event %d of %s was too large to be recorded: the stream is cut there", i+1, x))
			p.body.Abort()
		}
		r, _, err := p.a.rec.file.Read(ev.pos)
		if err != nil {
			p.a.opts.Note(err.Error())
			p.body.Abort()
		}
		data, _ := r.Payload()
		// Before the client has the event: its next request must find a task that has it,
		// too.
		if noted := p.a.note(x, gjson.ParseBytes(data), i+1); noted != nil {
			t = noted
		}
		if _, err := p.body.Write(r.Block(p.now(data))); err != nil {
			return // the client has gone
		}
	}
	p.body.Close()
	switch x.reason {
	case trace.EndCut, trace.EndFailed:
		p.body.Abort()
	case trace.EndClosed, trace.EndCanceled, trace.EndOpen, "":
		// The stream was open when the recorded client left; this client may stay.
		p.due(clock, never, t)
	}
}

func (p *playing) data(doc []byte) {
	fmt.Fprintf(p.body, "data: %s\n\n", doc)
}

// result wraps a result in the envelope of the request's binding.
func (p *playing) result(doc []byte) []byte {
	if p.q.method == "" {
		return doc
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, p.q.id, doc)
}

// fromTask answers with a task in its current state.
func (p *playing) fromTask(t *task) {
	a := p.a
	a.mu.Lock()
	if p.q.operation() == "cancel" {
		t.cancel()
	}
	stream := p.q.operation() == "subscribe"
	doc, x, next := a.ids.apply(t.snapshot(stream)), t.of, t.next
	a.mu.Unlock()
	if !stream {
		p.begin(200, "application/json", nil)
		p.body.Write(p.result(doc))
		return
	}
	p.begin(200, "text/event-stream", nil)
	p.data(p.result(doc))
	if x != nil && next < len(x.events) {
		p.stream(x, next, a.clock(x.events[next].at))
	}
}
