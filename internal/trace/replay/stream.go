package replay

import (
	"fmt"
	"net/http"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// A pace is how recorded times become waits.
type pace struct {
	speed float64
	from  int64 // recorded
	began time.Time
}

func (a *Agent) clock(from int64) *pace { return &pace{a.opts.Speed, from, time.Now()} }

// due waits until a recorded time is due. It reports whether the client is still there.
func (p *playing) due(clock *pace, at int64) bool {
	wait := time.Duration(0)
	if clock.speed > 0 {
		wait = time.Until(clock.began.Add(time.Duration(float64(at-clock.from)/clock.speed) * time.Microsecond))
	}
	timer := time.NewTimer(wait)
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
		<-p.ctx.Done()
	}
}
