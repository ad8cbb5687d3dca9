package peers

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
