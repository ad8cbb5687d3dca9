package trace

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

// requestHead and responseHead are what precedes the bodies.
type requestHead struct {
	method string
	url    *url.URL
	header http.Header
}

type responseHead struct {
	status int
	proto  string
	header http.Header
}

// An ending is how the wire saw an exchange end: see [Record.Reason] and [Record.Error].
type ending struct{ reason, text string }

// An exchange is a request and its response, as far as they were recorded.
type exchange struct {
	n            int64
	began        time.Time
	head         *requestHead
	wroteRequest bool // the request has its record
	id           string
	mode         mode // how its documents are masked: push, where it is about push notifications
	mayBeCard    bool // it may ask for a card
	compressed   bool // the answer has a Content-Encoding: nothing can be found and masked in it

	request, body pieces
	sse           *sse // nil: no stream
	tail          textTail
	events, bytes int64
}

// agentItem takes an item of the agent's wire.
func (w *worker) agentItem(it *item, b []byte) {
	x := w.open[it.x]
	if it.kind == itemRequest {
		x = &exchange{n: it.x, began: it.at, head: it.more.(*requestHead)}
		x.request.limit, x.body.limit = w.enc.limit, w.enc.limit
		w.open[it.x] = x
	}
	if x == nil {
		return // it has ended
	}
	switch it.kind {
	case itemRequestBody:
		x.request.add(b)
	case itemSent:
		w.request(x, it.at)
	case itemResponse:
		w.request(x, it.at) // an agent may answer before it has read the whole request
		w.response(x, it.at, it.more.(*responseHead))
	case itemBody:
		x.bytes += int64(len(b))
		if x.sse == nil {
			x.body.add(b)
			break
		}
		x.sse.add(b, func(ev *sseEvent) { w.event(x, it.at, ev) })
	case itemEnd:
		w.end(x, it.at, it.more.(*ending))
	}
}

// request records the request at its end, or when something comes before that.
func (w *worker) request(x *exchange, at time.Time) {
	if x.wroteRequest {
		return
	}
	x.wroteRequest = true
	w.enc.mask.noteRequest(x.head)
	p := x.request.trimmed()
	l := w.enc.outline(p, nil)
	if l.valid {
		x.id = string(p.b[l.id.from:l.id.to])
	}
	w.begin(at, WireAgent, DirOut, KindRequest)
	w.number("x", x.n)
	w.raw("id", x.id)
	method := string(p.b[l.method.from:l.method.to])
	if strings.Contains(method, "ushNotificationConfig") || strings.Contains(x.head.url.Path, "ushNotificationConfig") {
		x.mode = modePush
	}
	x.mayBeCard = x.head.method == http.MethodGet || strings.Contains(method, "Card")
	w.raw("method", method)
	w.text("http", x.head.method)
	address := w.enc.mask.address(x.head.url)
	w.buf = rawjson.AppendField(w.buf, "url", address)
	w.header(x.head.header)
	w.enc.mask.fromClient = true
	switch media, _, _ := mime.ParseMediaType(x.head.header.Get("Content-Type")); {
	case p.long:
	case media == "application/x-www-form-urlencoded":
		w.enc.mask.noteForm(string(p.b))
		p = p.recordedAs(w.enc.mask.form(string(p.b)))
		l = w.enc.outline(p, nil)
	case len(p.b) > 0 && !l.valid && !looksJSON(p.b): // none of A2A's, and without names
		w.enc.mask.noteSecret(string(p.b), false)
		p = p.recordedAs(stars)
	}
	mode := x.mode
	if path, _, _ := strings.Cut(address, "?"); mode == modeOpen && method == "" && strings.HasSuffix(path, "/"+stars) {
		mode = modeSettings // a call that is none of A2A's: its members are unknown, too
	}
	w.buf = w.enc.payload(w.buf, p, &l, nil, mode)
	w.enc.mask.fromClient = false
	w.finish()
	x.request = pieces{}
}

func (w *worker) header(h http.Header) {
	if len(h) == 0 {
		return
	}
	if b, err := json.Marshal(w.enc.mask.header(h)); err == nil {
		w.member("header")
		w.buf = append(w.buf, b...)
	}
}

func (w *worker) response(x *exchange, at time.Time, h *responseHead) {
	w.begin(at, WireAgent, DirIn, KindResponse)
	w.number("x", x.n)
	w.number("status", int64(h.status))
	w.text("proto", h.proto)
	w.header(h.header)
	w.number("took", at.Sub(x.began).Microseconds())
	w.finish()
	encoding := h.header.Get("Content-Encoding")
	x.compressed = encoding != "" && !strings.EqualFold(encoding, "identity")
	if media, _, _ := mime.ParseMediaType(h.header.Get("Content-Type")); media == "text/event-stream" && !x.compressed {
		x.sse = newSSE(w.enc.limit)
	}
}

func (w *worker) event(x *exchange, at time.Time, ev *sseEvent) {
	l := w.enc.outline(ev.data, &x.tail)
	w.begin(at, WireAgent, DirIn, KindEvent)
	w.number("x", x.n)
	if ev.hasData {
		x.events++
		w.number("e", x.events)
		w.seen.comes(ev.data, &l, EventRef{x.n, x.events})
	}
	w.text("name", ev.name)
	w.text("last_id", ev.id)
	if w.enc.mask.redact {
		ev.comment = sizeMark(ev.comment)
	}
	w.text("comment", ev.comment)
	w.buf = w.enc.payload(w.buf, ev.data, &l, &x.tail, x.mode)
	if !ev.whole {
		w.text("error", "the stream ended within this event")
	}
	w.finish()
}

// end records the rest, and the end. A stream that was closed behind its last event is done,
// and one that ended before it is not, whatever the wire saw.
func (w *worker) end(x *exchange, at time.Time, e *ending) {
	w.request(x, at)
	delete(w.open, x.n)
	reason := e.reason
	switch {
	case x.sse != nil:
		cut := x.sse.end(func(ev *sseEvent) { w.event(x, at, ev) })
		last, failed := event.OfPayload(gjson.ParseBytes(x.sse.last)) // it tells how the exchange ends
		over, known := failed || last.MayEndStream() && last.State != "auth-required", failed || last.Kind != ""
		switch {
		case over && reason != EndOpen:
			reason = EndDone // nobody wanted the rest
		case cut:
			reason = EndCut
		case reason == EndDone && known:
			reason = EndEOF
		}
	case x.body.size > 0:
		p := x.body.trimmed()
		if x.compressed {
			p = p.recordedAs(stars)
		}
		l := w.enc.outline(p, nil)
		w.begin(at, WireAgent, DirIn, KindBody)
		w.number("x", x.n)
		w.seen.comes(p, &l, EventRef{x.n, 0})
		if x.mayBeCard {
			w.enc.mask.noteCard(p.b)
		}
		if l.valid {
			w.raw("id", x.id)
		}
		w.buf = w.enc.payload(w.buf, p, &l, nil, x.mode)
		w.finish()
	}
	w.begin(at, WireAgent, DirIn, KindEnd)
	w.number("x", x.n)
	w.text("reason", reason)
	if reason != EndDone || x.sse != nil { // who has closed a stream that was done
		w.text("error", e.text)
	}
	w.number("bytes", x.bytes)
	w.number("took", at.Sub(x.began).Microseconds())
	w.finish()
}
