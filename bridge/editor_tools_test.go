package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/mcp"
)

// A toolsWire is the agent's end of the editor's MCP server, and a directory that is served.
type toolsWire struct {
	t   *testing.T
	dir string

	answer func(context.Context, *mcp.Message) *mcp.Reply
	wire
}

// newToolsWire has the files a.txt, .hidden, .git/config, src/good.txt and large, which is larger than a
// model may send; and links: out and outdir, to a file elsewhere and its directory, in, to a.txt, hidden,
// to .hidden, and hard, a hard link to the file elsewhere.
func newToolsWire(t *testing.T) *toolsWire {
	base := must.Get(filepath.EvalSymlinks(must.ShortDir(t)))(t)
	dir, elsewhere := filepath.Join(base, "dir"), filepath.Join(base, "elsewhere", "secret.txt")
	for path, content := range map[string]string{filepath.Join(dir, "a.txt"): "on the disk", filepath.Join(dir, ".hidden"): "h", elsewhere: "s",
		filepath.Join(dir, ".git", "config"): "c", filepath.Join(dir, "src", "good.txt"): "12345", filepath.Join(dir, "large"): strings.Repeat("x", 8<<20+1)} {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)))
	}
	for name, to := range map[string]string{"out": elsewhere, "outdir": filepath.Dir(elsewhere), "in": filepath.Join(dir, "a.txt"), "hidden": ".hidden"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	must.Do(t, os.Link(elsewhere, filepath.Join(dir, "hard")))
	return &toolsWire{t: t, dir: dir}
}

func (w *toolsWire) host(answer func(context.Context, *mcp.Message) *mcp.Reply) (url, token string, stop func() error, err error) {
	w.answer = answer
	w.write("M< served")
	return "http://127.0.0.1:1/mcp", "the-token", func() error { w.write("M< ended"); return nil }, nil
}

// companion is one whose user looks at a.txt, and has a file elsewhere open.
func (w *toolsWire) companion(bridge.CompanionEditor, bridge.CompanionInfo) (bridge.Companion, error) {
	return fakeCompanion{w.dir}, nil
}

type fakeCompanion struct{ dir string }

func (fakeCompanion) Handle(string, json.RawMessage) (any, error) { return struct{}{}, nil }
func (c fakeCompanion) OpenFiles() []bridge.OpenFile {
	return []bridge.OpenFile{{Path: filepath.Join(c.dir, "a.txt"), Active: true, Line: 3, Selection: "disk"}, {Path: "/elsewhere"}}
}
func (fakeCompanion) Close() error { return nil }

func (w *toolsWire) say(line string) {
	var m mcp.Message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		w.t.Error(err)
		return
	}
	go func() { // ends with the call
		reply, err := json.Marshal(w.answer(context.Background(), &m))
		if err != nil {
			w.t.Error(err)
		}
		w.write("M< " + string(reply))
	}()
}
