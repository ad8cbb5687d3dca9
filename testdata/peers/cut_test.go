package peers

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// A cutter is a proxy in front of an agent, also in its card, that breaks the first
// stream after some events. It still reads the agent's stream to its end: agents tie
// work to connections.
type cutter struct {
	url     string
	cuts    atomic.Int32
	after   int
	follows atomic.Int32 // how often a task was asked for, or subscribed to
}

func startCutter(t *testing.T, agent string, after int) *cutter {
	t.Helper()
	target, err := url.Parse(agent)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{after: after}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Accept-Encoding")
	}, ModifyResponse: func(r *http.Response) error {
		if !strings.HasSuffix(r.Request.URL.Path, "/agent-card.json") {
			return nil
		}
		card, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		card = bytes.ReplaceAll(card, []byte(strings.TrimSuffix(agent, "/")), []byte(c.url))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(card)), int64(len(card))
		r.Header.Del("Content-Length")
		r.Header.Del("ETag")
		return nil
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		call := r.URL.Path + " " + string(body)
		sends := strings.Contains(call, "/message:stream") || strings.Contains(call, `"method":"message/stream"`) || strings.Contains(call, `"method":"SendStreamingMessage"`)
		if !sends && !strings.HasSuffix(r.URL.Path, "/agent-card.json") {
			c.follows.Add(1)
		}
		if !sends || !c.cuts.CompareAndSwap(0, 1) {
			proxy.ServeHTTP(w, r)
			return
		}
		c.cut(w, r, agent, body)
	}))
	c.url = s.URL
	t.Cleanup(s.Close)
	return c
}

// cut passes some events on, and hangs up.
func (c *cutter) cut(w http.ResponseWriter, r *http.Request, agent string, body []byte) {
	req, err := http.NewRequest(r.Method, strings.TrimSuffix(agent, "/")+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer func() {
		go func() { // ends with the agent's stream
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}()
		panic(http.ErrAbortHandler)
	}()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	seen := 0
	var one [1]byte
	for last := byte(0); seen < c.after; last = one[0] {
		if _, err := io.ReadFull(resp.Body, one[:]); err != nil {
			return
		}
		_, _ = w.Write(one[:])
		if one[0] == '\n' && last == '\n' {
			seen++
		}
	}
	w.(http.Flusher).Flush()
}

// A cut stream continues over HTTP+JSON as over JSON-RPC: the whole answer is there
// once, and the message was sent once.
func TestSDKCut(t *testing.T) {
	for _, peer := range []struct {
		server   string
		versions []string
	}{
		{goV2, []string{"1.0", "1.0 http+json", "0.3 http+json"}},
		{jsV1, []string{"1.0", "1.0 http+json", "0.3 http+json"}},
		{jsV03, []string{"0.3", "0.3 http+json"}},
	} {
		t.Run(peer.server, func(t *testing.T) {
			t.Parallel()
			agent := sdkServer(t, peer.server)
			for _, version := range peer.versions {
				t.Run("version="+version, func(t *testing.T) {
					t.Parallel()
					c := startCutter(t, agent, 5)
					trace := filepath.Join(t.TempDir(), "trace.jsonl")
					e := open(t, append([]string{"--agent", c.url, "--trace", trace}, asked(version)...)...)
					got := e.Prompt(e.NewSession(t.TempDir()), "count 8 300").story()
					want := []string{
						`title: count 8 300`,
						`agent_message_chunk text: working on it`,
						`agent_message_chunk text: chunk-0 chunk-1 chunk-2 chunk-3 chunk-4 chunk-5 chunk-6 chunk-7 `,
						`stopReason end_turn`,
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s, A2A %s, cut: the editor saw\n\t%s\nwant\n\t%s", peer.server, version,
							strings.Join(quoted(got), "\n\t"), strings.Join(quoted(want), "\n\t"))
					}
					e.Close()
					if c.cuts.Load() != 1 || c.follows.Load() == 0 {
						t.Errorf("cut %d times, followed by %d requests", c.cuts.Load(), c.follows.Load())
					}
				})
			}
		})
	}
}
