package companion

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestContextPace: a thousand updates a second cost a CLI 20 notifications a
// second, and the last one always arrives.
func TestContextPace(t *testing.T) {
	dir := filesIn(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cli, n := w.connect(), 0
		update := func() (context string) {
			n++
			context = fmt.Sprintf(`{"workspaceState":{"openFiles":[{"path":"%sa","timestamp":%d}]}}`, dir, n)
			say(t, w.server, MethodContextUpdate, context)
			return context
		}
		synctest.Wait()
		cli.heard()
		for second := range 3 {
			for range 1000 {
				update()
				time.Sleep(time.Millisecond)
			}
			contexts := cli.heard()
			must.True(t, len(contexts) != 0 && len(contexts) <= 20, "contexts in second", second, len(contexts))
		}
		// A burst that ends at any time: its last update is the last one shown.
		last := ""
		for _, pause := range []time.Duration{0, 1, contextInterval - 1, contextInterval, contextInterval + 1, time.Second} {
			time.Sleep(pause)
			last = update()
			time.Sleep(2 * contextInterval)
			synctest.Wait()
			if contexts := cli.heard(); len(contexts) == 0 || !strings.HasSuffix(contexts[len(contexts)-1], last+"}") {
				t.Errorf("after a pause of %v: %q, want %s at the end", pause, contexts, last)
			}
		}
		// The same again is no news, but for a CLI that comes later.
		say(t, w.server, MethodContextUpdate, last)
		late := w.connect()
		time.Sleep(time.Second)
		synctest.Wait()
		wantLines(t, "when nothing has changed, a CLI", cli.heard())
		must.Equal(t, len(late.heard()), 2, "what the CLI that came later was told")
	})
}

// FuzzContext: of whatever an editor says, a CLI is told nothing that its schema
// refuses, and nothing in which it would find no active file if there is one; and
// what is shown is shown the same when it is said again.
func FuzzContext(f *testing.F) {
	dir := filesIn(f)
	for _, seed := range []string{`{}`, `null`, `{"workspaceState":{"isTrusted":true,"openFiles":[{"path":"@a","timestamp":1,"isActive":true,"selectedText":"x","cursor":{"line":1,"character":1}},{"path":"@b","timestamp":1e300,"isActive":true},{"path":"@c","timestamp":-1}]}}`} {
		f.Add([]byte(strings.ReplaceAll(seed, "@", dir)))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		s := &Server{hub: newHub(&scriptedEditor{}, nil)}
		if _, err := s.Handle(MethodContextUpdate, said); err != nil {
			if !errors.Is(err, ErrParams) {
				t.Fatal(err)
			}
			return
		}
		shown := must.Get(json.Marshal(s.Context()))(t)
		strictContext(t, shown)
		must.Get(s.Handle(MethodContextUpdate, shown))(t)
		if again, _ := json.Marshal(s.Context()); string(again) != string(shown) {
			t.Fatalf("shown as\n%s\nand then as\n%s", shown, again)
		}
	})
}

// strictContext is the CLIs' schema (gemini-cli, packages/core/src/ide/types.ts),
// and what they make of the order (ideContext.ts).
func strictContext(t *testing.T, text []byte) {
	t.Helper()
	var c map[string]any
	must.Do(t, json.Unmarshal(text, &c))
	state, ok := c["workspaceState"].(map[string]any)
	if !ok && c["workspaceState"] != nil {
		t.Fatalf("workspaceState is %v", c["workspaceState"])
	}
	for name, v := range state {
		if _, is := v.(bool); name == "isTrusted" && !is {
			t.Fatalf("isTrusted is %v", v)
		}
	}
	files, _ := state["openFiles"].([]any)
	if len(files) > maxOpenFiles {
		t.Fatalf("%d files", len(files))
	}
	for i, f := range files {
		f := f.(map[string]any)
		_, isPath := f["path"].(string)
		timestamp, isNumber := f["timestamp"].(float64)
		text, _ := f["selectedText"].(string)
		_, hasCursor := f["cursor"]
		active, _ := f["isActive"].(bool)
		if !isPath || !isNumber || len(text) > maxSelectedText || !active && (text != "" || hasCursor) || active && i > 0 {
			t.Fatalf("file %d of %s", i, files)
		}
		if first := files[0].(map[string]any)["timestamp"].(float64); timestamp > first {
			t.Fatalf("file %d is newer than the first: %s", i, files)
		}
	}
}
