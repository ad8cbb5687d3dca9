package peers

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// The official TypeScript MCP client, with which Gemini CLI is made, finds in the
// companion what Gemini CLI needs: see companion/sdk.mjs.
func TestCompanionSDK(t *testing.T) {
	t.Parallel()
	needNode(t, 20)
	dir := installNPM(t, "companion-1.32.2", filepath.Join("companion", "package.json"))
	p := newPlaces(t)
	e := openCompanion(t, p)
	file := filepath.Join(p.workspace, "edit.txt")
	write(t, file, "alpha\nbeta\n")
	e.show(file, "beta")
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("companion", "sdk.mjs"), dir, e.started.url(), e.started.AuthToken, file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if n := bytes.Count(out, []byte("\nok ")); err != nil || n < 30 || bytes.Contains(out, []byte("FAIL")) {
		t.Errorf("%v\n%s%s", err, out, &stderr)
	}
}
