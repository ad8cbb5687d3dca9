package companion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestLarge: whole files go through both ways; what is larger than the limit is
// refused, and a CLI that stops in the middle of a body is not waited for.
func TestLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli := w.connect()
		large := strings.Repeat("a line, ü <&>\n", 1<<20)[:2<<20]
		cli.tool("openDiff", `{"filePath":"/w/a","newContent":`+quote(large)+`}`)
		must.Equal(t, w.editor.heard(), []string{"ide/openDiff 1 /w/a " + quote(large)})
		say(t, w.server, MethodDiffAccepted, `{"diffId":"1","content":`+quote(large)+`}`)
		time.Sleep(time.Second)
		synctest.Wait()
		events := cli.heard()
		if want := `data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a","content":` + quote(large) + `}}`; len(events) != 2 || events[1] != want {
			t.Errorf("%d events", len(events))
		}
		got, _ := cli.post(`"` + strings.Repeat("x", mcphttp.MaxBody))
		must.True(t, strings.HasPrefix(got, "413 "), "a large body", got)
		in, out := io.Pipe()
		r := w.request(t.Context(), http.MethodPost, "", mcphttp.SessionHeader, cli.id)
		r.Body = in
		go func() { _, _ = io.WriteString(out, `{"jsonrpc"`) }() // ends with the request
		began := time.Now()
		response, err := w.client.Do(r)
		if err == nil {
			response.Body.Close()
		}
		must.Equal(t, time.Since(began), mcphttp.BodyWait, "how long a body that stops is waited for", err)
		in.Close()
	})
}

// TestBounds: one session or diff too many is refused, a session until another has ended.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli := w.connect()
		for range maxSessions - 1 {
			w.do(http.MethodPost, initialize)
		}
		got, _ := w.do(http.MethodPost, initialize)
		must.True(t, strings.HasPrefix(got, "503 "), "one session too many", got)
		time.Sleep(idleGrace)
		synctest.Wait()
		got, _ = w.do(http.MethodPost, initialize)
		must.True(t, strings.HasPrefix(got, "200 "), "after those have ended", got)
		for i := range maxDiffs + 1 {
			got := cli.tool("openDiff", fmt.Sprintf(`{"filePath":"/w/%d","newContent":""}`, i))
			must.Equal(t, strings.Contains(got, "too many diffs"), i == maxDiffs, i, got)
		}
		must.Equal(t, len(w.editor.heard()), maxDiffs, "how often the editor was asked")
		got = cli.tool("openDiff", `{"filePath":"/w/0","newContent":"x"}`)
		must.True(t, !strings.Contains(got, "too many diffs"), "a diff in the place of another of the same file", got)
		if err := w.server.hub.openDiff(t.Context(), nil, "/w/a", "x"); err == nil {
			t.Error("a session that has ended opened a diff")
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
			_, err := conns[i].Read(make([]byte, 1))
			must.True(t, errors.Is(err, want), "connection", i, err)
		}
		got, _ := w.do(http.MethodPost, initialize)
		must.True(t, strings.HasPrefix(got, "200 "), "a CLI that comes now", got)
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
