package spell

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestMCPHeld: all that waits to be taken counts, so that an agent which says more has to wait.
func TestMCPHeld(t *testing.T) {
	m := &MCP{}
	uri := "https://agent.example/" + strings.Repeat("x", 1_000)
	for range 10 {
		m.Append([]mapping.Step{{Kind: mapping.StepPart, Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{URI: uri}}}})
	}
	if m.Size() < 10_000 {
		t.Errorf("%d bytes wait", m.Size())
	}
	if m.Take(1 << 20); m.Size() != 0 {
		t.Errorf("%d bytes wait when all was taken", m.Size())
	}
}
