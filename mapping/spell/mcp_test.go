package spell

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestMCPHeld: all that waits to be taken counts, and has a bound, also if nobody takes it.
func TestMCPHeld(t *testing.T) {
	m := &MCP{}
	uri := "https://agent.example/" + strings.Repeat("x", 1_000)
	for range 10_000 {
		m.Append([]mapping.Step{{Kind: mapping.StepPart, Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{URI: uri}}}})
	}
	if size := m.Size(); size < 100_000 || size > mcpMost {
		t.Errorf("%d bytes wait", size)
	}
	if text, content := m.Take(1 << 20); m.Size() != 0 || len(content) == 0 || !strings.HasPrefix(text, "[Much has come") {
		t.Errorf("%d bytes wait when all was taken; %d of content, and %.100s", m.Size(), len(content), text)
	}
}
