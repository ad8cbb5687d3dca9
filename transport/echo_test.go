package transport

import (
	"net/http"
	"slices"
	"testing"
)

// TestEchoed: the client knows the extensions that an answer names as active, in both
// versions, on one line or several. If an answer names none, it is not known.
func TestEchoed(t *testing.T) {
	for _, test := range []struct {
		version, header string
		values, want    []string
	}{
		{"0.3", "X-A2A-Extensions", []string{"https://x.example/a", "https://x.example/b"}, []string{"https://x.example/a", "https://x.example/b"}},
		{"1.0", "A2A-Extensions", []string{"https://x.example/a, https://x.example/b"}, []string{"https://x.example/a", "https://x.example/b"}},
		{"1.0", "A2A-Extensions", []string{""}, []string{}},
		{"1.0", "Other", []string{"https://x.example/a"}, nil},
	} {
		agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
			for _, v := range test.values {
				w.Header().Add(test.header, v)
			}
			wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task"}}`)(w, r)
		})
		c := wireClient(t, agent.URL, &ClientOptions{Version: test.version})
		_, _ = c.Get(t.Context(), "t", -1)
		got, ok := c.Echoed()
		if !slices.Equal(got, test.want) || ok != (test.want != nil) {
			t.Errorf("A2A %s, %s %q: %q %v", test.version, test.header, test.values, got, ok)
		}
	}
}
