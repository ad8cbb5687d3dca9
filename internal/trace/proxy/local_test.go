package proxy

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace/local"
)

// TestServe: requests that name this server, and have no foreign origin, are served
// until the context ends.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { // ends with ctx
		ended <- local.Serve(ctx, ":0", func(url string) http.Handler {
			urls <- url
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, url) })
		})
	}()
	url := <-urls
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	_, port, _ := strings.Cut(host, ":")
	for _, test := range []struct {
		host, origin string
		want         int
		site         string
	}{
		{host, "", 200, ""}, {"localhost:" + port, "", 200, ""}, {"[::1]:" + port, "", 200, ""}, {host, url[:len(url)-1], 200, "same-origin"}, {"127.0.0.2", "", 200, "none"},
		{"evil.example:" + port, "", 403, ""}, {host, "http://evil.example", 403, ""}, {host, "null", 403, ""}, {host, "https://" + host, 403, ""},
		{host, "", 403, "cross-site"}, {host, "", 403, "same-site"},
	} {
		req := must.Get(http.NewRequest("GET", url, nil))(t)
		req.Host = test.host
		if test.origin != "" {
			req.Header.Set("Origin", test.origin)
		}
		if test.site != "" {
			req.Header.Set("Sec-Fetch-Site", test.site)
		}
		resp := must.Get(http.DefaultClient.Do(req))(t)
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != test.want || test.want == 200 && string(body) != url {
			t.Errorf("Host %s, Origin %q: %d %s, want %d", test.host, test.origin, resp.StatusCode, body, test.want)
		}
	}
	cancel()
	must.Fail(t, <-ended, "")
	for _, bad := range []string{"nowhere", "127.0.0.1:99999"} {
		if err := local.Serve(t.Context(), bad, func(string) http.Handler { return nil }); err == nil {
			t.Errorf("%s is served", bad)
		}
	}
}
