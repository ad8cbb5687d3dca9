//go:build unix && !linux

package agentproc

import "testing"

func TestNobodyIsLeft(t *testing.T) {
	t.Skip("only Linux has subreapers and /proc: here what left the agent's group survives (see the package's documentation)")
}
