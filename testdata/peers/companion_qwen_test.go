package peers

import (
	"path/filepath"
	"testing"
)

// qwenSettings turn IDE mode on, and questions and telemetry off.
const qwenSettings = `{"ide":{"enabled":true,"hasSeenNudge":true},"security":{"auth":{"selectedType":"gemini"},"folderTrust":{"enabled":false}},
"general":{"enableAutoUpdate":false,"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false},"model":{"name":"gemini-fake"},"tools":{"approvalMode":"default"}}`

// The real Qwen Code finds the companion by its lock file, without the variables of the
// editor's terminal, and lets the editor decide about its edits.
func TestCompanionQwen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("Qwen Code is 144 MB: not with -short")
	}
	needNode(t, 20)
	dir := installNPM(t, "qwen-code-0.24.4", filepath.Join("companion", "qwen-code.package.json"))
	p := newPlaces(t)
	file := filepath.Join(p.workspace, "edit.txt")
	write(t, file, "alpha\nbeta\n")
	e := openCompanion(t, p)
	e.show(file, "beta is selected")
	write(t, filepath.Join(p.home, ".qwen", "settings.json"), qwenSettings)
	q := openTerminal(t, p, &startedParams{}, filepath.Join(dir, "node_modules", "@qwen-code", "qwen-code", "cli.js"))
	q.see("Type your message")
	q.say("/ide status")
	q.see("Connected to Test Editor")
	q.say(script("write", p.workspace))
	text := q.request("[[write]]")
	contains(t, "the request", text, "beta is selected")
	d := wantDiff(t, "opened", e.opened)
	e.accept(d, "by the user\n")
	q.see("Created hello.txt.")
	wantFile(t, "by the user\n", d.FilePath)
}
