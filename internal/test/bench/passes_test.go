package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/transport"
)

func TestPasses(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("PASSES"))
	if n == 0 {
		t.Skip()
	}
	w := newFakeWire("1.0", small(artifactV1, ringSize, false), 1)
	left := n
	end := `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}}`
	_ = end
	rt := roundTrip(func(req *http.Request) (*http.Response, error) {
		return w.answer(req, readerFunc(func(b []byte) (int, error) {
			if left == 0 {
				return 0, io.EOF
			}
			m, err := w.read(b)
			if len(w.left) == 0 {
				left--
			}
			return m, err
		}))
	})
	client, err := transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: rt})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := store.Open(t.TempDir())
	in, editor := io.Pipe()
	shown, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- bridge.Serve(ctx, in, out, &bridge.Options{Client: client, Store: s, Name: "x"}) }()
	lines := bufio.NewScanner(shown)
	lines.Buffer(nil, 1<<20)
	until := func(ok func(gjson.Result) bool) gjson.Result {
		for lines.Scan() {
			if r := gjson.ParseBytes(lines.Bytes()); ok(r) {
				return r
			}
		}
		return gjson.Result{}
	}
	ask := func(id int, method, params string) gjson.Result {
		fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		return until(func(r gjson.Result) bool { return r.Get("id").Int() == int64(id) })
	}
	ask(1, "initialize", `{"protocolVersion":1}`)
	id := ask(2, "session/new", `{"cwd":"/","mcpServers":[]}`).Get("result.sessionId").Str
	fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`+"\n", id)
	seen := 0
	until(func(r gjson.Result) bool {
		if strings.Contains(r.Raw, "agent_message_chunk") {
			seen++
		}
		return seen >= n
	})
	stop()
	go io.Copy(io.Discard, shown)
	<-done
	client.Close()
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
