package export

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/tracetest"
)

// conversation is the trace of a transcript with secrets, each with the word hunter2,
// and with a trace context.
func conversation(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/trace/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer(`"text":"edit"`, `"text":"edit with sk-hunter2hunter2hunter2"`, `"session/prompt","params":{`, `"session/prompt","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b"},`,
		`"input_parameters":{`, `"input_parameters":{"password":"hunter2",`).Replace(string(b))
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) { tracetest.Play(t, script, &out, nil) })
	return out.Bytes()
}

// TestNoSecrets: no export has a secret.
func TestNoSecrets(t *testing.T) {
	b := conversation(t, "approval")
	for name, export := range map[string]func(*trace.Reader, io.Writer) error{"har": HAR, "otlp": OTLP, "acp": ACP, "transcript": Transcript} {
		var out bytes.Buffer
		if err := export(reader(t, b), &out); err != nil || out.Len() < 500 {
			t.Errorf("%s: %d bytes, %v", name, out.Len(), err)
		}
		if strings.Contains(out.String(), "hunter2") {
			t.Errorf("%s has a secret", name)
		}
	}
}

// TestHAR: each exchange is an entry, with the stream as it was, and how it ended.
func TestHAR(t *testing.T) {
	var out bytes.Buffer
	if err := HAR(reader(t, conversation(t, "cut")), &out); err != nil {
		t.Fatal(err)
	}
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

// TestOTLP: a conversation is a trace, in its prompt's context, and a turn's events are
// below it.
func TestOTLP(t *testing.T) {
	for _, name := range []string{"approval", "cut", "lines-hello"} {
		var out bytes.Buffer
		if err := OTLP(reader(t, conversation(t, name)), &out); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []otlpSpan }
			}
		}
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		byID := map[string]string{"b7ad6b7169203331": "the caller"}
		var got []string
		for _, s := range doc.ResourceSpans[0].ScopeSpans[0].Spans {
			byID[s.SpanID] = s.Name
			got = append(got, fmt.Sprintf("%s < %s %d", s.Name, byID[s.ParentID], s.Status.Code))
			if len(s.TraceID) != 32 || len(s.SpanID) != 16 || s.Start > s.End || len(s.Start) < 18 {
				t.Errorf("%+v", s)
			}
			if name != "lines-hello" && (s.TraceID != "0af7651916cd43dd8448eb211c80319c" || s.TraceState != "a=b") {
				t.Errorf("%s is in the trace %s, %s", s.Name, s.TraceID, s.TraceState)
			}
		}
		want := map[string][]string{
			"approval":    {"invoke_agent fake < the caller 0", "message/stream < invoke_agent fake 0", "execute_tool write_file: a.txt < invoke_agent fake 0", "approval < invoke_agent fake 0", "message/stream < invoke_agent fake 0"},
			"cut":         {"invoke_agent fake < the caller 0", "message/stream < invoke_agent fake 2", "reconnect < invoke_agent fake 0", "tasks/resubscribe < invoke_agent fake 0"},
			"lines-hello": {"invoke_agent fake <  0", "message/stream < invoke_agent fake 0"},
		}[name]
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: the spans are\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestACP: the editor's messages are requests, responses and notifications, with
// their sessions.
func TestACP(t *testing.T) {
	var out bytes.Buffer
	if err := ACP(reader(t, conversation(t, "approval")), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		e := gjson.Parse(line)
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s>%s %s %s %s", e.Get("type").Str, e.Get("from").Str, e.Get("to").Str, e.Get("id").Raw, e.Get("method").Str, e.Get("session").Str)))
		if e.Get("type").Str == "response" == e.Get("params").Exists() || e.Get("ts").Type != gjson.Number || e.Get("type").Str == "response" != e.Get("is_error").Exists() {
			t.Errorf("%s", line)
		}
	}
	want := []string{"request Client>Agent 0 initialize", "response Agent>Client 0", "request Client>Agent 1 session/new", "response Agent>Client 1", "request Client>Agent 2 session/prompt id-1",
		"notification Agent>Client  session/update id-1", "notification Agent>Client  session/update id-1", "request Agent>Client 1 session/request_permission id-1", "response Client>Agent 1",
		"notification Agent>Client  session/update id-1", "notification Agent>Client  session/update id-1", "notification Agent>Client  session/update id-1", "response Agent>Client 2"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the events are\n%s", strings.Join(got, "\n"))
	}
}

// TestBundle: a bundle has the trace without texts, and its origin.
func TestBundle(t *testing.T) {
	for _, texts := range []bool{false, true} {
		var out bytes.Buffer
		if err := Bundle(reader(t, conversation(t, "approval")), &out, &BundleOptions{Version: "v9", Texts: texts}); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = string(b)
			if strings.Contains(string(b), "hunter2") {
				t.Errorf("%s has a secret", f.Name)
			}
			if has := strings.Contains(string(b), "one\\n") || strings.Contains(string(b), "Done."); has && !texts {
				t.Errorf("%s has what was said: %s", f.Name, b)
			}
		}
		for name, want := range map[string]string{"trace.jsonl": `"toolCallId":"c1"`, "timeline.txt": "E──▶B     session/prompt", "figures.txt": "Tool calls", "versions.json": `"version": "v9"`, "card.json": `"name":"fake"`, "README.txt": "Credentials are masked"} {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s has no %s: %s", name, want, files[name])
			}
		}
		if strings.Contains(files["trace.jsonl"], `"redact":true`) == texts {
			t.Error("the trace does not say whether it has the texts")
		}
		if got := tracetest.Lines(t, []byte(files["trace.jsonl"])); len(got) < 20 || got[len(got)-1].Kind != trace.KindStop {
			t.Errorf("%d records", len(got))
		}
	}
}
