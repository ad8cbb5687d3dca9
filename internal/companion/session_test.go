package companion

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestStalled: a CLI that does not read (it was stopped) keeps nothing from the
// others; when it has not read for long, it and its diffs are gone.
func TestStalled(t *testing.T) {
	dir := filesIn(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli, stalled := w.connect(), &testCLI{world: w}
		_, header := w.do(http.MethodPost, initialize)
		stalled.id = header.Get(mcphttp.SessionHeader)
		stalled.tool("openDiff", `{"filePath":"/w/s","newContent":"x"}`)
		conn := must.Get(w.net.Dial(t.Context(), "", ""))(t)
		defer conn.Close()
		// It reads nothing, from the first byte of the answer on.
		must.Do(t, w.request(t.Context(), http.MethodGet, "", mcphttp.SessionHeader, stalled.id).Write(conn))
		synctest.Wait()
		w.editor.heard()
		cli.heard()
		for i := range 100 {
			say(t, w.server, MethodContextUpdate, fmt.Sprintf(`{"workspaceState":{"openFiles":[{"path":"%s%c","timestamp":1}]}}`, dir, 'a'+i%2))
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		must.Equal(t, len(cli.heard()), 100, "contexts that a CLI heard beside one that is stalled")
		time.Sleep(mcphttp.WriteWait + sessionGrace)
		synctest.Wait()
		wantLines(t, "the editor", w.editor.heard(), "ide/closeDiff 1 /w/s")
		must.Equal(t, len(w.server.mcp.sessions), 1, "sessions")
	})
}
