package fault

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
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
		{"reset", []string{"!reset", stream, stream}},
		{"reset=5", []string{"!reset", stream, stream}},
		{"drop=2", []string{"data: 1\n\n: ping\n\ndata: 3\r\n\r\n", "data: 1\n\n: ping\n\ndata: 3\r\n\r\n", "data: 1\n\n: ping\n\ndata: 3\r\n\r\n"}},
		{"dup=1*1@m", []string{"data: 1\n\n" + stream, stream, stream}},
		{"dup=1@m*1", []string{"data: 1\n\n" + stream, stream, stream}},
		{"status=503", []string{"503 ", stream, stream}},
		{"delay=1ms", []string{stream, stream, stream}},
		{"status=429*2 drop=1@n", []string{"429 ", "429 ", stream[9:]}},
	} {
		plan, err := Parse(strings.Fields(test.faults))
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f := plan.For(r.URL.Path[1:])
			if !f.Begin(r.Context(), w) {
				return
			}
			b := NewBody(r.Context(), w, f, true)
			for _, c := range []byte(stream) { // byte by byte
				b.Write([]byte{c})
			}
			b.Close()
		}))
		for i, method := range []string{"m", "m", "n"} {
			if got := ask(server.URL + "/" + method); got != test.want[i] {
				t.Errorf("%s: request %d gets %q, want %q", test.faults, i, got, test.want[i])
			}
		}
		server.Close()
	}
}

// The request for a card uses nothing up, unless a fault names it.
func TestCardIsNotCounted(t *testing.T) {
	const card = "GET /.well-known/agent-card.json"
	plan, err := Parse([]string{"cut-after=3events", "status=404@" + card})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := plan.For(card).limit(true); n >= 0 {
		t.Error("the card is cut")
	}
	if n, _ := plan.For("message/stream").limit(true); n != 3 {
		t.Errorf("the stream is cut after %d events", n)
	}
	if plan, err = Parse([]string{"status=404@" + card}); err != nil || plan.For(card).Status() != 404 {
		t.Error("a fault that names the card's request is not for it", err)
	}
}

func ask(url string) string {
	resp, err := http.Get(url)
	if errors.Is(err, syscall.ECONNRESET) {
		return "!reset"
	}
	if err != nil {
		return "!cut"
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		return "!reset"
	case err != nil:
		return string(b) + "!cut"
	case resp.StatusCode != 200:
		return resp.Status[:4] + string(b)
	}
	return string(b)
}

// TestParse: what is no fault is told, with what there is.
func TestParse(t *testing.T) {
	for _, bad := range []string{"", "x", "cut-after", "cut-after=-1", "cut-after=x", "drop", "drop=0", "delay=1", "delay=-1s", "status=99", "status=x", "reset=x", "drop=1*x", "drop=1*-2"} {
		if _, err := Parse([]string{bad}); err == nil || !strings.Contains(err.Error(), "cut-after=500") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
