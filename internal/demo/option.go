package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An effect is what choosing an option does. It belongs to the option, not to its ID or
// name: the extension gives these no meaning, and some stories offer options that have
// none, or two.
type effect int

const (
	reject       effect = iota // do not run the call
	once                       // run this call
	alwaysCall                 // and later each equal call
	alwaysTool                 // and each call of this tool
	alwaysServer               // and each call of this MCP server's tools
	alwaysSaved                // alwaysTool, also in other sessions
)

// The options of most confirmation requests.
const (
	optionOnce   = "proceed_once"
	optionAlways = "proceed_always"
	optionCancel = "cancel"
)

func options() []confirmationOption {
	return []confirmationOption{
		{optionOnce, "Allow once", "Run this call only.", once},
		{optionAlways, "Always allow", "Run this tool without asking, until the session ends.", alwaysTool},
		{optionCancel, "Reject", "Do not run it.", reject},
	}
}

// optionsForCall are options whose "always" allows only equal calls.
func optionsForCall() []confirmationOption {
	o := options()
	o[1].Description, o[1].effect = "Run exactly this without asking, until the session ends.", alwaysCall
	return o
}

// optionsForMCP are options whose "always" allows as much as their names say.
func optionsForMCP() []confirmationOption {
	return []confirmationOption{
		{optionOnce, "Allow once", "", once},
		{"proceed_always_tool", "Always allow this tool", "", alwaysTool},
		{"proceed_always_server", "Always allow all tools of this server", "", alwaysServer},
		{optionCancel, "Reject", "", reject},
	}
}

// A memory holds what need not be asked again.
type memory struct {
	mu   sync.Mutex
	keys map[string]bool
}

// memoryKey is the key of what an effect allows for good; empty for nothing. A call's
// key has all members of its request, so that a nearly equal call is asked.
func memoryKey(c toolCall, e effect) string {
	d := c.Confirmation
	switch e {
	case alwaysCall:
		asked := confirmationRequest{}
		if d != nil {
			asked = *d
			asked.Options = nil
		}
		return fmt.Sprintf("call %q %s %s", c.Name, part{data: c.Input}.json(), part{data: asked}.json())
	case alwaysTool, alwaysSaved:
		if d != nil && d.MCP != nil {
			return fmt.Sprintf("tool %q of %q", d.MCP.ToolName, d.MCP.ServerName)
		}
		return fmt.Sprintf("tool %q", c.Name)
	case alwaysServer:
		if d != nil && d.MCP != nil {
			return fmt.Sprintf("server %q", d.MCP.ServerName)
		}
	}
	return ""
}

func (m *memory) allows(c toolCall) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc([]effect{alwaysCall, alwaysTool, alwaysServer}, func(e effect) bool {
		return m.keys[memoryKey(c, e)]
	})
}

func (m *memory) allow(c toolCall, e effect) {
	key := memoryKey(c, e)
	if key == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil {
		m.keys = map[string]bool{}
	}
	m.keys[key] = true
}

// spokenOption finds the option of an answer in prose. Anything but a yes is a no.
func spokenOption(words []string, options []confirmationOption) confirmationOption {
	word := ""
	if len(words) > 0 {
		word = strings.ToLower(strings.Trim(words[0], ".,!"))
	}
	var wanted func(e effect) bool
	switch word {
	case "yes", "y", "ok", "sure", optionOnce:
		wanted = func(e effect) bool { return e == once }
	case "always", optionAlways:
		wanted = func(e effect) bool { return e > once }
	default:
		wanted = func(e effect) bool { return e == reject }
	}
	for _, o := range options {
		if wanted(o.effect) {
			return o
		}
	}
	if wanted(reject) {
		return confirmationOption{effect: reject}
	}
	return confirmationOption{ID: "yes", effect: once}
}
