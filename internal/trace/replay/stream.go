package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// wait waits until a recorded time is due. It returns false if ctx ends first.
func (p *pace) wait(ctx context.Context, at int64) bool {
	if p.speed <= 0 {
		return ctx.Err() == nil
	}
	due := p.began.Add(time.Duration(float64(at-p.from)/p.speed) * time.Microsecond)
	d := time.Until(due)
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
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
		if p.event(r, p.now(data)) != nil {
			return // the client has gone
		}
	}
	p.body.Close()
	switch x.reason {
	case trace.EndCut, trace.EndFailed:
		p.body.Abort()
	case trace.EndClosed, trace.EndCanceled, trace.EndOpen, "":
		// The stream was open when the recorded client left; this client may stay.
		p.due(clock, 1<<62, t)
	}
}

// due waits for an event's time. Cancelling the task ends the stream.
func (p *playing) due(clock *pace, at int64, t *task) bool {
	if t == nil {
		if at == 1<<62 {
			<-p.ctx.Done()
			return false
		}
		return clock.wait(p.ctx, at)
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with this wait
		select {
		case <-t.canceled:
			cancel(errCanceled)
		case <-stop:
		}
	}()
	ok := false
	if at == 1<<62 {
		<-ctx.Done()
	} else {
		ok = clock.wait(ctx, at)
	}
	if !ok && errors.Is(context.Cause(ctx), errCanceled) {
		p.a.mu.Lock()
		last := t.canceledEvent()
		p.a.mu.Unlock()
		p.data(p.result(last))
	}
	return ok
}

var errCanceled = errors.New("the task was cancelled")

// event writes an event as recorded: with its name, ID and comments.
func (p *playing) event(r *trace.Record, data []byte) error {
	var b bytes.Buffer
	for line := range bytes.Lines([]byte(r.Comment)) {
		b.Write(bytes.TrimSuffix(line, []byte{'\n'}))
		b.WriteByte('\n')
	}
	if r.Name != "" {
		fmt.Fprintf(&b, "event: %s\n", r.Name)
	}
	if r.LastID != "" {
		fmt.Fprintf(&b, "id: %s\n", r.LastID)
	}
	if r.Event > 0 {
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			fmt.Fprintf(&b, "data: %s\n", line)
		}
	}
	b.WriteByte('\n')
	_, err := p.body.Write(b.Bytes())
	return err
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
	if x == nil || next >= len(x.events) {
		return
	}
	p.stream(x, next, a.clock(x.events[next].at))
}
