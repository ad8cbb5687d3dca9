package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Gemini CLI as an ACP agent in IDE mode waits for the companion's decision even if its
// ACP client has allowed an edit. If the editor shows diffs, its decision ends that. If
// it shows none, the CLI is offered none, and does not wait.
func TestCompanionGeminiACP(t *testing.T) {
	t.Parallel()
	for _, noDiffs := range []bool{false, true} {
		t.Run(fmt.Sprintf("noDiffs=%v", noDiffs), func(t *testing.T) {
			t.Parallel()
			p := newPlaces(t)
			e := openCompanion(t, p, fmt.Sprintf("--no-diffs=%v", noDiffs))
			// The discovery file is enough; in a container the CLI needs its place.
			g := openGeminiACP(t, p, &startedParams{Env: map[string]string{"REMOTE_CONTAINERS": "true"}})
			g.call(1, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
			session := g.call(2, "session/new", map[string]any{"cwd": p.workspace, "mcpServers": []any{}})["sessionId"]
			g.send(3, "session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": script("write", p.workspace)}}})
			want := "hello world\n"
			if !noDiffs {
				d := wantDiff(t, "opened", e.opened)
				want = "by the user\n"
				e.accept(d, want)
			}
			if result := g.answer(3); result["stopReason"] != "end_turn" {
				t.Errorf("the prompt ended with %v", result)
			}
			wantFile(t, want, p.workspace, "hello.txt")
			if len(e.opened) > 0 {
				t.Error("the editor was asked to show a diff")
			}
		})
	}
}

// A geminiACP is Gemini CLI as an ACP agent, whose client allows everything once.
type geminiACP struct {
	t       *testing.T
	encoder *json.Encoder
	lines   chan map[string]any
}

func openGeminiACP(t *testing.T, p *companionPlaces, started *startedParams) *geminiACP {
	t.Helper()
	script, model := prepareGemini(t, p), startModel(t, p, t.TempDir())
	cmd := exec.Command("node", script, "--acp")
	cmd.Dir = p.workspace
	cmd.Env = append(p.env("GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL="+model), variables(started)...)
	stdin, stdout := startPiped(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	g := &geminiACP{t: t, encoder: json.NewEncoder(stdin), lines: make(chan map[string]any, 1000)}
	go func() { // ends with the process
		defer close(g.lines)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var m map[string]any
			if json.Unmarshal(lines.Bytes(), &m) == nil {
				g.lines <- m
			}
		}
	}()
	return g
}

func (g *geminiACP) send(id int, method string, params any) {
	g.t.Helper()
	if err := g.encoder.Encode(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		g.t.Fatal(err)
	}
}

func (g *geminiACP) call(id int, method string, params any) map[string]any {
	g.t.Helper()
	g.send(id, method, params)
	return g.answer(id)
}

// answer waits for an answer, and allows all questions meanwhile.
func (g *geminiACP) answer(id int) map[string]any {
	g.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case m, ok := <-g.lines:
			switch {
			case !ok:
				g.t.Fatal("Gemini CLI has ended")
			case m["method"] == "session/request_permission":
				outcome := map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "proceed_once"}}
				if err := g.encoder.Encode(map[string]any{"jsonrpc": "2.0", "id": m["id"], "result": outcome}); err != nil {
					g.t.Fatal(err)
				}
			case m["method"] == nil && m["id"] == float64(id):
				result, ok := m["result"].(map[string]any)
				if !ok {
					g.t.Fatalf("%v", m)
				}
				return result
			}
		case <-timeout:
			g.t.Fatalf("request %d is not answered", id)
		}
	}
}

// prepareGemini installs Gemini CLI, and gives it settings with IDE mode on.
func prepareGemini(t *testing.T, p *companionPlaces) (script string) {
	t.Helper()
	if testing.Short() {
		t.Skip("Gemini CLI is 100 MB: not with -short")
	}
	needNode(t, 20)
	dir := installNPM(t, "gemini-cli-0.61.0", filepath.Join("companion", "gemini-cli.package.json"))
	write(t, filepath.Join(p.home, ".gemini", "settings.json"), geminiSettings)
	return filepath.Join(dir, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")
}
