package webhook

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

const (
	taskV03  = `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}`
	stateV1  = `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	appendV1 = `{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"ha"}]},"append":true}}`
)

// open makes a receiver with one address.
func open(t *testing.T, opts Options) (*Receiver, bridge.Webhook) {
	t.Helper()
	r := NewReceiver(opts)
	r.SetBase("https://hooks.example/base/")
	return r, r.Open("")
}

// push makes a correct agent's request; adjust changes it.
func push(hook bridge.Webhook, body string, adjust ...func(*http.Request)) *http.Request {
	c := hook.Config()
	r := httptest.NewRequest(http.MethodPost, c.URL, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-A2A-Notification-Token", c.Token)
	for _, f := range adjust {
		f(r)
	}
	return r
}

func status(h http.Handler, r *http.Request) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func set(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Each abuse has its status, and no effect.
func TestAbuse(t *testing.T) {
	h, hook := open(t, Options{})
	for _, c := range []struct {
		name   string
		body   string
		adjust func(*http.Request)
		want   int
	}{
		{"unknown path", taskV03, func(r *http.Request) { r.URL.Path = "/" + randomName() }, 404},
		{"unknown path, whatever else is wrong", "x", func(r *http.Request) { r.URL.Path, r.Method, r.Header = "/", "PUT", nil }, 404},
		{"no segment", taskV03, func(r *http.Request) { r.URL.Path = "" }, 404},
		{"wrong method", taskV03, func(r *http.Request) { r.Method = "PUT" }, 405},
		{"no token", taskV03, func(r *http.Request) { r.Header.Del("X-A2A-Notification-Token") }, 401},
		{"wrong token", taskV03, set("X-A2A-Notification-Token", randomName()), 401},
		{"empty token", taskV03, set("X-A2A-Notification-Token", ""), 401},
		{"wrong token, and wrong body", "nonsense", set("X-A2A-Notification-Token", "x"), 401},
		{"form", taskV03, set("Content-Type", "application/x-www-form-urlencoded"), 415},
		{"no content type", taskV03, func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		{"compressed", taskV03, set("Content-Encoding", "gzip"), 415},
		{"oversized, and says so", strings.Repeat(" ", maxBody+1), nil, 413},
		{"oversized, and does not say so", strings.Repeat(" ", maxBody+1), func(r *http.Request) { r.ContentLength = -1 }, 413},
		{"no JSON", "{", nil, 400},
		{"empty", "", nil, 400},
		{"two values", taskV03 + taskV03, nil, 400},
		{"not UTF-8", `{"kind":"task","id":"` + "\xff" + `","status":{}}`, nil, 400},
		{"an array", "[" + taskV03 + "]", nil, 400},
		{"null", "null", nil, 400},
		{"a string", `"task"`, nil, 400},
		{"an empty object", "{}", nil, 400},
		{"an unknown kind", `{"kind":"cake","id":"t","status":{}}`, nil, 400},
		{"an event without a task", `{"statusUpdate":{"status":{}}}`, nil, 400},
		{"a JSON-RPC response", `{"jsonrpc":"2.0","id":1,"result":` + taskV03 + `}`, nil, 400},
	} {
		r := push(hook, c.body)
		if c.adjust != nil {
			c.adjust(r)
		}
		must.Equal(t, status(h, r), c.want, c.name)
	}
	must.Equal(t, []int{queued(hook), h.bytes}, []int{0, 0})
}

// What real agents send is accepted: each header, payload and content type, below any
// path of a proxy.
func TestTaken(t *testing.T) {
	bare := func(r *http.Request) { r.Header.Del("X-A2A-Notification-Token") }
	h, hook := open(t, Options{})
	token := hook.Config().Token
	if hook.Config().Authentication.Credentials != token || hook.Config().URL != "https://hooks.example/base/"+hook.Name() {
		t.Errorf("the configuration is %+v", hook.Config())
	}
	for i, r := range []*http.Request{
		push(hook, taskV03),
		push(hook, stateV1, set("Content-Type", "application/a2a+json; charset=utf-8"), bare, set("A2A-Notification-Token", token)),
		push(hook, appendV1, bare, set("Authorization", "Bearer "+token)),
		push(hook, `{"task":{"id":"t"}}`, set("Authorization", "bearer "+token), set("X-A2A-Notification-Token", "its own")),
		push(hook, `{"message":{"messageId":"m"}}`, func(r *http.Request) { r.URL.Path = "/" + hook.Name() }),
		push(hook, `{"kind":"status-update","taskId":"t"}`, func(r *http.Request) { r.URL.Path = "/a/b/c/" + hook.Name() }),
		push(hook, `{"kind":"artifact-update","taskId":"t"}`),
		push(hook, `{"id":"t","status":{"state":"working"}}`),
	} {
		must.Equal(t, status(h, r), 200, i)
	}
	must.Equal(t, queued(hook), 8)
}

// A repetition, and a push to an ended task, get a regular answer and have no effect.
// A repetition has the ID of the first.
func TestRepeated(t *testing.T) {
	h, hook := open(t, Options{})
	for i, c := range []struct {
		body   string
		adjust []func(*http.Request)
		queued int
	}{
		{taskV03, nil, 1}, {appendV1, nil, 2}, {appendV1, nil, 3},
		{appendV1, []func(*http.Request){set("Webhook-Id", "1")}, 4}, {appendV1, []func(*http.Request){set("Webhook-Id", "1")}, 4},
		{taskV03, []func(*http.Request){set("Idempotency-Key", "2")}, 5}, {stateV1, []func(*http.Request){set("Idempotency-Key", "2")}, 5},
	} {
		must.Equal(t, status(h, push(hook, c.body, c.adjust...)), 200, i)
		must.Equal(t, queued(hook), c.queued, i)
	}
	hook.Take()
	hook.Close()
	must.Equal(t, []int{status(h, push(hook, stateV1)), h.bytes}, []int{200, 0}, "after the end")
	must.Equal(t, status(h, push(hook, stateV1, set("X-A2A-Notification-Token", "x"))), 401, "with a wrong token")
}

// A task's token is invalid for another task's path.
func TestWrongTask(t *testing.T) {
	h, hook := open(t, Options{})
	other := h.Open("")
	must.Equal(t, status(h, push(hook, taskV03, set("X-A2A-Notification-Token", other.Config().Token))), 401)
	again := h.Open(hook.Name())
	must.Equal(t, again.Name() == hook.Name(), false, "two turns share an address")
	hook.Close()
	again = h.Open(hook.Name())
	if again.Name() != hook.Name() || again.Config().Token == hook.Config().Token {
		t.Error("an address that is opened again has another name, or the old token")
	}
}

// queued is how many pushes wait.
func queued(hook bridge.Webhook) int { return len(hook.(*box).queue) }

// A full queue keeps the newest; 503 is for one that other turns' pushes leave no room.
func TestFull(t *testing.T) {
	h, hook := open(t, Options{})
	for n := range 2 * maxQueued {
		must.Equal(t, status(h, push(hook, appendV1)), 200, n)
		must.Equal(t, queued(hook), min(n+1, maxQueued))
	}
	must.Equal(t, []int{len(hook.Take()), h.bytes}, []int{maxQueued, 0})
	large := `{"task":{"id":"t","metadata":"` + strings.Repeat("x", maxBody-100) + `"}}`
	other := h.Open("")
	for i := range 6 {
		body := strings.Replace(large, "xxxx", fmt.Sprintf("%04d", i), 1)
		if got := status(h, push(other, body)); got != 200 || queued(other) != min(i+1, 4) || h.bytes > maxQueuedBytes {
			t.Errorf("large push %d: %d, %d are queued, %d bytes", i, got, queued(other), h.bytes)
		}
	}
	must.Equal(t, status(h, push(hook, large)), 503, "beside them")
}

// So many pushes are read at once, and no more.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, hook := open(t, Options{})
		var all sync.WaitGroup
		var bodies []*io.PipeWriter
		for range maxAtOnce {
			body, w := io.Pipe()
			bodies = append(bodies, w)
			all.Go(func() { status(h, push(hook, "", func(r *http.Request) { r.Body = body })) })
		}
		synctest.Wait() // they are read
		must.Equal(t, status(h, push(hook, taskV03)), 503, "one more")
		for _, w := range bodies {
			w.Close()
		}
		all.Wait()
		must.Equal(t, status(h, push(hook, taskV03)), 200, "with room again")
	})
}

// A sender that drips bytes gets an answer when its time is over, and delays nobody.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewReceiver(Options{})
		hook, network := h.Open(""), pipenet.Listen()
		s := serve(network, h)
		defer s()
		conn := must.Get(network.Dial(t.Context(), "", ""))(t)
		defer conn.Close()
		fmt.Fprintf(conn, "POST /%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", hook.Name(), hook.Config().Token)
		began := time.Now()
		answer, _ := io.ReadAll(conn) // ends, because the server hangs up
		if took := time.Since(began); !bytes.HasPrefix(answer, []byte("HTTP/1.1 408 ")) || took < pushTimeout || took > pushTimeout+time.Second {
			t.Errorf("answered with %q after %v", answer, took)
		}
	})
}

// keyPair makes a signer, and a file with its public key.
func keyPair(t *testing.T) (jose.Signer, []byte) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil))(t)
	set := must.Get(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k"}}}))(t)
	return signer, set
}

// A push that is signed must be meant for this address, come from this agent and have
// this body, where its JWT says so; and its signature must be the agent's.
func TestSigned(t *testing.T) {
	signer, public := keyPair(t)
	stranger, _ := keyPair(t)
	fetched := 0
	idp := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched++
		_, _ = w.Write(public)
	}))
	defer idp.Close()
	file := must.File(t, string(public), t.TempDir(), "jwks.json")
	for _, from := range []string{file, idp.URL} {
		keys := must.Get(cardsign.NewKeys(from, idp.Client()))(t)
		h, hook := open(t, Options{Keys: keys, Issuers: func(context.Context) []string { return []string{"https://agent.example/a2a", "https://cards.example"} }})
		now := time.Now().Unix()
		for _, test := range []struct {
			name   string
			claims map[string]any
			by     jose.Signer
			want   int
		}{
			{"nothing but the time", map[string]any{"iat": now}, signer, 200},
			{"all", map[string]any{"iat": now, "aud": hook.Config().URL, "iss": "https://agent.example/", "request_body_sha256": hashed([]byte(stateV1)), "jti": "1"}, signer, 200},
			{"the origin, and others", map[string]any{"iat": now, "aud": []string{"https://other.example", "https://hooks.example"}, "iss": "https://cards.example"}, signer, 200},
			{"no time", map[string]any{"aud": hook.Config().URL}, signer, 401},
			{"old", map[string]any{"iat": now - 3600}, signer, 401},
			{"expired", map[string]any{"iat": now, "exp": now - 120}, signer, 401},
			{"a stranger's key", map[string]any{"iat": now}, stranger, 401},
			{"for another service", map[string]any{"iat": now, "aud": "https://other.example"}, signer, 401},
			{"for another turn", map[string]any{"iat": now, "aud": "https://hooks.example/base/" + randomName()}, signer, 401},
			{"for a lookalike", map[string]any{"iat": now, "aud": "https://hooks.example.evil"}, signer, 401},
			{"of another agent", map[string]any{"iat": now, "iss": "https://other.example"}, signer, 401},
			{"of a path of the agent's", map[string]any{"iat": now, "iss": "https://agent.example/tenant"}, signer, 401},
			{"of no URL", map[string]any{"iat": now, "iss": "agent"}, signer, 401},
			{"for another body", map[string]any{"iat": now, "request_body_sha256": hashed([]byte(taskV03))}, signer, 401},
		} {
			token := must.Get(jwt.Signed(test.by).Claims(test.claims).Serialize())(t)
			must.Equal(t, status(h, push(hook, stateV1, set("Authorization", "Bearer "+token))), test.want, from, test.name)
		}
		must.Equal(t, status(h, push(hook, stateV1)), 401, from)
	}
	must.Equal(t, fetched > 3, false, fetched)
}

// A key is used for the algorithm that it says it is for, and for no other.
func TestKeyOfOneAlgorithm(t *testing.T) {
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	set, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), Algorithm: "RS256"}}})
	keys := must.Get(cardsign.NewKeys(must.File(t, string(set), t.TempDir(), "jwks.json"), nil))(t)
	for alg, want := range map[jose.SignatureAlgorithm]bool{jose.RS256: true, jose.PS256: false, jose.RS512: false} {
		signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil))(t)
		token, _ := jwt.Signed(signer).Claims(map[string]any{"iat": time.Now().Unix()}).Serialize()
		_, err := keys.Verify(t.Context(), token, time.Now())
		must.Equal(t, err == nil, want, alg, err)
	}
}
