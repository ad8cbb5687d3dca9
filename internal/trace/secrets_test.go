package trace

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// Logs mask what becomes known while the program runs, also in a URL's form.
func TestSecretsThatComeLater(t *testing.T) {
	var out strings.Builder
	secrets := new(Secrets)
	log := Masked(&out, &Options{Later: secrets})
	fmt.Fprintln(log, "before: hunter2/odd one")
	secrets.Add("hunter2/odd one", "x")
	fmt.Fprintln(log, "after: hunter2/odd one, /?k=hunter2%2Fodd+one, x")
	must.Equal(t, out.String(), "before: hunter2/odd one\nafter: ***, /?k=***, x\n")
}

// A trace masks it from the next line on: in texts, in JSON within JSON, and in pieces.
func TestSecretsThatComeLaterInATrace(t *testing.T) {
	var out bytes.Buffer
	secrets := new(Secrets)
	r := New(&out, &Options{Later: secrets})
	const secret = `hunter2/"odd" one`
	secrets.Add(secret)
	r.Tap(true, []byte(`{"jsonrpc":"2.0","method":"x","params":{"text":"is hunter2/\"odd\" one?","nested":"{\"a\":\"hunter2/\\\"odd\\\" one\"}"}}`))
	secrets.Add("another-planted-one")
	for _, piece := range []string{"so another-pla", "nted-one it is"} {
		r.Tap(true, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, piece))
	}
	r.Stderr([]byte("it was another-planted-one"))
	must.Do(t, r.Close())
	for _, leaked := range []string{"hunter2", "odd", "another-pla", "nted-one"} {
		must.Equal(t, strings.Contains(out.String(), leaked), false, leaked, "is in the trace", &out)
	}
	must.Has(t, out.String(), "it is")
}

// They may come from several goroutines. The newest are kept.
func TestManySecretsThatComeLater(t *testing.T) {
	secrets := new(Secrets)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range maxSecrets {
				secrets.Add(fmt.Sprint("token-", i, "-", j))
				_ = secrets.all()
			}
		})
	}
	wg.Wait()
	secrets.Add("the-last-one")
	list := *secrets.all()
	must.True(t, len(list) == maxSecrets && list[maxSecrets-1] == "the-last-one", list)
	m := newMasker(nil, []string{"the-first-one"}, secrets)
	must.Equal(t, m.text("the-first-one, the-last-one, neither"), "***, ***, neither")
}

// TestEncoded: of an answer in a Content-Encoding nothing is kept, as nothing can be masked in it.
func TestEncoded(t *testing.T) {
	for _, media := range []string{"application/json", "text/event-stream"} {
		server := serveOnce(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprintf(w, "data: %x\n\n", r.Header.Get("Authorization"))
		})
		var out bytes.Buffer
		recorder := New(&out, &Options{})
		req := must.Get(http.NewRequest("POST", server.URL, strings.NewReader("{}")))(t)
		req.Header.Set("Authorization", "Bearer hunter2-31")
		resp := must.Get((&http.Client{Transport: recorder.Wrap(server.Client().Transport)}).Do(req))(t)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		must.Do(t, recorder.Close())
		all := records(t, out.Bytes())
		b := of(all, KindBody)
		must.True(t, len(b) == 1 && b[0].Text == "***" && b[0].Masked && len(of(all, KindEvent)) == 0, media, &out)
	}
}

// TestUnnamedSecrets: a credential under a name that no list knows is in no trace, wherever a
// client sends it and however the agent spells it when it repeats it. (TestNoSecrets has those
// with a name.)
func TestUnnamedSecrets(t *testing.T) {
	sent := strings.Fields("hunter2-31 hunter2-32 hunter2-33 hunter2-34 hunter2-35 hunter2-36 hunter2-37 hunter2-38 hunter2-39 hunter2-40 hunter2-41")
	server := serveOnce(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", "sid=hunter2-1")
		w.Header().Set("X-Zone", "hunter2-30")
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"name":"x","version":"1","protocolVersion":"0.3.0","url":"http://me:hunter2-2@%s/?token=hunter2-3","capabilities":{}}`, r.Host)
		case r.URL.Path == "/":
			w.WriteHeader(http.StatusBadGateway)
			for _, secret := range sent {
				fmt.Fprintf(w, "<p>%s, %%68%s, &#104;%s, &#x68;%s; hunter%%2532%s</p>\n", secret, secret[1:], secret[1:], secret[1:], secret[7:])
			}
		}
	})
	var out bytes.Buffer
	recorder := New(&out, &Options{})
	client := &http.Client{Transport: recorder.Wrap(server.Client().Transport)}
	for _, q := range []struct{ verb, path, media, body string }{
		{"GET", "/.well-known/agent-card.json?key=hunter2-18", "", ""},
		{"POST", "/v9/hunter2-31/tasks?zone=hunter2-32&hunter2-33", "application/x-www-form-urlencoded", "zone=hunter2-34"},
		{"POST", "/message", "text/plain", "hunter2-39"},
		{"POST", "/unknown", "application/json", `{"zone":"hunter2-40","gates":{"a":["hunter2-41"]}}`},
		{"POST", "/set", "application/json", `{"jsonrpc":"2.0","id":2,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"t","pushNotificationConfig":{"url":"https://me/hook/hunter2-17"}}}`},
		{"POST", "/", "application/json", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"u","role":"user","parts":[],"metadata":` +
			`{"coderAgent":{"kind":"agent-settings","workspacePath":"/w","zone":"hunter2-35","mcp_servers":{"a":{"zone":"hunter2-36","url":"https://h/hunter2-37/mcp"}}}}}}}`},
	} {
		req := must.Get(http.NewRequest(q.verb, server.URL+q.path, strings.NewReader(q.body)))(t)
		req.Header.Set("Content-Type", q.media)
		req.Header.Set("X-Zone", "hunter2-38")
		resp := must.Get(client.Do(req))(t)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if err := recorder.Close(); err != nil || out.Len() < 5000 {
		t.Fatal(err, out.String())
	}
	for _, text := range []string{out.String(), html.UnescapeString(out.String()), strings.NewReplacer("%2532", "2", "%32", "2", "%68", "h").Replace(out.String())} {
		i := strings.Index(text, "hunter2")
		must.True(t, i < 0, "a credential is in the trace", text[max(0, i-80):min(len(text), i+40)])
	}
}

// Where a record repeats an ID or a method, it is masked as in the document.
func TestSecretIDs(t *testing.T) {
	for _, redact := range []bool{false, true} {
		var out bytes.Buffer
		r := New(&out, &Options{Secrets: []string{"hunter2-own", "31415926"}, Redact: redact})
		r.Tap(false, []byte(`{"jsonrpc":"2.0","id":31415926,"method":"x"}`))
		for _, id := range []string{"hunter2-own", "https:\\/\\/h/?token=hunter2", "https://u:hunter2@h", "a-1"} {
			r.Tap(false, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","method":"%[1]s"}`, id))
			r.Tap(true, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","result":{}}`, id))
		}
		must.Do(t, r.Close())
		if strings.Contains(out.String(), "hunter2") || strings.Contains(out.String(), "31415926") || !strings.Contains(out.String(), `"id":"a-1","method":"a-1","json":{"jsonrpc":"2.0","id":"a-1","result"`) {
			t.Errorf("IDs are recorded so:\n%s", &out)
		}
	}
}

// A long credential is masked in pieces of any length, and what follows it is not.
func TestLongInPieces(t *testing.T) {
	long := strings.Repeat("hunter2Q", 100)
	for _, secret := range []string{"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("hunter2hunter2hunter2hunter2\n", 50) + "-----END PRIVATE KEY-----",
		"password=" + long, "password='" + strings.Repeat("hunter2 ", 100) + "'", "eyJhbGciOiJIUzI1NiJ9." + long + ".hunter2hunter2", "token=" + strings.Repeat(long, 10),
		"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("hunter2hunter2hunter2hunter2\n", 500) + "-----END PRIVATE KEY-----", "password='" + strings.Repeat("hunter2 ", 2000) + "'", "https://user:hunter2hunter2@host/"} {
		text := "The one that I have got is " + secret + " and nothing more."
		for _, size := range []int{5, 60, 250, 700, 5000} {
			var out bytes.Buffer
			r := New(&out, &Options{})
			for piece := range slices.Chunk([]byte(text), size) {
				r.Tap(true, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"content":{"type":"text","text":%q}}}}`, piece))
			}
			must.Do(t, r.Close())
			var got strings.Builder
			for _, piece := range strings.Split(out.String(), `"text":"`)[1:] {
				text, _, _ := strings.Cut(piece, `"`)
				got.WriteString(text)
			}
			if strings.Contains(got.String(), "unt") || !strings.Contains(got.String(), "more.") {
				t.Errorf("%.30s in pieces of %d bytes:\n%s", secret, size, &got)
			}
		}
	}
}

// One of the program's own is masked in pieces also if they end within the spelling of a byte.
func TestSecretSpelledOtherwiseInPieces(t *testing.T) {
	m := newMasker(nil, []string{`hunter2-"own"+tok_en/zz`}, nil)
	for _, text := range []string{"%68%75%6e%74er2%2D%22own%22+tok%5Fen%2fzz", "&#104;&#x75;&#110;ter2-&quot;own&#34;&#43;tok_en/zz", "hunter2-%2522own%2522+tok%255Fen/zz"} {
		for size := 1; size < len(text); size++ {
			var s textTail
			var got []byte
			for piece := range slices.Chunk([]byte("It is "+text+" and 5% & more"), size) {
				got = append(got, m.joined(&s, piece)...)
			}
			begin, rest, _ := bytes.Cut(got, []byte("***"))
			if len(begin) > len("It is &#104;&#x75;&#110;t&#") || bytes.Contains(rest, []byte("own")) || !bytes.HasSuffix(rest, []byte("*** and 5% & more")) && !bytes.HasSuffix(got, []byte("*** and 5% & more")) {
				t.Errorf("%s in pieces of %d bytes: %s", text, size, got)
			}
		}
	}
}
