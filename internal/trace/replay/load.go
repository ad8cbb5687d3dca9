package replay

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
)

// An exchange is a recorded request, and the position of its answer in the file.
type exchange struct {
	request
	n     int64
	began int64 // in microseconds since the trace began, as all times

	status    int // 0: no response was recorded
	header    map[string][]string
	responded int64 // when the head came
	events    []trace.Position
	body      *trace.Position // nil: none, or a stream
	reason    string          // of its end; "" if the trace has none

	played bool
}

func (a *Agent) read(r *trace.Reader) error {
	byX := map[int64]*exchange{}
	for record, err := range r.All() {
		switch {
		case err != nil:
			return err
		case record.Kind == trace.KindStart && record.Redact:
			return errors.New("trace: it was recorded with --trace-redact, so there is nothing to play")
		case record.Kind == trace.KindStart:
			clear(byX) // another run numbers its exchanges anew
		case record.Kind == trace.KindRequest:
			x := newExchange(record)
			a.exchanges = append(a.exchanges, x)
			byX[record.Exchange] = x
		case byX[record.Exchange] != nil:
			a.answer(byX[record.Exchange], record, r.Position())
		}
	}
	if len(a.exchanges) == 0 {
		return errors.New("trace: it has no request to an agent")
	}
	return nil
}

func newExchange(r *trace.Record) *exchange {
	x := &exchange{n: r.Exchange, began: r.Micros}
	b, whole := r.Payload()
	if !whole {
		b = nil
	}
	x.request = newRequest(r.HTTP, r.Path(), r.Method, b)
	return x
}

// answer takes a record of an exchange's answer.
func (a *Agent) answer(x *exchange, r *trace.Record, at trace.Position) {
	switch r.Kind {
	case trace.KindResponse:
		x.status, x.header, x.responded = r.Status, r.Header, r.Micros
	case trace.KindEvent:
		x.events = append(x.events, at)
	case trace.KindBody:
		x.body = &at
		if b, whole := r.Payload(); x.method == "" && whole && card.IsCard(b) && a.recCard == nil {
			a.recCard = bytes.Clone(b)
		}
	case trace.KindEnd:
		x.reason = r.Reason
	}
}

func (x *exchange) String() string { return fmt.Sprintf("%s (exchange %d)", x.shown, x.n) }
