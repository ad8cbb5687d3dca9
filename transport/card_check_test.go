package transport

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

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
			if string(card) != raw {
				t.Errorf("%s: %q is checked", at, card)
			}
			return card, nil
		}})
		if card, err := c.Card(t.Context()); err != nil || card.Name != "\uFFFD\uFFFD" {
			t.Errorf("%s: %+v, %v", at, card, err)
		}
	}
}
