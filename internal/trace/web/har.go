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
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// maxContent bounds one answer in a HAR file: browsers read the whole file into memory.
const maxContent = 16 << 20

// The types are those of HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec).
type harEntry struct {
	StartedDateTime string      `json:"startedDateTime"`
	Time            float64     `json:"time"`
	Request         harRequest  `json:"request"`
	Response        harResponse `json:"response"`
	Cache           struct{}    `json:"cache"`
	Timings         harTimings  `json:"timings"`
	Comment         string      `json:"comment,omitempty"`

	began, responded int64
	content          strings.Builder
	left             int64 // bytes left out of content
}

type harRequest struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	HTTPVersion string    `json:"httpVersion"`
	Cookies     []harPair `json:"cookies"`
	Headers     []harPair `json:"headers"`
	QueryString []harPair `json:"queryString"`
	PostData    *harPost  `json:"postData,omitempty"`
	HeadersSize int       `json:"headersSize"`
	BodySize    int64     `json:"bodySize"`
}

type harPost struct {
	MimeType string    `json:"mimeType"`
	Params   []harPair `json:"params"`
	Text     string    `json:"text"`
}

type harResponse struct {
	Status      int        `json:"status"`
	StatusText  string     `json:"statusText"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []harPair  `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Content     harContent `json:"content"`
	RedirectURL string     `json:"redirectURL"`
	HeadersSize int        `json:"headersSize"`
	BodySize    int64      `json:"bodySize"`
}

type harContent struct {
	Size     int64  `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Comment  string `json:"comment,omitempty"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// HAR writes the agent's wire as a HAR file, for the network panels of browsers and
// other HTTP tools. The events of a stream are the answer's text. The editor's wire is
// not HTTP, and is left out. Exchanges are written as they end, so that memory holds
// only the open ones.
func HAR(r *trace.Reader, w io.Writer) error {
	h := &har{w: bufio.NewWriter(w), open: map[int64]*harEntry{}}
	for record, err := range r.All() {
		if err == nil {
			err = h.record(record)
		}
		if err != nil {
			return err
		}
	}
	h.begin("")
	for _, x := range slices.Sorted(maps.Keys(h.open)) {
		if err := h.end(h.open[x], 0, "the trace ends before this does"); err != nil {
			return err
		}
	}
	fmt.Fprint(h.w, "\n]}}\n")
	return h.w.Flush()
}

type har struct {
	w     *bufio.Writer
	begun bool
	any   bool
	open  map[int64]*harEntry
}

func (h *har) begin(version string) {
	if !h.begun {
		h.begun = true
		fmt.Fprintf(h.w, `{"log":{"version":"1.2","creator":{"name":"a2astdio","version":%s},"pages":[],"entries":[`, strconv.Quote(version))
	}
}

func (h *har) record(r *trace.Record) error {
	x := h.open[r.Exchange]
	switch {
	case r.Kind == trace.KindStart:
		h.begin(r.Version)
	case r.Kind == trace.KindRequest:
		h.open[r.Exchange] = newEntry(r)
	case x == nil:
	case r.Kind == trace.KindResponse:
		x.response(r)
	case r.Kind == trace.KindEvent:
		data, whole := r.Payload()
		block := r.Block(data)
		x.add(string(block), int64(len(block)), whole)
	case r.Kind == trace.KindBody:
		b, whole := r.Payload()
		x.add(string(b), r.Length(), whole)
	case r.Kind == trace.KindEnd:
		delete(h.open, r.Exchange)
		comment := ""
		if r.Reason != trace.EndDone {
			comment = strings.TrimSpace(r.Reason + ": " + r.Error)
		}
		x.Response.BodySize = max(r.Bytes, 0)
		return h.end(x, r.Micros, comment)
	}
	return nil
}

func newEntry(r *trace.Record) *harEntry {
	b, whole := r.Payload()
	e := &harEntry{StartedDateTime: r.Time.UTC().Format(time.RFC3339Nano), began: r.Micros}
	e.Request = harRequest{Method: r.HTTP, URL: r.URL, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: pairs(r.Header),
		QueryString: []harPair{}, HeadersSize: -1, BodySize: r.Length()}
	e.Response = harResponse{HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: []harPair{}, HeadersSize: -1, BodySize: -1}
	if u, err := url.Parse(r.URL); err == nil {
		for _, name := range slices.Sorted(maps.Keys(u.Query())) {
			for _, v := range u.Query()[name] {
				e.Request.QueryString = append(e.Request.QueryString, harPair{name, v})
			}
		}
	}
	if len(b) > 0 {
		e.Request.PostData = &harPost{MimeType: headerOf(r.Header, "Content-Type"), Params: []harPair{}, Text: strings.ToValidUTF8(string(b), "\ufffd")}
		if !whole {
			e.Comment = "the request was too large to be recorded whole"
		}
	}
	return e
}

func (e *harEntry) response(r *trace.Record) {
	e.responded = r.Micros
	p := &e.Response
	p.Status, p.StatusText, p.Headers = r.Status, http.StatusText(r.Status), pairs(r.Header)
	if r.Proto != "" {
		p.HTTPVersion, e.Request.HTTPVersion = r.Proto, r.Proto
	}
	p.RedirectURL = headerOf(r.Header, "Location")
	p.Content.MimeType = headerOf(r.Header, "Content-Type")
}

func (e *harEntry) add(s string, size int64, whole bool) {
	e.Response.Content.Size += size
	if e.content.Len()+len(s) > maxContent {
		e.left += size
		return
	}
	if !whole {
		e.left += size - int64(len(s))
	}
	e.content.WriteString(s)
}

func (h *har) end(e *harEntry, at int64, comment string) error {
	e.Comment = cmp.Or(e.Comment, comment)
	at = max(at, e.responded, e.began)
	if e.responded == 0 {
		e.responded = at
	}
	e.Timings = harTimings{0, float64(e.responded-e.began) / 1000, float64(at-e.responded) / 1000}
	e.Time = e.Timings.Wait + e.Timings.Receive
	c := &e.Response.Content
	c.Text = e.content.String()
	if !utf8.ValidString(c.Text) {
		c.Text, c.Encoding = base64.StdEncoding.EncodeToString([]byte(c.Text)), "base64"
	}
	if e.left > 0 {
		c.Comment = fmt.Sprintf("%d bytes are not here: they were not recorded, or are too many", e.left)
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	h.begin("")
	if h.any {
		h.w.WriteByte(',')
	}
	h.any = true
	h.w.WriteByte('\n')
	_, err = h.w.Write(b)
	return err
}

func pairs(h map[string][]string) []harPair {
	list := []harPair{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			list = append(list, harPair{name, v})
		}
	}
	return list
}

func headerOf(h map[string][]string, name string) string {
	return http.Header(h).Get(name)
}
