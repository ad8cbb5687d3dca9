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
	"path/filepath"
	"regexp"
	"strconv"
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

// A badAgent fails in one common way: a row of testdata/errors-agents.txt.
type badAgent struct {
	Name string
	// Way is what is odd about the way to it: "dead", how it is called (https, http, a host or a path), "tls", and a
	// certificate of its own, of a name and so many hours.
	Way string
	// Card: it has one. Status, Type and Body are what it says to everything else; Type may have a header behind it.
	Card       bool
	Status     int
	Type, Body string
}

// way is what stands behind a word of Way.
func (bad *badAgent) way(word string) string {
	for w := range strings.FieldsSeq(bad.Way) {
		if rest, ok := strings.CutPrefix(w, word+"="); ok || w == word {
			return cmp.Or(rest, word)
		}
	}
	return ""
}

// The common errors have cause and remedy: in an editor (the message, and data.details,
// which are equal), in send, and in doctor. The golden file is for reading.
func TestCommonErrors(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, bad := range must.Table[badAgent](t, "../../testdata/errors-agents.txt") {
		b.WriteString("# " + bad.Name + "\n" + bad.messages(t) + "\n")
	}
	must.Golden(t, *update, "../../testdata/errors.txt", b.String())
}

func (bad *badAgent) messages(t *testing.T) string {
	var server *httptest.Server
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bad.Card && r.URL.Path == "/.well-known/agent-card.json" {
			fmt.Fprintf(w, `{"name":"Bad","url":"%s/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, server.URL)
			return
		}
		label, header, _ := strings.Cut(bad.Type, "; ")
		name, value, _ := strings.Cut(header, ": ")
		w.Header().Set("Content-Type", label)
		w.Header().Set(cmp.Or(name, "X-None"), value)
		w.WriteHeader(cmp.Or(bad.Status, http.StatusNotFound))
		_, _ = io.WriteString(w, bad.Body)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if name, hours, ok := strings.Cut(bad.way("certificate"), ","); ok {
		n, _ := strconv.Atoi(hours)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate(name, time.Duration(n)*time.Hour)}}
	}
	if bad.way("tls") != "" {
		server.StartTLS()
	} else {
		server.Start()
	}
	defer server.Close()
	if bad.way("dead") != "" {
		server.Close()
	}
	scheme, host, _ := strings.Cut(server.URL, "://")
	host = strings.Replace(host, "127.0.0.1", cmp.Or(bad.way("host"), "127.0.0.1"), 1)
	url := cmp.Or(bad.way("scheme"), scheme) + "://" + host + bad.way("path")
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

// echoToken is what agents are shown, and echo.
const echoToken = "sk-live-Zq81xWvT9pLm4"

// echoes is an agent that answers with what it was shown in the place of ECHO.
func echoes(t *testing.T, status int, label, body string, shown func(*http.Request) string) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/agent-card.json") {
			fmt.Fprintf(w, `{"name":"Echo","url":"http://%s/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, r.Host)
			return
		}
		w.Header().Set("Content-Type", label)
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+echoToken+`"`)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "ECHO", shown(r)))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// No error shows a credential that the agent echoes: in a shell, in doctor, or in an
// editor.
func TestEchoedCredentials(t *testing.T) {
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
		url := echoes(t, answer.status, answer.label, answer.body, func(r *http.Request) string { return r.Header.Get("Authorization") })
		args := []string{"--agent", url, "--header", "Authorization: Bearer " + echoToken}
		const lines = `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"hi"}}` + "\n"
		for _, run := range []struct{ stdin, command string }{
			{"", "send hi"}, {"", "doctor"}, {"", "doctor -o json"}, {lines, "--on-eof finish"},
		} {
			_, stdout, stderr := runMain(run.stdin, append(args, strings.Fields(run.command)...)...)
			if out := stdout + stderr; strings.Contains(out, echoToken) || !strings.Contains(out, "***") && !strings.HasPrefix(run.command, "doctor") {
				t.Errorf("%d %s, %q: %s", answer.status, answer.label, run.command, out)
			}
		}
	}
}

// TestEchoedToken: nor is a token shown that the agent echoes without what stood around it,
// whichever way it was given.
func TestEchoedToken(t *testing.T) {
	ownPlaces(t)
	url := echoes(t, 500, "application/json", `{"error":"no model for ECHO"}`, func(r *http.Request) string {
		user, _, _ := r.BasicAuth()
		return user + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	})
	headers := must.File(t, `{"headers":{"Authorization":["Bearer `+echoToken+`"]}}`, t.TempDir(), "headers")
	for _, args := range [][]string{
		{"--agent", url, "--credential-command", "cat '" + headers + "'"},
		{"--agent", strings.Replace(url, "//", "//"+echoToken+"@", 1)},
		{"--agent", url}, // a sign-in keeps it
	} {
		if len(args) == 2 {
			if status, _, stderr := runMain(echoToken, append(args, "auth", "login", "--with-token")...); status != 0 {
				t.Fatal(stderr)
			}
		}
		_, stdout, stderr := runMain("", append(args, "send", "hi")...)
		out := stdout + stderr
		must.True(t, !strings.Contains(out, echoToken) && strings.Contains(out, "no model for"), args, out)
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
			must.File(t, row.File, file)
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
