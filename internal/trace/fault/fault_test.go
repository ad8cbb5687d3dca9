package fault

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

const stream = "data: 1\n\n: ping\n\nid: 2\ndata: 2\n\ndata: 3\r\n\r\n"

// TestFaults: each fault is what it says, for the requests that it is for.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		faults string
		want   []string // the bodies, or errors, of requests to m, m and n
	}{
		{"", []string{stream, stream, stream}},
		{"cut-after=12", []string{stream[:12] + "!cut", stream, stream}},
		{"cut-after=0", []string{"!cut", stream, stream}},
		{"cut-after=2events", []string{stream[:32] + "!cut", stream, stream}},
		{"cut-after=12@n", []string{stream, stream, stream[:12] + "!cut"}},
		{"cut-after=12*0", []string{stream[:12] + "!cut", stream[:12] + "!cut", stream[:12] + "!cut"}},
		{"cut-after=12*1@m", []string{stream[:12] + "!cut", stream, stream}},
		{"cut-after=1event@m*2", []string{stream[:9] + "!cut", stream[:9] + "!cut", stream}},
		{"status=503", []string{"503 ", stream, stream}},
		{"status=429*2 cut-after=9@n", []string{"429 ", "429 ", stream[:9] + "!cut"}},
	} {
		plan := must.Get(Parse(strings.Fields(test.faults)))(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			set := plan.Take(r.URL.Path[1:])
			if set.Status != 0 {
				w.WriteHeader(set.Status)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			resp := &http.Response{Header: w.Header(), Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(stream)))}
			set.Apply(resp)
			if _, err := io.Copy(w, resp.Body); err != nil {
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		}))
		for i, method := range []string{"m", "m", "n"} {
			must.Equal(t, ask(server.URL+"/"+method), test.want[i], test.faults, "request", i)
		}
		server.Close()
	}
}

// An answer of one line is not kept whole, and is one event however long it is.
func TestLongLine(t *testing.T) {
	plan := must.Get(Parse([]string{"cut-after=1event"}))(t)
	line := "data: " + strings.Repeat("data:x", 1<<16) + "\n\n"
	body := strings.NewReader(line + line)
	resp := &http.Response{Header: http.Header{"Content-Type": {"Text/Event-Stream; charset=utf-8"}}, Body: io.NopCloser(body)}
	plan.Take("m").Apply(resp)
	n, err := resp.Body.Read(make([]byte, 1))
	must.True(t, n == 1 && err == nil && body.Len() >= len(line), n, err, body.Len(), "bytes are left")
	rest, err := io.ReadAll(resp.Body)
	must.True(t, string(rest) == line[1:] && err == errCut, len(rest), err)
}

// The request for a card uses nothing up, unless a fault names it.
func TestCardIsNotCounted(t *testing.T) {
	const card = "GET /.well-known/agent-card.json"
	plan := must.Get(Parse([]string{"cut-after=3events", "status=404@" + card}))(t)
	set := plan.Take(card)
	must.True(t, set.Status == 404 && set.events < 0, "the card has", set)
	set = plan.Take("message/stream")
	must.True(t, set.Status == 0 && set.events == 3, "the stream has", set)
}

func ask(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		return "!cut"
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return string(b) + "!cut"
	case resp.StatusCode != 200:
		return resp.Status[:4] + string(b)
	}
	return string(b)
}

// TestParse: what is no fault is told, with what there is.
func TestParse(t *testing.T) {
	for _, bad := range []string{"", "x", "cut-after", "cut-after=-1", "cut-after=x", "cut-after=1*x", "cut-after=1*-2", "delay=1s", "status=503events", "status=99", "status=x"} {
		_, err := Parse([]string{bad})
		must.Fail(t, err, "cut-after=500", bad)
	}
}
