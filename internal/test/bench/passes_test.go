package bench

import (
	"flag"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

var chunkCount = flag.Int("chunks", 100, "how many TestChunks plays")

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestChunks plays chunks of text, one a write, through the whole bridge, with its journal. The
// repository's TestPasses counts which functions it calls for each.
func TestChunks(t *testing.T) {
	wire, left := newFakeWire("1.0", small(artifactV1, ringSize, false), 1), *chunkCount
	chunks := readerFunc(func(b []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		left--
		return wire.read(b)
	})
	s := must.Get(store.Open(t.TempDir()))(t)
	e, err := editor.Start(&editor.Options{URL: "http://agent.invalid/", Store: s, Network: roundTrip(func(r *http.Request) (*http.Response, error) {
		return wire.answer(r, io.MultiReader(chunks, strings.NewReader("data: "+wire.script.end+"\n\n")))
	})})
	if err != nil {
		t.Fatal(err)
	}
	turn := e.Prompt("go")
	<-turn.Done
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	shown := 0
	for _, x := range turn.Shown {
		if x.Kind == editor.Text {
			shown++
		}
	}
	if shown != *chunkCount || turn.Stop != "end_turn" {
		t.Errorf("%d of %d chunks are shown, %s %s", shown, *chunkCount, turn.Stop, turn.Err)
	}
}
