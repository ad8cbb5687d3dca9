package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// While a card is checked no other fetch runs, which may set where the agent is: also while the extended card is.
func TestExtendedAlone(t *testing.T) {
	network := served(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"jsonrpc":"2.0","id":1,"result":{"name":"x"}}`
		if r.Method == http.MethodGet {
			answer = `{"name":"x","url":"/rpc","protocolVersion":"0.3.0","supportsAuthenticatedExtendedCard":true}`
		}
		wireAnswer(200, "application/json", answer)(w, r)
	})
	var c *Client
	checked := 0
	c = wireClient(t, "http://agent.example", &ClientOptions{RoundTripper: network, CheckCard: func(_ context.Context, card []byte) ([]byte, error) {
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
