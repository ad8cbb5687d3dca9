package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// The cards in testdata/wire/cards are real ones, one for each deviation.
func TestParseCard(t *testing.T) {
	files, _ := filepath.Glob("../testdata/wire/cards/*.json")
	if len(files) == 0 {
		t.Fatal("no cards")
	}
	base, _ := url.Parse("https://agent.example/.well-known/agent-card.json")
	for _, file := range files {
		raw := must.Get(os.ReadFile(file))(t)
		card := parseCard(string(raw), base)
		var w strings.Builder
		fmt.Fprintf(&w, "%s %s streaming=%v(denied %v) push=%v extended=%v in=%v out=%v\n", card.Name, card.Version,
			card.Streaming, saysNoStreaming(card), card.Push, card.ExtendedCard, card.InputModes, card.OutputModes)
		for _, i := range card.Interfaces {
			fmt.Fprintf(&w, "interface %s %s version=%q tenant=%q\n", i.URL, i.Binding, i.Version, i.Tenant)
		}
		for _, e := range card.Extensions {
			fmt.Fprintf(&w, "extension %s required=%v params=%s\n", e.URI, e.Required, e.Params)
		}
		for _, s := range card.Skills {
			fmt.Fprintf(&w, "skill %s %s\n", s.ID, s.Name)
			if s.Requirements != nil {
				fmt.Fprintf(&w, "  needs %+v\n", s.Requirements)
			}
		}
		if card.Requirements != nil {
			fmt.Fprintf(&w, "needs %+v\n", card.Requirements)
		}
		for _, s := range card.Schemes {
			s.Raw = ""
			b, _ := json.Marshal(s)
			fmt.Fprintf(&w, "security %s\n", b)
		}
		for _, want := range []string{"", "0.3", "1.0"} {
			chosen, err := choose(card, wish{version: want})
			if err != nil {
				fmt.Fprintf(&w, "%q: %v\n", want, err)
			} else {
				fmt.Fprintf(&w, "%q: %s in %s over %s\n", want, chosen.at.URL, chosen.protocol.name(), chosen.kind.name)
			}
		}
		must.Golden(t, *update, file+".golden", w.String())
	}
}

// Where a card is looked for, and the error if there is none.
func TestCardPlaces(t *testing.T) {
	card := func(path string) string { return `{"name":"` + path + `","url":"URL/agents/a/"}` }
	html := "<html>"
	for _, test := range []struct {
		name, agent string
		places      map[string]string
		want, err   string
	}{
		{name: "well-known", agent: "/", places: map[string]string{cardPath: card("new"), oldCardPath: card("old")}, want: "new"},
		{name: "old agent", agent: "", places: map[string]string{oldCardPath: card("old")}, want: "old"},
		{name: "a page instead", agent: "", places: map[string]string{cardPath: html, oldCardPath: card("old")}, want: "old"},
		{name: "an object at any path, with no URL", agent: "", places: map[string]string{cardPath: `{"name":"index","protocol":"a2a"}`, oldCardPath: card("old")}, want: "old"},
		{name: "a card with no URL", agent: "", places: map[string]string{cardPath: `{"name":"index"}`, oldCardPath: `{"name":"old"}`}, want: "index"},
		{name: "below its path", agent: "/x/", places: map[string]string{"/x" + cardPath: card("x"), cardPath: card("root")}, want: "x"},
		{name: "at the root, and it names the path", agent: "/agents/a", places: map[string]string{cardPath: card("root")}, want: "root"},
		{name: "at the root, of another agent", agent: "/agents/b", places: map[string]string{cardPath: card("root")}, err: "URL/agents/b has no card, and the card of its origin is that of another URL: root, at URL/agents/a/. If that is the agent, take --agent URL"},
		{name: "its own URL", agent: "/api/a/card.json", places: map[string]string{"/api/a/card.json": card("own")}, want: "own"},
		{name: "its own URL, wrong", agent: "/api/a/card.json", err: "no card is at URL/api/a/card.json (404): most agents have it at their own URL with /.well-known/agent-card.json behind it"},
		{name: "nowhere", agent: "", err: "URL has no card (404 at /.well-known/agent-card.json and agent.json): is --agent the agent's URL, without a path of its API? If the card is elsewhere, --card says where; without one, --binding and --a2a-version say how to call it"},
		{name: "an object anywhere else", agent: "/api/x", places: map[string]string{cardPath: card("other"), oldCardPath: "{}", "/api/x" + cardPath: "{}", "/api/x" + oldCardPath: "{}", "/api/x" + cardOperation: "{}"},
			err: "URL/api/x has no card, and the card of its origin is that of another URL: other, at URL/agents/a/. If that is the agent, take --agent URL"},
		{name: "only pages", agent: "", places: map[string]string{cardPath: html, oldCardPath: html}, err: "URL/.well-known/agent-card.json answered with a web page, not A2A: is --agent the agent's URL, or does a gateway before it want you to sign in?"},
		{name: "no object", agent: "", places: map[string]string{cardPath: "[1]"}, err: "URL/.well-known/agent-card.json answered the request for its card with JSON that is not A2A: [1]: is --agent the agent's URL?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, ok := test.places[r.URL.Path]; ok {
					io.WriteString(w, strings.ReplaceAll(body, "URL", server.URL))
					return
				}
				http.NotFound(w, r)
			}))
			defer server.Close()
			got, err := wireClient(t, server.URL+test.agent, nil).Card(t.Context())
			if test.err != "" {
				if err == nil || strings.ReplaceAll(err.Error(), server.URL, "URL") != "agent: "+test.err {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || got.Name != test.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// No card takes long to read: each interface is compared with those before it. But a gateway may
// name one for each tenant in a binding that we do not speak, and ours behind them.
func TestCardIsBounded(t *testing.T) {
	behind := func(n int) *a2a.Card {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"url":"http://a.example/%d","protocolBinding":"GRPC"},`, i)
		}
		return parseCard(`{"supportedInterfaces":[`+b.String()+`{"url":"http://a.example","protocolBinding":"JSONRPC"}]}`, nil)
	}
	if n := len(behind(100_000).Interfaces); n != maxInterfaces {
		t.Errorf("%d interfaces were read", n)
	}
	if w, err := choose(behind(100), wish{}); err != nil || w.at.Binding != bindingJSONRPC {
		t.Errorf("%+v, %v", w.at, err)
	}
}

// A card has a limit of its own, whatever an answer may have.
func TestCardIsNotTooLarge(t *testing.T) {
	agent := newWireAgent(t, wireSSE(sseCompleted))
	for size, want := range map[int]string{
		maxCard - 100: "",
		maxCard:       "agent: " + agent.URL + cardPath + " answered the request for its card with more than 4 MiB",
	} {
		agent.card = `{"url":"` + agent.URL + `","name":"` + strings.Repeat("a", size) + `"}`
		_, err := wireClient(t, agent.URL, nil).Card(t.Context())
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("a name of %d bytes: %v", size, err)
		}
	}
}

// Gemini's card says localhost; the connection goes to the user's address.
func TestLocalhostInTheCard(t *testing.T) {
	agent := newWireAgent(t, wireSSE(sseCompleted))
	agent.card = strings.ReplaceAll(`{"name":"Test","url":"URL/rpc"}`, "URL", strings.Replace(agent.URL, "127.0.0.1", "localhost", 1))
	c := wireClient(t, agent.URL, nil)
	if err := send(c, t.Context()); err != io.EOF || c.known.now().url.String() != agent.URL+"/rpc" {
		t.Error(c.known.now().url, err)
	}
}

// A card that names no URL is used whatever else is at its host's other places, with its own
// schemes, and in the binding that it prefers, or the user says.
func TestCardWithoutURL(t *testing.T) {
	const (
		card = `{"name":"P","skills":[],"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X-Key"}}}`
		rpc  = "message/send http://agent.example/x with P k"
		rest = "http://agent.example/x/v1/message:send with P k"
	)
	for name, test := range map[string]struct {
		binding     string
		first, then string // at the two places below the agent's URL; a number is a status
		others      string // anywhere else
		want        string
	}{
		"alone":                     {first: card, then: "404", others: "404", want: rpc},
		"where 0.2 had it":          {first: "404", then: card, others: "404", want: rpc},
		"beside objects":            {first: card, then: "{}", others: "{}", want: rpc},
		"behind an object":          {first: "{}", then: card, others: "{}", want: rpc},
		"a failure elsewhere":       {first: card, then: "500", others: "401", want: rpc},
		"it prefers HTTP+JSON":      {first: strings.Replace(card, "{", `{"preferredTransport":"HTTP+JSON",`, 1), then: "404", others: "404", want: rest},
		"the user asks for it":      {binding: "http+json", first: card, then: "404", others: "404", want: rest},
		"it prefers what we do not": {first: strings.Replace(card, "{", `{"preferredTransport":"GRPC",`, 1), then: "404", others: "404", want: "agent: P offers GRPC without a version; we need A2A over JSONRPC or HTTP+JSON"},
		"a version of its own":      {first: strings.Replace(card, "{", `{"protocolVersion":"1.2.0",`, 1), then: "404", others: "404", want: rpc},
		"of 1.x":                    {first: strings.Replace(card, "{", `{"supportedInterfaces":[{"protocolBinding":"GRPC"},{"protocolBinding":"HTTP+JSON"}],`, 1), then: "404", others: "404", want: "http://agent.example/x/message:send with P k"},
		"at the root of the host":   {first: "404", then: "404", others: card, want: rpc},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			agent := roundTrip(func(r *http.Request) (*http.Response, error) {
				status, body := 200, test.others
				switch {
				case r.Method == http.MethodPost && strings.Contains(r.URL.Path, ":"):
					got, body = r.URL.String(), `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`
				case r.Method == http.MethodPost:
					sent, _ := io.ReadAll(r.Body)
					got, body = gjson.GetBytes(sent, "method").Str+" "+r.URL.String(), `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`
				case r.URL.Path == "/x"+cardPath:
					body = test.first
				case r.URL.Path == "/x"+oldCardPath:
					body = test.then
				}
				_, _ = fmt.Sscan(body, &status)
				return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})
			with := ""
			c := wireClient(t, "http://agent.example/x", &ClientOptions{RoundTripper: agent, Binding: test.binding,
				Credentials: func(_ context.Context, at *Challenge) (*Credential, error) {
					if with = "nothing"; at.Card != nil && len(at.Card.Schemes) == 1 {
						with = at.Card.Name + " " + at.Card.Schemes[0].Name
					}
					return nil, nil
				}})
			_, err := c.SendOnce(t.Context(), hello(), true)
			if got += " with " + with; err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// The schemes of another agent's card, which is at the root of the host, are not this one's.
func TestOtherCardHasNoSchemes(t *testing.T) {
	agent := roundTrip(func(r *http.Request) (*http.Response, error) {
		status, body := 404, ""
		switch {
		case r.Method == http.MethodPost:
			status, body = 200, `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`
		case r.URL.Path == cardPath:
			status, body = 200, `{"name":"Other","url":"http://agent.example/other","security":[{"k":[]}]}`
		}
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
	c := wireClient(t, "http://agent.example/x", &ClientOptions{RoundTripper: agent, Binding: "jsonrpc", Version: "0.3",
		Credentials: func(_ context.Context, at *Challenge) (*Credential, error) {
			if at.Card != nil {
				t.Errorf("%s is asked with the card of %s", at.URL, at.Card.Name)
			}
			return nil, nil
		}})
	if _, err := c.SendOnce(t.Context(), hello(), true); err != nil {
		t.Error(err)
	}
}

// An error of A2A's own, though it comes with 404, says that the place is right.
func TestCardWithoutURLExplains(t *testing.T) {
	e := &endpoint{doubt: "the card names no URL", card: &a2a.Card{}}
	for code, adds := range map[int]bool{0: true, a2a.CodeTaskNotFound: false} {
		err := e.explain(way{}, &a2a.Error{Code: code, HTTPStatus: http.StatusNotFound, Message: "none"})
		if strings.Contains(err.Error(), "names no URL") != adds {
			t.Errorf("%d: %v", code, err)
		}
	}
}
