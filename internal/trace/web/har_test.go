package web

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestHAR: each exchange is an entry, with the stream as it was, and how it ended.
func TestHAR(t *testing.T) {
	var out bytes.Buffer
	must.Do(t, HAR(recorded(t, "cut"), &out))
	doc := gjson.ParseBytes(out.Bytes())
	if !gjson.ValidBytes(out.Bytes()) || doc.Get("log.version").Str != "1.2" {
		t.Fatalf("this is no HAR: %s", out.String())
	}
	var got []string
	doc.Get("log.entries").ForEach(func(_, e gjson.Result) bool {
		got = append(got, fmt.Sprintf("%s %s %d %s %d %s", e.Get("request.method").Str, gjson.Get(e.Get("request.postData.text").Str, "method").Str, e.Get("response.status").Int(),
			e.Get("response.content.mimeType").Str, strings.Count(e.Get("response.content.text").Str, "data: "), e.Get("comment").Str))
		return true
	})
	want := []string{"GET  200 application/json 0 ", "POST message/stream 200 text/event-stream 3 cut: unexpected EOF", "POST tasks/get 200 application/json 0 ", "POST tasks/resubscribe 200 text/event-stream 3 "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the entries are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if ms := doc.Get("log.entries.3.timings.receive").Float(); ms != 1000 {
		t.Errorf("receiving took %v ms", ms)
	}
}
