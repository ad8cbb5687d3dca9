package trace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// schemaOf compiles the trace's own schema.
func schemaOf(t testing.TB) *jsonschema.Schema {
	t.Helper()
	return must.Get(jsonschema.NewCompiler().Compile("../../testdata/schema/trace.schema.json"))(t)
}

// records reads a correct trace: its lines fit the schema, their numbers have no gap,
// their times never decrease.
func records(t testing.TB, b []byte) []Record {
	t.Helper()
	schema := schemaOf(t)
	var all []Record
	for line := range bytes.Lines(b) {
		var r Record
		must.Do(t, json.Unmarshal(line, &r))
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if n := len(all); n > 0 && all[n-1].N > 0 && (r.N != all[n-1].N+1 || r.Micros < all[n-1].Micros) {
			t.Errorf("record %d, at %d, follows %d, at %d", r.N, r.Micros, all[n-1].N, all[n-1].Micros)
		}
		all = append(all, r)
	}
	return all
}

func of(all []Record, kind string) []Record {
	return slices.DeleteFunc(slices.Clone(all), func(r Record) bool { return r.Kind != kind })
}

// serveOnce answers each request with what answer writes.
func serveOnce(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server
}

// TestNoSecrets plants credentials wherever a conversation can hold one. Each
// contains the word hunter2.
func TestNoSecrets(t *testing.T) {
	const own = "hunter2-own-token" // what --header gave
	request := `{"jsonrpc":"2.0","method":"message/stream","params":{"message":{"parts":[{"kind":"text","text":"use ` + own + ` please"}],` +
		`"metadata":{"coderAgent":{"workspacePath":"/w","mcpServers":[{"name":"a","env":[{"name":"X","value":"hunter2-1"}],"headers":{"name":"hunter2-2"},"args":["--key","hunter2-3"]}]},` +
		`"x":{"mcp_servers":{"b":{"env":{"KEY":"hunter2-4","LIST":["hunter2-5",{"name":"n","value":"hunter2-6"}]}}}}}},` +
		`"configuration":{"pushNotificationConfig":{"url":"https://me/hunter2-hook","token":"hunter2-7","authentication":{"schemes":["Bearer"],"credentials":"hunter2-8"}}}}}`
	answer := `{"access_token":"hunter2-9","a":{"to\u006ben":"hunter2-10"},"Password":12345678,"secrets":["hunter2-11",{"deep":["hunter2-12"]}],` +
		`"url":"https://u:hunter2-13@host/p?api_key=hunter2-14&x=1","slash":"https:\/\/u:hunter2-15@host\/",` +
		`"said":"Authorization: Bearer hunter2-16-abcdef","h":[{"name":"X-Api-Key","value":"hunter2-17"}],` +
		`"text":"{\"client_secret\":\"hunter2-18\"}","jwt":"eyJhbGciOi.eyJzdWIiOi.hunter2-19","apiKey":"hunter2-20"}`
	server := serveOnce(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", "s=hunter2-21")
		w.Header().Set("X-Echo", own)
		w.Header().Set("Location", "/?token=hunter2-22")
		switch r.URL.Path {
		case "/sse":
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			fmt.Fprintf(w, ": password=hunter2-23\n\nid: %s\nevent: message\ndata: %s\r\n\r\ndata: token: hunter2-24\n\ndata: {\"token\":\"hunter2-25", own, answer)
		case "/split": // in two events, and in two fields that a text goes on in
			w.Header().Set("Content-Type", "text/event-stream")
			for _, piece := range []string{"it is hunter2-", "own-token, and the password: ", "hunter2-50", " but sk-hunter2", "hunter2hunter2hunter2."} {
				fmt.Fprintf(w, "data: {\"result\":{\"parts\":[{\"text\":%q}]}}\n\n", piece)
			}
		case "/form":
			w.WriteHeader(401)
			fmt.Fprintf(w, "grant_type=x&client_secret=hunter2-26&refresh_token=hunter2-27\nauthorization: bearer hunter2")
		case "/large":
			io.WriteString(w, strings.Repeat("x", 4090)+" token=hunter2-51 "+strings.Repeat("x", 90<<10))
		default:
			io.WriteString(w, answer)
		}
	})
	var out bytes.Buffer
	r := New(&out, &Options{Header: http.Header{"X-Gateway": {own}, "X-Env": {"dev"}, "X-Auth": {"Bearer hunter2-28-mine"}}, Secrets: []string{"hunter2-29-mine"}, Limit: 6000})
	client := &http.Client{Transport: r.Wrap(server.Client().Transport)}
	for _, path := range []string{"/", "/sse", "/split", "/form", "/large"} {
		req := must.Get(http.NewRequest("POST", server.URL+path+"?key=hunter2-30&sig=hunter2-31", strings.NewReader(request)))(t)
		for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "X-API-Key", "X-Goog-Api-Key", "X-Amz-Security-Token", "X-Env"} {
			req.Header.Set(name, "hunter2-32")
		}
		req.Header.Set("X-Gateway", own)
		resp := must.Get(client.Do(req))(t)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if _, err := client.Get("http://u:hunter2-33@127.0.0.1:1/?access_token=hunter2-34"); err == nil {
		t.Fatal("port 1 answers")
	}
	r.Tap(false, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[`+
		`{"type":"http","name":"keep-name","url":"https://x/?token=hunter2-35","headers":[{"name":"Keep-Header","value":"hunter2-36"}]},`+
		`{"name":"c","command":"keep-command","args":["hunter2-37"],"env":[{"value":"hunter2-38","name":"KEEP_ENV"}]}]}}`))
	r.Tap(false, []byte(`not JSON: api_key = "hunter2-39", and hunter2-28-mine, hunter2-29-mine`))
	r.Tap(true, []byte(`[ERROR] password=hunter2-40`))
	r.Tap(true, []byte(`{"mcpServers":[{"env":[{"name":"X","value":"hunter2-41`)) // cut off
	r.Tap(true, []byte(`{"id":5,"method":"CreateTaskPushNotificationConfig","params":{"url":"https://me/hunter2-42"}}`))
	r.Tap(false, []byte(`{"id":5,"result":{"url":"https://me/hunter2-43"}}`)) // its answer
	for _, piece := range []string{"hunt", "er2-", "own", "-token"} {
		r.Tap(true, fmt.Appendf(nil, `{"method":"session/update","params":{"sessionId":"s","update":{"content":{"text":%q}}}}`, piece))
	}
	r.Stderr([]byte("DEBUG token: hunter2-44"))
	r.Decide(&Decision{What: DecideReconnect, Why: "https://u:hunter2-45@h/ is not there"})
	must.Do(t, r.Close())

	i := bytes.Index(out.Bytes(), []byte("hunter2"))
	must.True(t, i < 0, "a credential is in the trace", out.Bytes()[max(0, i-80):min(out.Len(), i+40)])
	must.Equal(t, bytes.Contains(out.Bytes(), []byte("12345678")), false, "a number that is a password is in the trace")
	for _, keep := range []string{"keep-name", "Keep-Header", "keep-command", "KEEP_ENV", "message/stream", "use *** please"} {
		must.Equal(t, bytes.Contains(out.Bytes(), []byte(keep)), true, keep)
	}
	var split string
	for _, record := range of(records(t, out.Bytes()), KindMessage) {
		var update struct {
			Params struct {
				Update struct{ Content struct{ Text string } }
			}
		}
		json.Unmarshal(record.JSON, &update)
		split += update.Params.Update.Content.Text
	}
	if strings.Contains(split, "er2") || strings.Contains(split, "own") {
		t.Errorf("a credential in pieces is recorded as %q", split)
	}
}

// TestBytes: all but credentials is recorded byte for byte. JSON that cannot stand in a
// line, and other bytes, are recorded as text.
func TestBytes(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{`{"a":"<b>&\u00e9", "n" : 1.0e3}`, `"json":{"a":"<b>&\u00e9", "n" : 1.0e3}`},
		{`[]`, `"json":[]`},
		{"{\"a\":\n1}", `"text":"{\"a\":\n1}"`},
		{`{"a":1`, `"text":"{\"a\":1"`},
		{"caf\xe9", `"base64":"Y2Fm6Q=="`},
		{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), `"text":"[[`},
		{``, `"kind":"message"}`},
	} {
		var out bytes.Buffer
		r := New(&out, &Options{})
		r.Tap(false, []byte(test.line))
		r.Close()
		must.Has(t, out.String(), test.want)
		records(t, out.Bytes())
	}
}

// TestLarge: a payload beyond the limit has its length and its beginning,
// however it arrives; with a higher limit all of it.
func TestLarge(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":7,"method":"m","params":"` + strings.Repeat("é", 400<<10) + `"}`
	server := serveOnce(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: "+long+"\n\n")
	})
	for _, limit := range []int{0, 1 << 10, 4 << 20} {
		var out bytes.Buffer
		r := New(&out, &Options{Limit: limit})
		r.Tap(false, []byte(long))
		resp := must.Get((&http.Client{Transport: r.Wrap(http.DefaultTransport)}).Post(server.URL, "application/json", strings.NewReader(long)))(t)
		must.Equal(t, must.Get(io.Copy(io.Discard, resp.Body))(t), int64(len(long)+8))
		r.Close()
		all := records(t, out.Bytes())
		for _, kind := range []string{KindMessage, KindRequest, KindEvent} {
			got := of(all, kind)[0]
			if limit != 1<<10 {
				if string(got.JSON) != long || got.Size != 0 {
					t.Errorf("limit %d: %s is not recorded whole", limit, kind)
				}
				continue
			}
			if got.Size != int64(len(long)) || !strings.HasPrefix(long, strings.TrimSuffix(got.Head, "\ufffd")) || len(got.Head) < min(headSize, limit)-2 || len(got.Head) > headSize {
				t.Errorf("limit %d: %s is recorded as %d bytes, beginning with %d bytes", limit, kind, got.Size, len(got.Head))
			}
		}
		m := of(all, KindMessage)[0]
		must.True(t, m.Method == "m" && string(m.ID) == "7", "a long line has", m.Method, m.ID)
	}
}

// TestStream: an event is handed on before the next one exists, and is on the disk a
// moment later.
func TestStream(t *testing.T) {
	next := make(chan string)
	server := serveOnce(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for s := range next {
			io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
	})
	out := &watched{changed: make(chan struct{}, 100)}
	r := New(out, &Options{})
	resp := must.Get((&http.Client{Transport: r.Wrap(http.DefaultTransport)}).Get(server.URL))(t)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		next <- fmt.Sprintf(": ping\nid: %d\ndata: {\"n\":%d}\n\n", i, i)
		for range 4 {
			must.Get(lines.ReadString('\n'))(t)
		}
		for want := fmt.Sprintf(`"e":%d,"last_id":"%d","comment":": ping","json":{"n":%d}`, i+1, i, i); !strings.Contains(out.String(), want); {
			<-out.changed // it comes, or the test's own limit does
		}
	}
	close(next)
	io.Copy(io.Discard, lines)
	r.Close()
	end := of(records(t, []byte(out.String())), KindEnd)[0]
	must.True(t, end.Reason == EndDone && end.Bytes != 0, "the end is recorded as", end)
}

// TestEnds: an exchange has the reason of its end.
func TestEnds(t *testing.T) {
	const working = `data: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n"
	for _, test := range []struct {
		name, sent string
		cut        bool                                     // the agent cuts it
		end        func(io.Closer, context.CancelCauseFunc) // what we do after the first byte
		want, text string
	}{
		{name: "0.3, final", sent: `data: {"id":1,"result":{"kind":"status-update","status":{"state":"input-required"},"final":true}}` + "\n\n", want: EndDone},
		{name: "final, and given up", sent: `data: {"id":1,"result":{"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED"}}}}` + "\n\n",
			end: func(c io.Closer, cancel context.CancelCauseFunc) { cancel(nil) }, want: EndDone},
		{name: "an error", sent: `data: {"id":1,"error":{"code":-32001,"message":"x"}}` + "\n\n", want: EndDone},
		{name: "a message", sent: `data: {"id":1,"result":{"message":{"messageId":"m","parts":[]}}}` + "\n\n", want: EndDone},
		{name: "something else", sent: "data: {}\n\n", want: EndDone},
		{name: "no end was said", sent: working, want: EndEOF},
		{name: "cut", sent: working, cut: true, want: EndCut, text: "unexpected EOF"},
		{name: "cut in an event", sent: working + "data: {\"id\"", want: EndCut},
		{name: "closed", sent: working, end: func(c io.Closer, _ context.CancelCauseFunc) { c.Close() }, want: EndClosed},
		{name: "given up", sent: working, end: func(_ io.Closer, cancel context.CancelCauseFunc) { cancel(errors.New("the user has left")) },
			want: EndCanceled, text: "the user has left"},
		{name: "left open", sent: working, end: func(io.Closer, context.CancelCauseFunc) {}, want: EndOpen},
	} {
		t.Run(test.name, func(t *testing.T) {
			release := make(chan struct{})
			server := serveOnce(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, test.sent)
				w.(http.Flusher).Flush()
				if test.end != nil {
					<-release
				}
				if test.cut {
					panic(http.ErrAbortHandler)
				}
			})
			var out bytes.Buffer
			r := New(&out, &Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			req := must.Get(http.NewRequestWithContext(ctx, "POST", server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"m"}`)))(t)
			resp := must.Get((&http.Client{Transport: r.Wrap(http.DefaultTransport)}).Do(req))(t)
			defer resp.Body.Close()
			body := bufio.NewReader(resp.Body)
			must.Get(body.ReadString('\n'))(t)
			if test.end != nil {
				test.end(resp.Body, cancel)
			}
			if test.want != EndOpen {
				io.Copy(io.Discard, body)
			}
			r.Close()
			close(release)
			end := of(records(t, out.Bytes()), KindEnd)[0]
			if end.Reason != test.want || !strings.Contains(end.Error, test.text) {
				t.Errorf("the end is %q, %q, want %q", end.Reason, end.Error, test.want)
			}
		})
	}
}

// TestOpenRequest: a request that is still being sent when the trace is closed is in it, as far as
// it was sent.
func TestOpenRequest(t *testing.T) {
	var out bytes.Buffer
	r := New(&out, &Options{})
	left, right := io.Pipe()
	defer right.Close()
	next := sending(func(req *http.Request) (*http.Response, error) {
		must.Get(req.Body.Read(make([]byte, 2)))(t)
		must.Do(t, r.Close())
		return nil, io.EOF
	})
	go right.Write([]byte("{}")) // ends when it is read
	_, _ = r.Wrap(next).RoundTrip(must.Get(http.NewRequest("POST", "http://agent/", left))(t))
	all := records(t, out.Bytes())
	request := of(all, KindRequest)
	must.True(t, len(request) == 1 && string(request[0].JSON) == "{}" && len(of(all, KindEnd)) == 1, "the records are", &out)
}

type sending func(*http.Request) (*http.Response, error)

func (f sending) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Times have six digits, as the schema says, also if the last ones are zeros.
func TestRedactedTime(t *testing.T) {
	r := must.Get(NewReader(strings.NewReader(head(Format, "a"))))(t)
	var out strings.Builder
	must.Do(t, WriteRedacted(r, &out))
	must.Equal(t, strings.HasPrefix(out.String(), `{"n":1,"t":"2026-01-02T03:04:05.000000Z","us":0`), true, out.String())
}
