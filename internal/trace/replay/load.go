package replay

import (
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
)

// maxKept bounds the requests that are kept for comparison. Of larger ones only the
// method counts.
const maxKept = 256 << 10

// An exchange is a recorded request, and the position of its answer in the file.
type exchange struct {
	n       int64
	at      int64 // microseconds
	http    string
	path    string
	method  string // JSON-RPC's, or ""
	id      string
	request []byte // nil: it was too large
	masked  bool

	status    int
	header    map[string][]string
	stream    bool
	responded int64 // when the head came
	events    []timed
	body      *trace.Position
	bodySize  int64
	reason    string

	used int // how often it was played
}

type timed struct {
	at   int64
	data bool
	lost bool // it was too large to be recorded
	pos  trace.Position
}

// recorded is the agent's side of a trace.
type recorded struct {
	file      *trace.File
	exchanges []*exchange
	card      []byte
	notes     []string
}

// load reads the agent's wire. It keeps requests, and the positions of answers.
func load(path string) (*recorded, error) {
	r, err := trace.Open(path, nil)
	if err != nil {
		return nil, err
	}
	rec := &recorded{file: r.File()}
	if err := rec.read(r); err != nil {
		rec.file.Close()
		return nil, err
	}
	return rec, nil
}

// read reads the agent's wire.
func (rec *recorded) read(r *trace.Reader) error {
	byX := map[int64]*exchange{}
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case record.Kind == trace.KindStart && record.Redact:
			return errors.New("trace: it was recorded with --trace-redact, so there is nothing to play")
		case record.Kind == trace.KindStart:
			clear(byX) // another run numbers its exchanges anew
		case record.Kind == trace.KindRequest:
			x := newExchange(record)
			rec.exchanges = append(rec.exchanges, x)
			byX[record.Exchange] = x
		case byX[record.Exchange] != nil:
			rec.answer(byX[record.Exchange], record, r.Position())
		}
	}
	rec.notes = r.Notes()
	if len(rec.exchanges) == 0 {
		return errors.New("trace: it has no request to an agent")
	}
	return nil
}

func newExchange(r *trace.Record) *exchange {
	x := &exchange{n: r.Exchange, at: r.Micros, http: r.HTTP, method: r.Method, id: string(r.ID), masked: r.Masked}
	if u, err := url.Parse(r.URL); err == nil {
		x.path = u.Path
	}
	if b, whole := r.Payload(); whole && len(b) <= maxKept {
		x.request = append([]byte{}, b...)
	}
	return x
}

// answer takes a record of an exchange's answer.
func (rec *recorded) answer(x *exchange, r *trace.Record, at trace.Position) {
	switch r.Kind {
	case trace.KindResponse:
		x.status, x.header, x.responded = r.Status, r.Header, r.Micros
	case trace.KindEvent:
		x.stream = true
		x.events = append(x.events, timed{at: r.Micros, data: r.Event > 0, lost: r.SHA256 != "", pos: at})
	case trace.KindBody:
		x.body, x.bodySize = &at, r.Size
		if b, whole := r.Payload(); x.http == "GET" && whole && card.IsCard(b) && rec.card == nil {
			rec.card = append([]byte{}, b...)
		}
	case trace.KindEnd:
		x.reason = r.Reason
	}
}

// agentURL is where the agent was.
func (rec *recorded) agentURL() string {
	c := gjson.ParseBytes(rec.card)
	for _, path := range []string{"url", "supportedInterfaces.0.url"} {
		if u := c.Get(path).Str; u != "" {
			return u
		}
	}
	return ""
}

func (x *exchange) String() string {
	if x.method != "" {
		return fmt.Sprintf("%s (exchange %d)", x.method, x.n)
	}
	return fmt.Sprintf("%s %s (exchange %d)", x.http, x.path, x.n)
}
