package bench

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/transport"
)

var chunkCount = flag.Int("chunks", 100, "how many TestChunks plays")

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestChunks plays chunks of text, one a write, through the whole bridge, with its journal. The
// repository's TestPasses counts which functions it calls for each.
func TestChunks(t *testing.T) {
	wire, left := newFakeWire("1.0", small(artifactV1, ringSize, false), 1), *chunkCount
	body := readerFunc(func(b []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		left--
		return wire.read(b)
	})
	client, err := transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: roundTrip(
		func(r *http.Request) (*http.Response, error) { return wire.answer(r, body) })})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Wait()
	in, editor := io.Pipe()
	shown, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		defer out.Close()
		_ = bridge.Serve(ctx, in, out, &bridge.Options{Client: client, Store: s, Name: "agent"})
	}()
	lines := bufio.NewScanner(shown)
	ask := func(id int, method, params string) gjson.Result {
		_, _ = fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for lines.Scan() {
			if r := gjson.ParseBytes(lines.Bytes()); r.Get("id").Int() == int64(id) {
				return r.Get("result")
			}
		}
		t.Fatal(lines.Err())
		return gjson.Result{}
	}
	ask(1, "initialize", `{"protocolVersion":1}`)
	id := ask(2, "session/new", `{"cwd":"/","mcpServers":[]}`).Get("sessionId").Str
	_, _ = fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`+"\n", id)
	chunks := 0
	for chunks < *chunkCount && lines.Scan() {
		if strings.Contains(lines.Text(), `"agent_message_chunk"`) {
			chunks++
		}
	}
	if chunks < *chunkCount {
		t.Errorf("%d of %d chunks are shown", chunks, *chunkCount)
	}
	stop()
	_, _ = io.Copy(io.Discard, shown)
	<-done
}
