package companion

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/mcp"
)

// TestHost: a server without sessions answers who has the token, by POST, until it is stopped.
func TestHost(t *testing.T) {
	url, token, stop, err := mcphttp.Host(func(_ context.Context, m *mcp.Message) *mcp.Reply {
		return m.Answer([]byte(`{"tools":[]}`), nil)
	})
	must.Do(t, err)
	for _, c := range []struct{ method, token, body, want string }{
		{"POST", token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `200 {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`},
		{"POST", token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `202 `},
		{"POST", "wrong", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `401 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the token is missing, or is another one"}}`},
		{"GET", token, "", `405 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"use POST"}}`},
	} {
		r := must.Get(http.NewRequestWithContext(t.Context(), c.method, url, strings.NewReader(c.body)))(t)
		r.Header.Set("Authorization", "Bearer "+c.token)
		r.Header.Set("Content-Type", "application/json")
		response := must.Get(http.DefaultClient.Do(r))(t)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		got := response.Status[:4] + string(body)
		must.True(t, err == nil && got == c.want, c.method, c.body, got, err, c.want)
	}
	must.Fail(t, stop(), "")
	if response, err := http.Get(url); err == nil {
		response.Body.Close()
		t.Error("it answers after its end")
	}
}
