package web

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// maxContent bounds one answer in a HAR file: browsers read the whole file into memory.
const maxContent = 16 << 20

// An object is one of HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec).
type object = map[string]any

// A harEntry is an exchange that has not ended.
type harEntry struct {
	comment           string
	started           time.Time
	request, response object

	began, responded int64
	content          strings.Builder
	size             int64
}

// HAR writes the agent's wire as a HAR file, for the network panels of browsers and
// other HTTP tools. The events of a stream are the answer's text. The editor's wire is
// not HTTP, and is left out. Exchanges are written as they end, so that memory holds
// only the open ones.
func HAR(r *trace.Reader, w io.Writer) error {
	h := &har{w: bufio.NewWriter(w), open: map[int64]*harEntry{}}
	for record, err := range r.All() {
		if err != nil {
			return err
		}
		h.record(record)
	}
	for _, x := range slices.Sorted(maps.Keys(h.open)) {
		h.end(h.open[x], 0, "the trace ends before this does")
	}
	h.begin("")
	fmt.Fprint(h.w, "\n]}}\n")
	return h.w.Flush()
}

type har struct {
	w    *bufio.Writer // keeps the first error
	lead string        // what precedes the next entry; "" before the beginning
	open map[int64]*harEntry
}

// begin writes the beginning, once. The first record of a trace has the version.
func (h *har) begin(version string) {
	if h.lead == "" {
		quoted, _ := json.Marshal(version) // a string always encodes
		fmt.Fprintf(h.w, `{"log":{"version":"1.2","creator":{"name":"a2astdio","version":%s},"pages":[],"entries":[`, quoted)
		h.lead = "\n"
	}
}

func (h *har) record(r *trace.Record) {
	h.begin(r.Version)
	x := h.open[r.Exchange]
	payload, _ := r.Payload()
	switch {
	case r.Kind == trace.KindRequest:
		h.open[r.Exchange] = newEntry(r)
	case x == nil:
	case r.Kind == trace.KindResponse:
		x.answered(r)
	case r.Kind == trace.KindEvent:
		block := r.Block(payload)
		x.add(block, int64(len(block)-len(payload))+r.Length())
	case r.Kind == trace.KindBody:
		x.add(payload, r.Length())
	case r.Kind == trace.KindEnd:
		delete(h.open, r.Exchange)
		comment := ""
		if r.Reason != trace.EndDone {
			comment = strings.TrimSpace(r.Reason + ": " + r.Error)
		}
		x.response["bodySize"] = max(r.Bytes, 0)
		h.end(x, r.Micros, comment)
	}
}

func newEntry(r *trace.Record) *harEntry {
	b, whole := r.Payload()
	query := []object{}
	if u, err := url.Parse(r.URL); err == nil {
		query = pairs(u.Query())
	}
	e := &harEntry{started: r.Time.UTC(), began: r.Micros}
	e.request = object{"method": r.HTTP, "url": r.URL, "httpVersion": "HTTP/1.1", "cookies": []object{}, "headers": pairs(r.Header),
		"queryString": query, "headersSize": -1, "bodySize": r.Length()}
	e.response = object{"status": 0, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": []object{}, "headers": []object{},
		"redirectURL": "", "headersSize": -1, "bodySize": -1}
	if len(b) > 0 {
		e.request["postData"] = object{"mimeType": r.HeaderOf("Content-Type"), "params": []object{}, "text": strings.ToValidUTF8(string(b), "\ufffd")}
	}
	if !whole {
		e.comment = "the request was too large to be recorded whole"
	}
	return e
}

func (e *harEntry) answered(r *trace.Record) {
	e.responded = r.Micros
	p := e.response
	p["status"], p["statusText"], p["headers"] = r.Status, http.StatusText(r.Status), pairs(r.Header)
	p["redirectURL"], p["content"] = r.HeaderOf("Location"), object{"mimeType": r.HeaderOf("Content-Type")}
	if r.Proto != "" {
		p["httpVersion"], e.request["httpVersion"] = r.Proto, r.Proto
	}
}

// add adds to the content what was recorded of the next size bytes of the answer.
func (e *harEntry) add(b []byte, size int64) {
	if e.size += size; e.content.Len()+len(b) <= maxContent {
		e.content.Write(b)
	}
}

// end writes an entry, which ended at a time in microseconds, 0 for an unknown one.
func (h *har) end(e *harEntry, at int64, comment string) {
	at = max(at, e.responded, e.began)
	if e.responded == 0 {
		e.responded = at
	}
	content, ok := e.response["content"].(object)
	if !ok {
		content = object{"mimeType": ""}
	}
	text := e.content.String()
	if content["size"], content["text"] = e.size, text; !utf8.ValidString(text) {
		content["text"], content["encoding"] = base64.StdEncoding.EncodeToString([]byte(text)), "base64"
	}
	if left := e.size - int64(len(text)); left > 0 {
		content["comment"] = fmt.Sprintf("%d bytes are not here: they were not recorded, or are too many", left)
	}
	e.response["content"] = content
	wait, receive := float64(e.responded-e.began)/1000, float64(at-e.responded)/1000
	b, _ := json.Marshal(object{"startedDateTime": e.started.Format(time.RFC3339Nano), "time": wait + receive, "request": e.request, "response": e.response,
		"cache": object{}, "timings": object{"send": 0, "wait": wait, "receive": receive}, "comment": cmp.Or(e.comment, comment)}) // all of it can be encoded
	fmt.Fprintf(h.w, "%s%s", h.lead, b)
	h.lead = ",\n"
}

func pairs(h map[string][]string) []object {
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			list = append(list, object{"name": name, "value": v})
		}
	}
	return list
}
