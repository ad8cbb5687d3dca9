package replay

import (
	"fmt"
	"math"
	"net/http"
	"time"

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

// due waits until a recorded time is due. It reports whether the client is still there.
func (p *playing) due(clock *pace, at int64) bool {
	timer := time.NewTimer(clock.until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
	}
	return p.ctx.Err() == nil
}

// stream plays an exchange's events, and ends as recorded.
func (p *playing) stream(x *exchange, clock *pace) {
	for i := range x.events {
		ev := &x.events[i]
		if !p.due(clock, ev.at) {
			return
		}
		if ev.lost {
			p.a.opts.Note(fmt.Sprintf("event %d of %s was too large to be recorded: the stream is cut there", i+1, x))
			p.abort()
		}
		r, _, err := p.a.rec.file.Read(ev.pos)
		if err != nil {
			p.a.opts.Note(err.Error())
			p.abort()
		}
		data, _ := r.Payload()
		_, err = p.w.Write(r.Block(p.now(data)))
		if err == nil {
			err = http.NewResponseController(p.w).Flush()
		}
		if err != nil {
			return // the client has gone
		}
	}
	switch x.reason {
	case trace.EndCut, trace.EndFailed:
		p.abort()
	case trace.EndClosed, trace.EndCanceled, trace.EndOpen, "":
		// The stream was open when the recorded client left; this client may stay.
		p.due(clock, never)
	}
}
