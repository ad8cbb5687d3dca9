package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// planted is a trace of a conversation with credentials at all the places where they
// turn up; each has the word hunter2 in it.
func planted(t *testing.T) string {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", "sid=hunter2-1")
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"name":"x","version":"1","protocolVersion":"0.3.0","url":"http://me:hunter2-2@%s/?token=hunter2-3","capabilities":{},"skills":[],"defaultInputModes":[],"defaultOutputModes":[]}`, r.Host)
			return
		}
		w.Header().Set("X-Zone", "hunter2-30")
		if r.Header.Get("X-Zone") != "" { // what the client has sent is repeated in each spelling
			w.WriteHeader(http.StatusBadGateway)
			if r.URL.Path != "/" {
				return
			}
			for _, secret := range unnamed {
				fmt.Fprintf(w, "<p>%s, %%68%s, &#104;%s, &#x68;%s; hunter%%2532%s</p>\n", secret, secret[1:], secret[1:], secret[1:], secret[7:])
			}
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range []string{"here is sk-hunter2", "hunter2hunter2hunter2, and ", "password=hunter2-4", "https://u:hunter2-5@h/?api_key=hunter2-6", "the header has hunter2-own"} {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"kind\":\"status-update\",\"taskId\":\"t\",\"contextId\":\"c\",\"final\":false,\"status\":{\"state\":\"working\",\"message\":{\"kind\":\"message\",\"messageId\":\"m\",\"role\":\"agent\",\"parts\":[{\"kind\":\"text\",\"text\":%q}]}}}}\n\n", text)
		}
	}))
	defer agent.Close()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	r, err := trace.Create(path, &trace.Options{Header: http.Header{"X-Gateway": {"hunter2-own"}}, Mode: "bridge"})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: r.Wrap(http.DefaultTransport)}
	r.Tap(false, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"c","args":["--key=hunter2-7"],"env":[{"name":"K","value":"hunter2-8"}]},{"type":"http","name":"b","url":"https://h/?sig=hunter2-9","headers":[{"name":"X","value":"hunter2-10"}]}]}}`))
	r.Tap(false, []byte(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"use hunter2-own, or Authorization: Bearer hunter2-11"}],"_meta":{"apiKey":"hunter2-12"}}}`))
	for _, q := range []struct{ verb, body string }{{"GET", ""},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"u","role":"user","parts":[{"kind":"text","text":"token: hunter2-13"}]},"configuration":{"pushNotificationConfig":{"url":"https://me/hook/hunter2-14","token":"hunter2-15","authentication":{"schemes":["Bearer"],"credentials":"hunter2-16"}}}}}`},
		{"POST", `{"jsonrpc":"2.0","id":2,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"t","pushNotificationConfig":{"url":"https://me/hook/hunter2-17"}}}`}} {
		path := "/.well-known/agent-card.json"
		if q.body != "" {
			path = "/"
		}
		req, err := http.NewRequest(q.verb, agent.URL+path+"?key=hunter2-18", strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer hunter2-19")
		req.Header.Set("X-Gateway", "hunter2-own")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	plantUnnamed(t, client, agent.URL)
	r.Decide(&trace.Decision{What: trace.DecideLost, Why: "http://me:hunter2-20@h/?token=hunter2-21: gone"})
	r.Tap(true, []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"curl -H 'Authorization: Bearer hunter2-22'","rawInput":{"password":"hunter2-23"}}}}`))
	r.Tap(true, []byte(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// unnamed are credentials under names that no list knows.
var unnamed = []string{"hunter2-31", "hunter2-32", "hunter2-33", "hunter2-34", "hunter2-35", "hunter2-36", "hunter2-37", "hunter2-38", "hunter2-39", "hunter2-40", "hunter2-41"}

// plantUnnamed sends credentials in a header, a query with and without a name, a path, a
// form, and settings.
func plantUnnamed(t *testing.T, client *http.Client, agent string) {
	t.Helper()
	for _, q := range []struct{ path, media, body string }{
		{"/v9/hunter2-31/tasks?zone=hunter2-32&hunter2-33", "application/x-www-form-urlencoded", "zone=hunter2-34"},
		{"/message", "text/plain", "hunter2-39"},
		{"/unknown", "application/json", `{"zone":"hunter2-40","gates":{"a":["hunter2-41"]}}`},
		{"/", "application/json", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"u","role":"user","parts":[],"metadata":` +
			`{"coderAgent":{"kind":"agent-settings","workspacePath":"/w","zone":"hunter2-35","mcp_servers":{"a":{"zone":"hunter2-36","url":"https://h/hunter2-37/mcp"}}}}}}}`},
	} {
		req, err := http.NewRequest("POST", agent+q.path, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", q.media)
		req.Header.Set("X-Zone", "hunter2-38")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// TestPlantedSecrets: what is a credential is in no trace, and in nothing that is
// made of one: timelines, findings, exports, and the page, with all that it asks for.
func TestPlantedSecrets(t *testing.T) {
	path := planted(t)
	texts := map[string]string{}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts["the trace"] = string(b)
	for _, args := range [][]string{{"show"}, {"show", "-o", "json"}, {"check"}, {"export", "--har"}, {"export", "--html"}, {"export", "--redact"}} {
		name := strings.Join(args, " ")
		status, out, stderr := runMain("", append(append([]string{"trace"}, args...), path)...)
		if status != 0 && args[0] != "check" || len(out) < 200 {
			t.Errorf("%s: status %d, %d bytes, %s", name, status, len(out), stderr)
		}
		texts[name], texts[name+", on stderr"] = out, stderr
		for inner, text := range unpacked(t, out) {
			texts[name+", "+inner] = text
		}
	}
	if len(texts) < 14 {
		t.Errorf("only %d texts were looked at", len(texts))
	}
	url, _ := background(t, "trace", "serve", path)
	get := func(what string) string {
		resp, err := http.Get(url + what)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 200 {
			t.Errorf("%s: %d", what, resp.StatusCode)
		}
		return string(b)
	}
	for live, read := bufio.NewReader(follow(t, url+"api/live")), false; !read; { // until it has read the file
		line, err := live.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		read = strings.Contains(line, `"read":true`)
	}
	texts["rows"], texts["spans"] = get("api/rows?from=0&count=1000"), get("api/spans")
	for i := range strings.Count(string(b), "\n") {
		texts[fmt.Sprintf("row %d", i)] = get(fmt.Sprintf("api/record?row=%d", i))
	}
	for name, text := range texts {
		for _, text := range []string{text, html.UnescapeString(text), strings.NewReplacer("%2532", "2", "%32", "2", "%68", "h").Replace(text)} {
			if i := strings.Index(text, "hunter2"); i >= 0 {
				t.Errorf("%s has a credential: …%s…", name, text[max(0, i-80):min(len(text), i+40)])
			}
		}
	}
}

// follow opens a stream.
func follow(t *testing.T, url string) io.Reader {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp.Body
}

// unpacked is what is compressed in an export.
func unpacked(t *testing.T, out string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if m := regexp.MustCompile(`id="trace">([^<]*)<`).FindStringSubmatch(out); m != nil {
		packed, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r)
		all["the page's trace"] = string(b)
	}
	return all
}
