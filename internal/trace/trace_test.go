package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func records(t *testing.T, b []byte) []record {
	t.Helper()
	var all []record
	for line := range bytes.Lines(b) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

// TestNoSecrets plants credentials wherever a conversation can hold one. Each
// contains the word hunter2.
func TestNoSecrets(t *testing.T) {
	const own = "hunter2-own-token" // what --header gave
	request := `{"jsonrpc":"2.0","method":"message/stream","params":{"message":{"parts":[{"kind":"text","text":"use ` + own + ` please"}],` +
		`"metadata":{"coderAgent":{"workspacePath":"/w","mcpServers":[{"name":"a","env":[{"name":"X","value":"hunter2-1"}],"headers":{"name":"hunter2-2"},"args":["--key","hunter2-3"]}]},` +
		`"x":{"mcp_servers":{"b":{"env":{"KEY":"hunter2-4","LIST":["hunter2-5",{"name":"n","value":"hunter2-6"}]}}}}}},` +
		`"configuration":{"pushNotificationConfig":{"token":"hunter2-7","authentication":{"schemes":["Bearer"],"credentials":"hunter2-8"}}}}}`
	answer := `{"access_token":"hunter2-9","a":{"to\u006ben":"hunter2-10"},"Password":12345678,"secrets":["hunter2-11",{"deep":["hunter2-12"]}],` +
		`"url":"https://u:hunter2-13@host/p?api_key=hunter2-14&x=1","slash":"https:\/\/u:hunter2-15@host\/",` +
		`"said":"Authorization: Bearer hunter2-16-abcdef","h":[{"name":"X-Api-Key","value":"hunter2-17"}],` +
		`"text":"{\"client_secret\":\"hunter2-18\"}","jwt":"eyJhbGciOi.eyJzdWIiOi.hunter2-19","apiKey":"hunter2-20"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", "s=hunter2-21")
		w.Header().Set("X-Echo", own)
		w.Header().Set("Location", "/?token=hunter2-22")
		switch r.URL.Path {
		case "/sse":
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			fmt.Fprintf(w, ": password=hunter2-23\n\nid: %s\nevent: message\ndata: %s\r\n\r\ndata: token: hunter2-24\n\ndata: {\"token\":\"hunter2-25", own, answer)
		case "/form":
			w.WriteHeader(401)
			fmt.Fprintf(w, "grant_type=x&client_secret=hunter2-26&refresh_token=hunter2-27\nauthorization: bearer hunter2")
		default:
			io.WriteString(w, answer)
		}
	}))
	defer server.Close()

	var out bytes.Buffer
	w := New(&out, &Options{Header: http.Header{"X-Gateway": {own}, "X-Env": {"dev"}, "X-Auth": {"Bearer hunter2-28-mine"}}, Secrets: []string{"hunter2-29-mine"}, Limit: 1200})
	client := &http.Client{Transport: w.Wrap(server.Client().Transport)}
	for _, path := range []string{"/", "/sse", "/form"} {
		req, err := http.NewRequest("POST", server.URL+path+"?key=hunter2-30&sig=hunter2-31", strings.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "X-API-Key", "X-Goog-Api-Key", "X-Amz-Security-Token", "X-Env"} {
			req.Header.Set(name, "hunter2-32")
		}
		req.Header.Set("X-Gateway", own)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	_, err := client.Get("http://u:hunter2-33@127.0.0.1:1/?access_token=hunter2-34")
	if err == nil {
		t.Fatal("port 1 answers")
	}
	w.Tap(false, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[`+
		`{"type":"http","name":"keep-name","url":"https://x/?token=hunter2-35","headers":[{"name":"Keep-Header","value":"hunter2-36"}]},`+
		`{"name":"c","command":"keep-command","args":["hunter2-37"],"env":[{"value":"hunter2-38","name":"KEEP_ENV"}]}]}}`))
	w.Tap(false, []byte(`not JSON: api_key = "hunter2-39", and hunter2-28-mine, hunter2-29-mine`))
	w.Tap(true, []byte(`[ERROR] password=hunter2-40`))
	w.Tap(true, []byte(`{"mcpServers":[{"env":[{"name":"X","value":"hunter2-41`)) // cut off
	w.Tap(true, []byte(strings.Repeat("x", 1200-7)+own))                          // cut within

	if i := bytes.Index(out.Bytes(), []byte("hunter2")); i >= 0 {
		t.Errorf("a credential is in the trace: …%s…", out.Bytes()[max(0, i-80):min(out.Len(), i+40)])
	}
	if bytes.Contains(out.Bytes(), []byte("12345678")) {
		t.Error("a number that is a password is in the trace")
	}
	for _, keep := range []string{"keep-name", "Keep-Header", "keep-command", "KEEP_ENV", "message/stream", "use *** please"} {
		if !bytes.Contains(out.Bytes(), []byte(keep)) {
			t.Errorf("%s is not in the trace", keep)
		}
	}
	records(t, out.Bytes())
}

// TestUntouched: what is no credential is recorded byte for byte.
func TestUntouched(t *testing.T) {
	for _, line := range []string{
		`{"promptTokenCount":12,"maxTokens":1e3,"tokens":[1.0],"x":"a<b>&\u00e9 = c","nextPageToken":"p","text":"Basic understanding: a=b"}`,
		`{"securitySchemes":{"apiKey":{"type":"apiKey","in":"header","name":"X-API-Key"}},"security":[{"apiKey":[]}]}`,
		`{"mcpServers":[{"name":"n","command":"c","url":"https://h/p?x=1"}]}`, `[]`, `"s"`, `-0.0`,
	} {
		var out bytes.Buffer
		New(&out, nil).Tap(false, []byte(line))
		if !strings.Contains(out.String(), `"message":`+line+"}") {
			t.Errorf("%s\nbecomes %s", line, out.String())
		}
	}
}

// TestStreamPasses: an event is handed on, and recorded, before the next one
// exists.
func TestStreamPasses(t *testing.T) {
	next := make(chan string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for s := range next {
			io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	out := new(locked)
	w := New(out, &Options{Limit: 64})
	resp, err := (&http.Client{Transport: w.Wrap(server.Client().Transport)}).Get(server.URL)
	if err == nil {
		defer resp.Body.Close()
	} else {
		t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	for i := range 3 {
		next <- fmt.Sprintf("data: {\"n\":%d}\n\n", i)
		for range 2 {
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(out.String(), fmt.Sprintf(`"message":{"n":%d}`, i)) {
			t.Fatalf("event %d is not recorded: %s", i, out)
		}
	}
	next <- "data: " + strings.Repeat("x", 1000) + "\n\n"
	close(next)
	if n, err := io.Copy(io.Discard, lines); n != 1008 || err != nil {
		t.Fatal(n, err)
	}
	all := records(t, []byte(out.String()))
	if r := all[len(all)-2]; r.Cut != 1007-64 || len(r.Text) != 64-len("data: ") {
		t.Errorf("a long event is recorded as %+v", r)
	}
	if r := all[len(all)-1]; r.Event != "end" || r.Bytes == 0 || r.Error != "" {
		t.Errorf("the end is recorded as %+v", r)
	}
}

// TestChunking: how the bytes arrive makes no difference.
func TestChunking(t *testing.T) {
	const stream = "\n: ping\n\ndata: 1\ndata: 2\r\n\r\nevent: x\rdata: 3\r\rdata: 4"
	want := []string{": ping\n", "data: 1\ndata: 2\n", "event: x\ndata: 3\n", "data: 4"}
	for size := 1; size <= len(stream); size++ {
		var got []string
		s := &sse{block: seen{limit: 100}, event: func(b []byte, cut int64, whole bool) { got = append(got, string(b)) }}
		for chunk := range slices.Chunk([]byte(stream), size) {
			s.add(chunk)
		}
		s.end()
		if !slices.Equal(got, want) {
			t.Errorf("in chunks of %d: %q", size, got)
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, &Options{Version: "v", Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	w.Tap(false, []byte("{}"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Tap(false, []byte("{}"))
	b, err := os.ReadFile(path)
	want := `{"t":"1970-01-01T00:00:00Z","wire":"bridge","event":"start","format":1,"version":"v"}
{"t":"1970-01-01T00:00:00Z","wire":"editor","dir":"in","message":{}}
`
	if err != nil || string(b) != want {
		t.Errorf("%s%v", b, err)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := Create(filepath.Join(path, "x"), nil); err == nil {
		t.Error("a file below a file")
	}
}

type broken struct{ n int }

func (b *broken) Write(p []byte) (int, error) { b.n++; return 0, errors.New("no space left") }

// TestBroken: an error of the file ends the trace only.
func TestBroken(t *testing.T) {
	out := new(broken)
	w := New(out, nil)
	w.Tap(false, []byte("{}"))
	if out.n != 1 {
		t.Errorf("%d writes", out.n)
	}
}

func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"token":"x","a":[{"b":"\u0041"}]}`), []byte("secret-literal"))
	f.Add([]byte(`{"a":"secret-`), []byte("secret-"))
	f.Fuzz(func(t *testing.T, doc, literal []byte) {
		m := newMasker(nil, []string{string(literal)})
		got := m.json(doc)
		if json.Valid(doc) && !json.Valid(got) {
			t.Errorf("%q becomes %q, which is no JSON", doc, got)
		}
		// The law: whatever is a credential by name is gone.
		plant, err := json.Marshal(map[string]any{"doc": string(doc), "token": "hunter2-planted"})
		if err != nil {
			return
		}
		if bytes.Contains(m.json(plant), []byte("hunter2-planted")) && !bytes.Contains(doc, []byte("hunter2")) {
			t.Errorf("a token is left: %q", m.json(plant))
		}
	})
}

type locked struct {
	sync.Mutex
	b bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) { l.Lock(); defer l.Unlock(); return l.b.Write(p) }
func (l *locked) String() string              { l.Lock(); defer l.Unlock(); return l.b.String() }
