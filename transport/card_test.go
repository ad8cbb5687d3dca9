package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			b, _ := json.Marshal(s)
			fmt.Fprintf(&w, "security %s\n", b)
		}
		for _, want := range []string{"", "0.3", "1.0"} {
			chosen, err := choose(card, wish{version: want})
			if err != nil {
				fmt.Fprintf(&w, "%q: %v\n", want, err)
			} else {
				fmt.Fprintf(&w, "%q: %s in %s over %s\n", want, chosen.iface.URL, chosen.protocol.name(), chosen.binding.name)
			}
		}
		must.Golden(t, *update, file+".golden", w.String())
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
	must.Equal(t, len(behind(100_000).Interfaces), maxInterfaces, "interfaces were read")
	if w, err := choose(behind(100), wish{}); err != nil || w.iface.Binding != bindingJSONRPC {
		t.Errorf("%+v, %v", w.iface, err)
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

// A card is checked as it came, from a file as from the agent: what is no text is made one
// afterwards.
func TestCardIsCheckedAsItCame(t *testing.T) {
	const raw = `{"name":"\ud800` + "\xff" + `","url":"http://127.0.0.1:1/"}`
	server := httptest.NewServer(wireAnswer(200, "application/json", raw))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "card.json")
	must.Do(t, os.WriteFile(path, []byte(raw), 0o600))
	for _, at := range []string{server.URL, path} {
		c := wireClient(t, at, &ClientOptions{CheckCard: func(_ context.Context, card []byte) ([]byte, error) {
			must.Equal(t, string(card), raw, "is checked", at)
			return card, nil
		}})
		if card, err := c.Card(t.Context()); err != nil || card.Name != "\uFFFD\uFFFD" {
			t.Errorf("%s: %+v, %v", at, card, err)
		}
	}
}

// While a card is checked no other fetch runs, which may set where the agent is: also while the extended card is.
func TestExtendedAlone(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"name":"x"}}`))
	agent.card = `{"name":"x","url":"%s/rpc","protocolVersion":"0.3.0","supportsAuthenticatedExtendedCard":true}`
	var c *Client
	checked := 0
	c = wireClient(t, agent.URL, &ClientOptions{CheckCard: func(_ context.Context, card []byte) ([]byte, error) {
		checked++
		if c.loading.TryLock() {
			c.loading.Unlock()
			t.Error("another fetch can begin")
		}
		return card, nil
	}})
	_, _ = c.Extended(t.Context()) // it names no URL
	must.Equal(t, checked, 2)
}

// TestCardTakes: what a card says that its agent takes.
func TestCardTakes(t *testing.T) {
	for _, test := range must.Table[struct {
		Modes, Media string
		Want         bool
	}](t, "testdata/takes.txt") {
		if got := (&a2a.Card{InputModes: strings.Fields(test.Modes)}).Takes(test.Media); got != test.Want {
			t.Errorf("%q takes %s: %t", test.Modes, test.Media, got)
		}
	}
}
