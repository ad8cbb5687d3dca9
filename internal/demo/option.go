package demo

import (
	"fmt"
	"sync"
)

// An effect is what choosing an option does. It belongs to the option, not to its ID or
// name: the extension gives these no meaning.
type effect int

const (
	reject effect = iota // do not run the call
	once                 // run this call
	always               // and each later call of this tool, until the session ends
)

// The options of each confirmation request.
const (
	optionOnce   = "proceed_once"
	optionAlways = "proceed_always"
	optionCancel = "cancel"
)

func options() []confirmationOption {
	return []confirmationOption{
		{optionOnce, "Allow once", "Run this call only.", once},
		{optionAlways, "Always allow", "Run this tool without asking, until the session ends.", always},
		{optionCancel, "Reject", "Do not run it.", reject},
	}
}

// A memory holds the tools that need not be asked for again.
type memory struct {
	mu    sync.Mutex
	tools map[string]bool
}

// toolOf is a call's tool, and the MCP server that has it.
func toolOf(c toolCall) string {
	if d := c.Confirmation.MCP; d != nil {
		return fmt.Sprintf("%q of %q", d.ToolName, d.ServerName)
	}
	return fmt.Sprintf("%q", c.Name)
}

func (m *memory) allows(c toolCall) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tools[toolOf(c)]
}

func (m *memory) allow(c toolCall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tools == nil {
		m.tools = map[string]bool{}
	}
	m.tools[toolOf(c)] = true
}
