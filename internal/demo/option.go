package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An effect is what choosing an option does. It belongs to the option and not to
// its ID or name: the extension gives neither a meaning, and some stories offer
// options that have none, or two.
type effect int

const (
	reject       effect = iota // the call is not carried out
	once                       // this one is
	alwaysCall                 // and from now on each that is equal to it
	alwaysTool                 // and each of this tool
	alwaysServer               // and each of this MCP server's tools
	alwaysSaved                // alwaysTool, in the agent's other sessions, too
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

// optionsForCall are options, but what they allow for good is the call alone.
func optionsForCall() []confirmationOption {
	o := options()
	o[1].Description, o[1].effect = "Run exactly this without asking, until the session ends.", alwaysCall
	return o
}

// optionsForMCP allow for good as much as they say.
func optionsForMCP() []confirmationOption {
	return []confirmationOption{
		{optionOnce, "Allow once", "", once},
		{"proceed_always_tool", "Always allow this tool", "", alwaysTool},
		{"proceed_always_server", "Always allow all tools of this server", "", alwaysServer},
		{optionCancel, "Reject", "", reject},
	}
}

// A memory is what need not be asked for any more.
type memory struct {
	mu   sync.Mutex
	keys map[string]bool
}

// memoryKey names what an effect allows for good; it is empty if that is nothing.
// A call's key is all that its request tells, so that the nearest miss is asked.
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

// spokenOption finds the option that an answer in prose means. What is not a yes
// is a no.
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
