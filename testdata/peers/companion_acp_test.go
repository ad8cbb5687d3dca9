package peers

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
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
			cmd := exec.Command("node", prepareGemini(t, p), "--acp")
			cmd.Dir = p.workspace
			cmd.Env = p.env("GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL="+startModel(t, p, t.TempDir()), "REMOTE_CONTAINERS=true", "GEMINI_CLI_NO_RELAUNCH=true")
			g := begin(t, cmd)
			t.Cleanup(g.Kill)
			g.Call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
			turn := g.Prompt(g.NewSession(p.workspace), script("write", p.workspace))
			want := "hello world\n"
			if !noDiffs {
				d := wantDiff(t, "opened", e.opened)
				want = "by the user\n"
				e.accept(d, want)
			}
			turn.End("end_turn")
			wantFile(t, want, p.workspace, "hello.txt")
			if len(e.opened) > 0 {
				t.Error("the editor was asked to show a diff")
			}
		})
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
