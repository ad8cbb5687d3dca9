package dialect

import (
	"slices"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestNegotiateDependencies: an extension that an active one requires, by the card's params,
// is activated, too. Optional ones are not, nor those that an inactive extension requires.
func TestNegotiateDependencies(t *testing.T) {
	card := &a2a.Card{Extensions: []a2a.Extension{
		{URI: "https://x.example/a/v1", Params: `{"dependencies":["https://x.example/b/v1",{"uri":"https://x.example/c/v1","required":false},7,"no uri"]}`},
		{URI: "https://x.example/b/v1", Params: `{"requires":[{"uri":"urn:x:d"}]}`},
		{URI: "https://x.example/c/v1"},
		{URI: "https://x.example/e/v1", Params: `{"requires":["https://x.example/f/v1"]}`},
	}}
	var active []string
	for _, v := range Negotiate(card, []string{"https://x.example/a/v1"}) {
		if v.Active {
			active = append(active, v.URI)
		}
	}
	if want := []string{"https://x.example/a/v1", "https://x.example/b/v1", "urn:x:d"}; !slices.Equal(active, want) {
		t.Errorf("active are %q, and not %q", active, want)
	}
}
