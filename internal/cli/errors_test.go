package cli

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
)

// A badAgent fails in one common way.
type badAgent struct {
	name, path string
	secure     bool   // it speaks TLS
	scheme     string // that it is called by, if not its own
	host       string // likewise
	// certificate is its own, if it has one.
	certificate *tls.Certificate
	dead        bool
	// card is its card, URL being where it is; "" is none. answer is what it says to
	// everything else.
	card   string
	answer http.HandlerFunc
}

func commonErrors() []badAgent {
	const card = `{"name":"Bad","url":"URL/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`
	says := func(status int, label, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", label)
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	return []badAgent{
		{name: "nobody listens", dead: true},
		{name: "https to a port without TLS", scheme: "https", card: card},
		{name: "http to a port with TLS", scheme: "http", secure: true, card: card},
		{name: "a certificate of a CA that is not known", secure: true, card: card},
		{name: "a certificate of another name", host: "localhost", secure: true, certificate: certificate("agents.example", time.Hour), card: card},
		{name: "a certificate that has expired", secure: true, certificate: certificate("127.0.0.1", -time.Hour), card: card},
		{name: "a certificate that nobody has signed", secure: true, certificate: certificate("127.0.0.1", time.Hour), card: card},
		{name: "a wrong URL: no card", answer: http.NotFound},
		{name: "a wrong path", path: "/wrong", card: card, answer: http.NotFound},
		{name: "a web page", answer: says(200, "text/html", "<html>hello</html>")},
		{name: "the card wants credentials", answer: says(401, "text/plain", "no", "WWW-Authenticate", `Bearer realm="agents"`)},
		{name: "messages want credentials", card: card, answer: says(401, "text/plain", "no", "WWW-Authenticate", "Basic")},
		{name: "too many requests", card: card, answer: says(429, "text/plain", "slow down", "Retry-After", "30")},
		{name: "the agent's own error", card: card, answer: says(200, "application/json",
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no model","data":{"hint":"set GEMINI_API_KEY"}}}`)},
		{name: "a proxy's web page for the card", answer: says(502, "text/html", "<html><h1>502 Bad Gateway</h1></html>")},
		{name: "a proxy's web page for a message", card: card, answer: says(502, "text/html", "<html><h1>502 Bad Gateway</h1></html>")},
		{name: "a login page for a message", card: card, answer: says(200, "text/html", "<html>Sign in</html>")},
		{name: "JSON that is labelled as a stream", card: card, answer: says(200, "text/event-stream", `{"detail":"no such model"}`)},
		{name: "an empty stream", card: card, answer: says(200, "text/event-stream", "")},
		{name: "a gateway without its agent", card: card, answer: says(503, "text/plain", "upstream is down")},
	}
}

// The common errors have cause and remedy: in an editor (the message, and data.details,
// which are equal), in send, and in doctor. The golden file is for reading.
func TestCommonErrors(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, bad := range commonErrors() {
		b.WriteString("# " + bad.name + "\n" + bad.messages(t) + "\n")
	}
	must.Golden(t, *update, "../../testdata/errors.txt", b.String())
}

func (bad *badAgent) messages(t *testing.T) string {
	var server *httptest.Server
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bad.card != "" && r.URL.Path == "/.well-known/agent-card.json" {
			_, _ = io.WriteString(w, strings.ReplaceAll(bad.card, "URL", server.URL))
			return
		}
		bad.answer(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if bad.certificate != nil {
		server.TLS = &tls.Config{Certificates: []tls.Certificate{*bad.certificate}}
	}
	if bad.secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	defer server.Close()
	if bad.dead {
		server.Close()
	}
	scheme, host, _ := strings.Cut(server.URL, "://")
	host = strings.Replace(host, "127.0.0.1", cmp.Or(bad.host, "127.0.0.1"), 1)
	url := cmp.Or(bad.scheme, scheme) + "://" + host + bad.path
	plain := func(text string) string {
		text = regexp.MustCompile(`current time \S+ is after \S+?Z`).ReplaceAllString(text, "current time NOW is after THEN")
		port := host[strings.LastIndexByte(host, ':')+1:]
		return strings.ReplaceAll(strings.ReplaceAll(text, host, "AGENT"), net.JoinHostPort("localhost", port), "AGENT")
	}
	_, _, stderr := runMain("", "--agent", url, "send", "hello")
	out := "editor  " + plain(editorError(t, url)) + "\n" + "lines   " + plain(linesError(t, url)) + "\n" + "send    " + plain(strings.TrimSpace(stderr)) + "\n"
	_, doctor, _ := runMain("", "--agent", url, "doctor", "-o", "json")
	var found struct{ Steps []step }
	must.Do(t, json.Unmarshal([]byte(doctor), &found))
	for _, f := range found.Steps {
		if f.Status == "failed" || f.Status == "warning" {
			says, _, _ := strings.Cut(f.Says, "; certificate of") // its dates are this machine's
			out += "doctor  " + f.Step + ": " + regexp.MustCompile(`in (\d+|less than 1)ms$`).ReplaceAllString(plain(says), "in SOME TIME") + "\n"
			if f.Do != "" {
				out += "        -> " + plain(f.Do) + "\n"
			}
		}
	}
	return out
}

// certificate makes a self-signed one that is valid for a while.
func certificate(name string, valid time.Duration) *tls.Certificate {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(valid)}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	der, _ := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// editorError is what an editor is told when a prompt fails.
func editorError(t *testing.T, url string) string {
	client := must.Get(transport.NewClient(url, &transport.ClientOptions{Timeout: time.Minute}))(t)
	defer client.Close()
	agent := bridge.NewAgent(&bridge.Options{Client: client})
	defer agent.Close()
	_, err := agent.NewSession(t.TempDir()).Prompt(context.Background(), []acp.ContentBlock{{Type: "text", Text: "hello"}}, nobody{})
	if err == nil {
		t.Fatal("no error")
	}
	code, text, _ := spell.ACPError(err)
	return fmt.Sprintf("%d %s", code, text)
}

// linesError is what an editor of A2A lines is told.
func linesError(t *testing.T, url string) string {
	_, stdout, _ := runMain(`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hello"}]}}}`+"\n", "--agent", url, "--on-eof", "finish")
	for line := range strings.Lines(stdout) {
		if e := gjson.Get(line, "error"); e.Exists() {
			return fmt.Sprintf("%d %s", e.Get("code").Int(), e.Get("message").Str)
		}
	}
	t.Fatal("no error for A2A lines", stdout)
	return ""
}

// nobody is an editor that shows nothing.
type nobody struct{}

func (nobody) Show(context.Context, []mapping.Step) error { return nil }
func (nobody) Ask(context.Context, []mapping.Question) ([]mapping.Answer, error) {
	return nil, context.Canceled
}

// No error shows a credential that the agent echoes: in a shell, in doctor, or in an
// editor.
func TestEchoedCredentials(t *testing.T) {
	const token = "sk-live-Zq81xWvT9pLm4"
	rpc := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no model for ECHO","data":{"sent":"ECHO"}}}`
	failed := `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c1","status":{"state":"failed","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"not with ECHO"}]}}}}` + "\n\n"
	for _, answer := range []struct {
		status      int
		label, body string
	}{
		{401, "text/plain", "bad credentials: ECHO"}, {403, "application/json", `{"error":"forbidden for ECHO"}`}, {500, "text/plain", "boom ECHO"},
		{400, "application/json", rpc}, {200, "application/json", rpc},
		{200, "text/event-stream", "event: error\ndata: " + rpc + "\n\n"}, {200, "text/event-stream", "data: {ECHO\n\n"}, {200, "text/event-stream", failed},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/agent-card.json") {
				fmt.Fprintf(w, `{"name":"Echo","url":"http://%s/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, r.Host)
				return
			}
			echoed := r.Header.Get("Authorization")
			w.Header().Set("Content-Type", answer.label)
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+token+`"`)
			w.WriteHeader(answer.status)
			_, _ = io.WriteString(w, strings.ReplaceAll(answer.body, "ECHO", echoed))
		}))
		args := []string{"--agent", server.URL, "--header", "Authorization: Bearer " + token}
		const lines = `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"hi"}}` + "\n"
		for _, run := range []struct{ stdin, command string }{
			{"", "send hi"}, {"", "doctor"}, {"", "doctor -o json"}, {lines, "--on-eof finish"},
		} {
			_, stdout, stderr := runMain(run.stdin, append(args, strings.Fields(run.command)...)...)
			if out := stdout + stderr; strings.Contains(out, token) || !strings.Contains(out, "***") && !strings.HasPrefix(run.command, "doctor") {
				t.Errorf("%d %s, %q: %s", answer.status, answer.label, run.command, out)
			}
		}
		server.Close()
	}
}

// TestEchoedToken: nor is a token shown that the agent echoes without what stood around it,
// whichever way it was given.
func TestEchoedToken(t *testing.T) {
	const token = "sk-live-Zq81xWvT9pLm4"
	ownPlaces(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/agent-card.json") {
			fmt.Fprintf(w, `{"name":"Echo","url":"http://%s/","protocolVersion":"0.3.0","capabilities":{}}`, r.Host)
			return
		}
		user, _, _ := r.BasicAuth()
		w.WriteHeader(500)
		fmt.Fprintf(w, `{"error":"no model for %s%s"}`, user, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	t.Cleanup(server.Close)
	headers := privateFile(t, t.TempDir(), "headers", `{"headers":{"Authorization":["Bearer `+token+`"]}}`)
	for _, args := range [][]string{
		{"--agent", server.URL, "--credential-command", "cat '" + headers + "'"},
		{"--agent", strings.Replace(server.URL, "//", "//"+token+"@", 1)},
		{"--agent", server.URL}, // a sign-in keeps it
	} {
		if len(args) == 2 {
			if status, _, stderr := runMain(token, append(args, "auth", "login", "--with-token")...); status != 0 {
				t.Fatal(stderr)
			}
		}
		_, stdout, stderr := runMain("", append(args, "send", "hi")...)
		if out := stdout + stderr; strings.Contains(out, token) || !strings.Contains(out, "no model for") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// TestFaults: who is set up wrongly is answered what is wrong. Exit statuses stay.
func TestFaults(t *testing.T) {
	home := ownHome(t)
	file := filepath.Join(home, "wrong.toml")
	for _, row := range must.Table[struct{ Args, Variable, File, Want string }](t, "../../testdata/faults.txt") {
		t.Run(row.Args+row.Variable, func(t *testing.T) {
			if name, value, ok := strings.Cut(row.Variable, "="); ok {
				t.Setenv("A2ASTDIO_"+name, value)
			}
			must.Do(t, os.WriteFile(file, []byte(row.File), 0o600))
			args := strings.Fields(row.Args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "FILE", file)
			}
			acp := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
				`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}` + "\n"
			status, stdout, stderr := runMain(acp, args...)
			first, second, _ := strings.Cut(stdout, "\n")
			answer := gjson.Get(second, "error.message").Str
			if status != frame.ExitUsage || !strings.Contains(stderr, row.Want) || !gjson.Get(first, "result.protocolVersion").Exists() ||
				!strings.HasPrefix(answer, "bridge: ") || !strings.Contains(answer, row.Want) {
				t.Errorf("status %d, %s%s", status, stdout, stderr)
			}
			status, stdout, _ = runMain(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"text":"hello"}}`+"\n", args...)
			if status != frame.ExitUsage || gjson.Get(stdout, "error.message").Str != answer {
				t.Errorf("A2A lines: status %d, %s", status, stdout)
			}
			if status, stdout, stderr = runMain("", append(args, "send", "hello")...); row.Args == "--agent" {
				return // which takes the command for its value
			}
			if row.Args != "--agent demo --context" && (status != frame.ExitUsage || stdout != "" || stderr == "") {
				t.Errorf("send: status %d, %s%s", status, stdout, stderr)
			}
		})
	}
}
