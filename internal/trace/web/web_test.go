package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
)

// served serves a trace until the test ends, and returns what asks it.
func served(t *testing.T, path string) (get func(what string) (int, string), url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { // ends with ctx
		ended <- Serve(ctx, "127.0.0.1:0", path, func(url string) { urls <- url })
	}()
	t.Cleanup(func() {
		cancel()
		must.Fail(t, <-ended, "")
	})
	url = <-urls
	return func(what string) (int, string) {
		resp := must.Get(http.Get(url + what))(t)
		defer resp.Body.Close()
		b := must.Get(io.ReadAll(resp.Body))(t)
		must.Equal(t, resp.Header.Get("Content-Security-Policy"), policy, what)
		return resp.StatusCode, string(b)
	}, url
}

// recording is a recorded trace.
func recording(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile("../../../testdata/trace/" + name + ".jsonl"))(t)
}

func recorded(t *testing.T, name string) *trace.Reader {
	t.Helper()
	return must.Get(trace.NewReader(bytes.NewReader(recording(t, name))))(t)
}

// TestServe: who has the token gets the page and its data; rows lead to their records.
func TestServe(t *testing.T) {
	b := recording(t, "approval")
	get, url := served(t, must.File(t, string(b), t.TempDir(), "t.jsonl"))
	scripts := []string{"data.js", "json.js", "list.js", "axis.js", "detail.js", "main.js"}
	status, page := get("")
	must.True(t, status == 200 && strings.Count(page, "<script src=") == len(scripts), "the page", status, page)
	for _, name := range append([]string{"style.css"}, scripts...) {
		status, file := get(name)
		must.True(t, status == 200 && len(file) >= 1000, name, status, len(file))
	}
	// A follower is told when all has been read.
	resp := must.Get(http.Get(url + "api/live"))(t)
	defer resp.Body.Close()
	var h head
	for decoder := make([]byte, 1<<16); !h.Read; {
		n := must.Get(resp.Body.Read(decoder))(t)
		for line := range strings.Lines(string(decoder[:n])) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				must.Do(t, json.Unmarshal([]byte(data), &h))
			}
		}
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	if h.Count != len(lines) || !h.Stopped || h.Start.Version != "test" || len(h.Notes) > 0 {
		t.Errorf("the head is %+v", h)
	}
	_, body := get("api/rows?from=0&count=1000")
	var rows []struct {
		N    int64
		Name string           `json:"m"`
		Made []trace.EventRef `json:"p"`
	}
	if err := json.Unmarshal([]byte(body), &rows); err != nil || len(rows) != len(lines) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		_, line := get(fmt.Sprintf("api/record?row=%d", i))
		must.True(t, line == string(lines[i]) && strings.HasPrefix(line, fmt.Sprintf(`{"n":%d,`, r.N)), "row", i, "leads to", line)
		if r.Name == "tool_call" && (len(r.Made) != 1 || !regexp.MustCompile(fmt.Sprintf(`"x":%d,"e":%d,.*"tool_call_id":"c1"`, r.Made[0][0], r.Made[0][1])).Match(b)) {
			t.Errorf("the tool call was made of %v", r.Made)
		}
	}
	_, found := get("api/search?text=PROCEED_ONCE")
	must.True(t, regexp.MustCompile(`^\[\d+(,\d+)+\]\n$`).MatchString(found), "found are", found)
	_, spans := get("api/spans")
	must.True(t, strings.Count(spans, `"kind":"leg"`) == 2, "the spans are", spans)
	// The card lacks what A2A wants, and the page says so.
	_, problems := get("api/problems")
	must.True(t, strings.Count(problems, `"rule":"schema","weight":"error"`) == 3 && h.Problems == 4, h.Problems, "problems", problems)
	for _, none := range []string{"api/record?row=99999", "api/x", "doc.go", "page/index.html", "..%2fdoc.go"} {
		status, _ := get(none)
		must.True(t, status == 404, none, status)
	}
	for _, other := range []string{"", "x/", strings.ToLower(filepath.Base(url)) + "/"} {
		must.Equal(t, must.Get(http.Get(url[:strings.Index(url[7:], "/")+8]+other))(t).StatusCode, 403)
	}
}

// TestMany: of a trace too long for a page the first rows are shown, and how many more
// there are is told.
func TestMany(t *testing.T) {
	ix := newIndex(recorded(t, "cut"))
	ix.max = 10
	ctx, stop := context.WithCancel(t.Context())
	stop() // it ends with what there is
	if err := ix.fill(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if h := ix.head("t"); h.Count != 10 || len(ix.rows) != 10 || !strings.Contains(strings.Join(h.Notes, "\n"), "records more are not in this page, which has the first 10") {
		t.Errorf("%+v", h)
	}
	_, ok := ix.position(10)
	must.True(t, !ok, "a row is there that is not shown")
}

// contents is what is packed into a page.
type contents struct {
	Head  head
	Rows  []any
	Spans []any
	Lines string

	Problems []check.Finding
}

func unpacked(t *testing.T, page string) (all contents) {
	t.Helper()
	packed := regexp.MustCompile(`id="trace">([^<]*)<`).FindStringSubmatch(page)
	zip := must.Get(gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed[1]))))(t)
	must.Do(t, json.NewDecoder(zip).Decode(&all))
	return all
}

// TestExportLimit: a page without all bytes tells how many records lack theirs.
func TestExportLimit(t *testing.T) {
	var out bytes.Buffer
	must.Do(t, export(recorded(t, "cut"), &out, "t.jsonl", 2000))
	all := unpacked(t, out.String())
	lines := strings.Split(all.Lines, "\n")
	empty := len(lines) - len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "" }))
	if want := fmt.Sprintf("%d records are without their bytes", empty); empty == 0 || len(lines) != len(all.Rows) || !strings.Contains(strings.Join(all.Head.Notes, "\n"), want) {
		t.Errorf("%d lines of %d rows, %d empty, notes %q", len(lines), len(all.Rows), empty, all.Head.Notes)
	}
}

// TestExport: a page has everything in it: the trace, and scripts and a style whose
// hashes are in its policy.
func TestExport(t *testing.T) {
	b := recording(t, "cut")
	var out bytes.Buffer
	must.Do(t, Export(recorded(t, "cut"), &out, "<name>"))
	page := out.String()
	for _, tag := range []string{"script", "style"} {
		body := regexp.MustCompile(`(?s)<` + tag + `>(.*?)</` + tag + `>`).FindStringSubmatch(page)
		if body == nil || !strings.Contains(page, tag+"-src 'sha256-"+hashOf([]byte(body[1]))+"'") {
			t.Errorf("the policy does not allow the %s", tag)
		}
	}
	if strings.Contains(page, "src=\"") || strings.Contains(page, "href=\"") || strings.Contains(page, "<name>") || strings.Count(page, `"use strict"`) != 1 {
		t.Error("the page needs something else, or has a name as markup")
	}
	all := unpacked(t, page)
	if all.Lines+"\n" != string(b) || len(all.Rows) != bytes.Count(b, []byte("\n")) || len(all.Spans) != 4 || all.Head.File != "<name>" || len(all.Problems) != 5 || all.Head.Problems != 5 {
		t.Errorf("%d rows, %d spans, %+v", len(all.Rows), len(all.Spans), all.Head)
	}
}

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
	must.Equal(t, strings.Join(got, "\n"), strings.Join(want, "\n"))
	must.Equal(t, doc.Get("log.entries.3.timings.receive").Float(), 1000, "how many ms receiving took")
}
