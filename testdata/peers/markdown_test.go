package peers

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMarkdownRenderers: questions that hold whatever Markdown swallows look the same in the
// renderers that editors have.
func TestMarkdownRenderers(t *testing.T) {
	needNode(t, 20)
	dir := installNPM(t, "markdown-14.1.0-16.4.0", filepath.Join("markdown", "package.json"))
	out, err := exec.Command("node", filepath.Join("markdown", "render.mjs"), dir, filepath.Join("..", "questions.json")).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %.2000s", err, out)
	}
}
