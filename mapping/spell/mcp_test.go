package spell

import (
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
)

// TestMCPDoing: what an agent does is one line, whatever it calls its thoughts.
func TestMCPDoing(t *testing.T) {
	for subject, want := range map[string]string{"Planning": "Planning", " \n": "thinking", "a\x1b[2J\nstate: completed": `a\u{1B}[2J …`} {
		m := &MCP{}
		if m.Append([]mapping.Step{{Kind: mapping.StepThought, Subject: subject}}); m.Doing != want {
			t.Errorf("%q: %q, want %q", subject, m.Doing, want)
		}
	}
}
