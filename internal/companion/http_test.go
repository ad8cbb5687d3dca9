package companion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestGuard: nobody gets in but who has the token, is no web page, and means us.
func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, c := range []struct {
			want    string
			headers []string
		}{
			{"200", nil},
			{"200", []string{"Host", "localhost:4711"}},
			{"401", []string{"Authorization", ""}},
			{"401", []string{"Authorization", "Bearer wrong"}},
			{"401", []string{"Authorization", "Bearer the-toke"}},
			{"401", []string{"Authorization", "Bearer the-token2"}},
			{"401", []string{"Authorization", "Bearer  the-token"}},
			{"401", []string{"Authorization", "Basic the-token"}},
			{"401", []string{"Authorization", "the-token"}},
			{"403", []string{"Origin", "http://localhost:4711"}},
			{"403", []string{"Origin", "http://127.0.0.1:4711"}},
			{"403", []string{"Origin", "null"}},
			{"403", []string{"Host", "evil.example:4711"}},
			{"403", []string{"Host", "host.docker.internal:4711"}},
			{"403", []string{"Host", "localhost"}},
			{"403", []string{"Host", "127.0.0.1:4712"}},
			{"403", []string{"Host", "evil.example", "Authorization", ""}},
			{"401", []string{"Path", "/", "Authorization", ""}}, // who may not in learns nothing
			{"404", []string{"Path", "/"}},
			{"404", []string{"Path", "/mcp/"}},
			{"415", []string{"Content-Type", ""}},
			{"415", []string{"Content-Type", "text/plain"}},
			{"200", []string{"Content-Type", "application/json; charset=utf-8"}},
			{"200", []string{mcphttp.VersionHeader, "2025-11-25"}},
			{"400", []string{mcphttp.VersionHeader, "2026-07-28"}},
			{"404", []string{mcphttp.SessionHeader, "none"}},
		} {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				got, header := w.do(method, initialize, c.headers...)
				switch {
				case method == http.MethodPost && !strings.HasPrefix(got, c.want+" "):
					t.Errorf("%q: %s, want %s", c.headers, got, c.want)
				case (c.want == "401" || c.want == "403") && !strings.HasPrefix(got, c.want+" "):
					t.Errorf("%s %q: %s, want %s", method, c.headers, got, c.want)
				case c.want == "401" && header.Get("WWW-Authenticate") != "Bearer":
					t.Errorf("%s %q: nothing says what is missing", method, c.headers)
				case strings.Contains(got, testToken):
					t.Errorf("%s %q: the token is in %s", method, c.headers, got)
				}
			}
		}
		for _, method := range []string{http.MethodPut, http.MethodHead, http.MethodOptions, http.MethodPatch} {
			if got, header := w.do(method, ""); !strings.HasPrefix(got, "405 ") || header.Get("Allow") != "GET, POST, DELETE" {
				t.Errorf("%s: %s %v", method, got, header)
			}
		}
	})
}

// TestMessages: what a CLI may send in a session, and what it is answered.
func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli := w.connect()
		for _, c := range []struct{ body, want string }{
			{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `200 {"jsonrpc":"2.0","id":1,"result":{}}`},
			{`{"jsonrpc":"2.0","id":"ü","method":"ping","params":{"_meta":{}}}`, `200 {"jsonrpc":"2.0","id":"ü","result":{}}`},
			{`{"jsonrpc":"2.0","id":-1.5,"method":"ping"}`, `200 {"jsonrpc":"2.0","id":-1.5,"result":{}}`},
			{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `202 `},
			{`{"jsonrpc":"2.0","id":7,"result":{}}`, `202 `},
			{`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}`, `202 `},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `200 .*"name":"openDiff".*"name":"closeDiff"`},
			{`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, `200 .*-32601.*no method resources/list`},
			{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, `200 .*-32600.*begin a new one`},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"other","arguments":{}}}`, `200 .*-32602.*no tool other`},
			{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `200 .*-32602`},
			{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `400 .*"id":null.*-32600`},
			{`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, `400 .*-32600`},
			{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `400 .*-32600`},
			{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `400 .*-32600`},
			{`{"id":1,"method":"ping"}`, `400 .*-32600`},
			{`{"jsonrpc":"2.0"}`, `400 .*-32600`},
			{`{}`, `400 .*-32600`},
			{`null`, `400 .*-32600`},
			{`7`, `400 .*-32700`},
			{`"ping"`, `400 .*-32700`},
			{``, `400 .*-32700`},
			{`{"jsonrpc":"2.0","id":1,`, `400 .*-32700`},
			{`[]`, `400 .*-32700`},
			{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `400 .*-32700`},
		} {
			got, _ := cli.post(c.body)
			if !regexp.MustCompile(`^`+c.want).MatchString(got) || strings.HasSuffix(c.want, "}") && got != c.want {
				t.Errorf("%s: %s, want %s", c.body, got, c.want)
			}
		}
	})
}

// TestVersions: the versions of MCP that are spoken, and what others are offered.
func TestVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for asked, want := range map[string]string{
			`"2025-11-25"`: "2025-11-25", `"2025-06-18"`: "2025-06-18", `"2025-03-26"`: "2025-03-26",
			`"2024-11-05"`: "2025-11-25", `"2026-07-28"`: "2025-11-25", `"x"`: "2025-11-25", `""`: "", `7`: "", `null`: "",
		} {
			got, header := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":`+asked+`}}`)
			switch {
			case want == "" && (!strings.HasPrefix(got, "400 ") || !strings.Contains(got, "-32602") || header.Get(mcphttp.SessionHeader) != ""):
				t.Errorf("%s: %s %v", asked, got, header)
			case want != "" && (!strings.Contains(got, `"protocolVersion":"`+want+`"`) || header.Get(mcphttp.SessionHeader) == ""):
				t.Errorf("%s: %s, want %s", asked, got, want)
			}
		}
	})
}

// TestTools: the forms of the tools' results, of which the CLIs rely on each.
func TestTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli := w.connect()
		left := "left\n"
		for _, c := range []struct{ name, arguments, want string }{
			{"openDiff", `{"filePath":"/w/a","newContent":"x"}`, `{"content":[]}`},
			{"closeDiff", `{"filePath":"/w/a","suppressNotification":true}`, `{"content":[{"type":"text","text":"{\"content\":\"left\\n\"}"}]}`},
			{"closeDiff", `{"filePath":"/w/a"}`, `{"content":[{"type":"text","text":"{}"}]}`},
			{"closeDiff", `{"filePath":"/w/a","suppressNotification":null,"other":1}`, `{"content":[{"type":"text","text":"{}"}]}`},
			{"openDiff", `{"filePath":"/w/a"}`, `newContent is missing`},
			{"openDiff", `{"newContent":"x"}`, `filePath is missing`},
			{"openDiff", `{"filePath":null,"newContent":"x"}`, `filePath is missing`},
			{"openDiff", `{"filePath":7,"newContent":"x"}`, `arguments.filePath must not be a JSON number`},
			{"openDiff", `{"filePath":"a","newContent":"x"}`, `filePath must be an absolute path`},
			{"openDiff", `{"filePath":"/a\nb","newContent":"x"}`, `filePath has control characters`},
			{"openDiff", `[]`, `arguments must not be a JSON array`},
			{"closeDiff", `{}`, `filePath is missing`},
		} {
			w.editor.close = func(context.Context, CloseDiff) (CloseDiffResult, error) { return CloseDiffResult{&left}, nil }
			got := cli.tool(c.name, c.arguments)
			isError := strings.HasSuffix(got, `"isError":true}`)
			if strings.HasPrefix(c.want, "{") && got != c.want || !strings.HasPrefix(c.want, "{") && !(isError && strings.Contains(got, c.want)) {
				t.Errorf("%s %s: %s, want %s", c.name, c.arguments, got, c.want)
			}
		}
		w.editor.open = func(context.Context, OpenDiff) error { return errors.New("no window") }
		if got, _ := cli.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, "openDiff") {
			t.Errorf("tools: %s", got)
		}
		if got := cli.tool("openDiff", `{"filePath":"/w/b","newContent":"x"}`); got != `{"content":[]}` {
			t.Errorf("an editor that shows nothing: %s", got)
		}
		w.editor.open = nil
		cli.tool("openDiff", `{"filePath":"/w/b","newContent":"x"}`)
		w.editor.close = func(context.Context, CloseDiff) (CloseDiffResult, error) {
			return CloseDiffResult{}, errors.New("no window")
		}
		if got := cli.tool("closeDiff", `{"filePath":"/w/b"}`); got != `{"content":[{"type":"text","text":"no window"}],"isError":true}` {
			t.Errorf("an editor that cannot close: %s", got)
		}
		w.server.hub.noDiffs.Store(true)
		if got, _ := w.connect().post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); got != `200 {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}` {
			t.Errorf("tools of an editor without diffs: %s", got)
		}
	})
}

// TestLarge: whole files go through both ways; what is larger than the limit is
// refused, and a CLI that stops in the middle of a body is not waited for.
func TestLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli := w.connect()
		large := strings.Repeat("a line, ü <&>\n", 1<<20)[:2<<20]
		var shown string
		w.editor.open = func(_ context.Context, d OpenDiff) error {
			shown = d.NewContent
			return nil
		}
		cli.tool("openDiff", `{"filePath":"/w/a","newContent":`+quote(large)+`}`)
		if shown != large {
			t.Errorf("the editor was shown %d bytes of %d", len(shown), len(large))
		}
		say(t, w.server, MethodDiffAccepted, `{"diffId":"1","content":`+quote(large)+`}`)
		time.Sleep(time.Second)
		synctest.Wait()
		events := cli.heard()
		if want := `data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a","content":` + quote(large) + `}}`; len(events) != 2 || events[1] != want {
			t.Errorf("%d events", len(events))
		}
		if got, _ := cli.post(`"` + strings.Repeat("x", mcphttp.MaxBody)); !strings.HasPrefix(got, "413 ") {
			t.Errorf("a large body: %.80s", got)
		}
		in, out := io.Pipe()
		r := w.request(t.Context(), http.MethodPost, "", mcphttp.SessionHeader, cli.id)
		r.Body = in
		go func() { _, _ = io.WriteString(out, `{"jsonrpc"`) }() // ends with the request
		began := time.Now()
		response, err := w.client.Do(r)
		if err == nil {
			response.Body.Close()
		}
		if took := time.Since(began); took != mcphttp.BodyWait {
			t.Errorf("a body that stops was waited for %v (%v)", took, err)
		}
		in.Close()
	})
}

// TestSessionsAreBounded: one session too many is refused, until another has ended.
func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for range maxSessions {
			w.do(http.MethodPost, initialize)
		}
		if got, _ := w.do(http.MethodPost, initialize); !strings.HasPrefix(got, "503 ") {
			t.Errorf("one session too many: %s", got)
		}
		time.Sleep(idleGrace)
		synctest.Wait()
		if got, _ := w.do(http.MethodPost, initialize); !strings.HasPrefix(got, "200 ") {
			t.Errorf("after those have ended: %s", got)
		}
	})
}

// TestStrangers: connections that show no token keep no CLI out; beyond the limit those go
// that have been there longest.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli := w.connect()
		var conns []net.Conn
		for range mcphttp.MaxStrangers + 2 {
			c := must.Get(w.net.Dial(t.Context(), "", ""))(t)
			defer c.Close()
			conns = append(conns, c)
			synctest.Wait()
		}
		for i, want := range map[int]error{0: io.EOF, 1: io.EOF, 2: os.ErrDeadlineExceeded, mcphttp.MaxStrangers: os.ErrDeadlineExceeded} {
			_ = conns[i].SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := conns[i].Read(make([]byte, 1)); !errors.Is(err, want) {
				t.Errorf("connection %d: %v", i, err)
			}
		}
		if got, _ := w.do(http.MethodPost, initialize); !strings.HasPrefix(got, "200 ") {
			t.Errorf("a CLI that comes now: %s", got)
		}
		cli.tool("closeDiff", `{"filePath":"/w/a"}`)
	})
}

// FuzzPost: whatever is posted is answered well: with JSON that answers each
// request in it, or with nothing. It panics never.
func FuzzPost(f *testing.F) {
	for _, seed := range []string{initialize, `[]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"openDiff","arguments":{"filePath":"/a","newContent":""}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"closeDiff","arguments":{"filePath":"/a"}}}`} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, inSession bool) {
		h := newHub(&scriptedEditor{}, slog.New(slog.DiscardHandler))
		defer h.close()
		m := newMCPServer(h, testToken, testPort, "v0")
		r := (&world{t: t}).request(t.Context(), http.MethodPost, string(body))
		if inSession {
			begun := httptest.NewRecorder()
			m.ServeHTTP(begun, (&world{t: t}).request(t.Context(), http.MethodPost, initialize))
			r.Header.Set(mcphttp.SessionHeader, begun.Header().Get(mcphttp.SessionHeader))
		}
		recorder := httptest.NewRecorder()
		m.ServeHTTP(recorder, r)
		answer := recorder.Body.Bytes()
		switch {
		case recorder.Code == http.StatusAccepted && len(answer) == 0:
		case recorder.Code == http.StatusOK && !inSession && recorder.Header().Get(mcphttp.SessionHeader) == "":
			t.Fatalf("%q was answered outside of a session: %s", body, answer)
		case !json.Valid(answer) || !bytes.Contains(answer, []byte(`"jsonrpc":"2.0"`)):
			t.Fatalf("%q: %d %s", body, recorder.Code, answer)
		}
	})
}
