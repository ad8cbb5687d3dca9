package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// front puts a proxy in front of an agent, until the test ends.
func front(t *testing.T, opts *Options) (url string) {
	t.Helper()
	if opts.Transport == nil {
		opts.Transport = &http.Transport{DisableCompression: true}
	}
	p := must.Get(New(opts))(t)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.At(server.URL + "/")
	return server.URL
}

func get(t *testing.T, url string, header ...string) (int, http.Header, string) {
	t.Helper()
	req := must.Get(http.NewRequest("GET", url, nil))(t)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, resp.Header, string(b)
}

// TestCard: all URLs of a card lead to the proxy, except foreign ones, and the card
// promises nothing that the proxy does not do.
func TestCard(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		card := fmt.Sprintf(`{"name":"a","capabilities":{},"supportedInterfaces":[{"url":"http://%s/base/rpc?t=1","protocolBinding":"JSONRPC"},{"url":"http://elsewhere.invalid/","protocolBinding":"JSONRPC"}],"signatures":[{"protected":"p"}]}`, r.Host)
		switch {
		case r.URL.Path == "/base/.well-known/agent-card.json" && r.Header.Get("If-None-Match") == "":
			io.WriteString(w, card)
		case r.URL.Path == "/base/rpc":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, card)
		default:
			http.NotFound(w, r)
		}
	}))
	defer agent.Close()
	var notes []string
	url := front(t, &Options{Agent: agent.URL + "/base", Note: func(n string) { notes = append(notes, n) }})

	for _, path := range []string{"/.well-known/agent-card.json", "/base/.well-known/agent-card.json"} {
		status, header, body := get(t, url+path, "If-None-Match", `"1"`)
		card := gjson.Parse(body)
		if status != 200 || header.Get("Etag") != "" || card.Get("signatures").Exists() || len(card.Get("supportedInterfaces").Array()) != 1 ||
			card.Get("supportedInterfaces.0.url").Str != url+"/base/rpc?t=1" {
			t.Errorf("%s: %d %v %s", path, status, header, body)
		}
	}
	resp := must.Get(http.Post(url+"/base/rpc", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`)))(t)
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if u := gjson.GetBytes(b, "result.supportedInterfaces.0.url").Str; u != url+"/base/rpc?t=1" || !gjson.ValidBytes(b) {
		t.Errorf("the extended card is %s", b)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "elsewhere.invalid") || !strings.Contains(notes[1], "signature is left out") {
		t.Errorf("the notes are %q", notes)
	}
}

// TestPasses: requests and answers pass unchanged, with no credentials but the given
// ones. Streams pass without delay, a cut is a cut, and a client's end reaches the
// agent.
func TestPasses(t *testing.T) {
	next, left := make(chan string), make(chan struct{})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Answer", "yes")
			w.WriteHeader(402)
			fmt.Fprintf(w, "%s %s %s %s|%s|%s|%s", r.Method, r.URL, r.Host, r.Header.Get("Authorization"), r.Header.Get("Accept-Encoding"), r.Header.Get("X-Forwarded-For"), body)
		case "/redirect":
			http.Redirect(w, r, "http://"+r.Host+"/there?x", http.StatusTemporaryRedirect)
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			for {
				select {
				case s, ok := <-next:
					if !ok {
						panic(http.ErrAbortHandler)
					}
					io.WriteString(w, s)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					close(left)
					return
				}
			}
		}
	}))
	defer agent.Close()
	host := strings.TrimPrefix(agent.URL, "http://")
	url := front(t, &Options{Agent: agent.URL})
	req := must.Get(http.NewRequest("PUT", url+"/echo?a=%2F", strings.NewReader("body")))(t)
	req.Header.Set("Authorization", "theirs")
	resp := must.Get(http.DefaultClient.Do(req))(t)
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	want := "PUT /echo?a=%2F " + host + " theirs||" + "|body"
	must.True(t, resp.StatusCode == 402 && resp.Header.Get("X-Answer") == "yes" && string(b) == want, resp.StatusCode, b, want)
	own := front(t, &Options{Agent: agent.URL, Header: http.Header{"Authorization": {"ours"}}})
	_, _, body := get(t, own+"/echo")
	must.Has(t, body, " ours|")
	noRedirect := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp = must.Get(noRedirect.Get(url + "/redirect"))(t)
	must.Equal(t, resp.Header.Get("Location"), url+"/there?x")
	resp.Body.Close()

	ctx, cancel := context.WithCancel(t.Context())
	req = must.Get(http.NewRequestWithContext(ctx, "GET", url+"/stream", nil))(t)
	resp = must.Get(http.DefaultClient.Do(req))(t)
	lines := bufio.NewReader(resp.Body)
	for range 3 {
		next <- "data: x\n\n"
		must.Equal(t, must.Get(lines.ReadString('\n'))(t), "data: x\n")
		lines.ReadString('\n')
	}
	cancel()
	<-left // or the test's own limit says that it hangs
	resp.Body.Close()

	resp = must.Get(http.Get(url + "/stream"))(t)
	next <- "data: y\n\n"
	close(next)
	b, err := io.ReadAll(resp.Body)
	must.True(t, err != nil && string(b) == "data: y\n\n", "a cut stream is", string(b), err)
	resp.Body.Close()
}

// TestWrong: a missing agent is reported, and options that mean nothing are refused.
func TestWrong(t *testing.T) {
	var notes []string
	url := front(t, &Options{Agent: "http://127.0.0.1:1", Note: func(n string) { notes = append(notes, n) }})
	status, _, body := get(t, url)
	must.True(t, status == 502 && strings.Contains(body, "the agent has not answered") && len(notes) == 1, status, body, notes)
	for _, bad := range []*Options{{Agent: "nowhere"}, {Card: []byte(`{}`)}} {
		_, err := New(bad)
		must.True(t, err != nil, bad, "is taken")
	}
}

// TestRawRequests: what could lead past the proxy does not reach the agent unchanged. A
// broken request is the client's fault, not the agent's.
func TestRawRequests(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, fmt.Sprintf("%s %s %q %s|%s %v", r.Method, r.URL, body, r.Header.Get("Connection"), r.Header.Get("Upgrade"), err != nil))
		mu.Unlock()
	}))
	defer agent.Close()
	var notes []string
	url := front(t, &Options{Agent: agent.URL, Note: func(n string) { notes = append(notes, n) }})
	host := strings.TrimPrefix(url, "http://")
	for _, test := range []struct{ request, answer, agent string }{
		{"GET /a HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", "200 OK", `GET /a "" | false`},
		{"GET /b HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", "200 OK", `GET /b "" | false`},
		{"CONNECT " + host + " HTTP/1.1\r\n", "405 Method Not Allowed", ""},
		{"GET http://elsewhere.example/c HTTP/1.0\r\n", "200 OK", `GET /c "" | false`},
		{"GET //elsewhere.example/d HTTP/1.1\r\n", "200 OK", `GET //elsewhere.example/d "" | false`},
		{"POST /e HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200 OK", `POST /e "" | false`},
		{"POST /f HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n", "400 Bad Request", `POST /f "" | true`},
	} {
		mu.Lock()
		seen = nil
		mu.Unlock()
		conn := must.Get(net.Dial("tcp", host))(t)
		head, body, _ := strings.Cut(test.request, "\r\n")
		io.WriteString(conn, head+"\r\nHost: "+host+"\r\n"+body)
		if !strings.HasSuffix(body, "\r\n\r\n") {
			io.WriteString(conn, "\r\n")
		}
		answer, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		mu.Lock()
		got := strings.Join(seen, "\n")
		mu.Unlock()
		if !strings.HasSuffix(strings.TrimSpace(answer), test.answer) || got != test.agent && (got != "" || !strings.HasSuffix(test.agent, "true")) {
			t.Errorf("%q: %q, %v; the agent got %s, want %s", test.request, answer, err, got, test.agent)
		}
	}
	must.True(t, len(notes) == 0, "the agent is said to be at fault", notes)
}
