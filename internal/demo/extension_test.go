package demo

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// An extension is testdata/extension.txt: the members of each type.
type extension map[string][]string

func readExtension(t *testing.T) extension {
	all := extension{}
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/extension.txt"))(t))) {
		if words := strings.Fields(line); words[0] != "#" {
			all[words[0]] = words[1:]
		}
	}
	return all
}

// A census counts the members of types that were met.
type census map[string]bool

func (s census) visit(known extension, name string, v any) {
	if list, ok := v.([]any); ok {
		for _, w := range list {
			s.visit(known, name, w)
		}
		return
	}
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	for member, value := range object {
		s[name+"."+member] = true
		for _, where := range known[name] {
			if field, typ, ok := strings.Cut(where, ":"); ok && field == member {
				s.visit(known, typ, value)
			}
			if field, enum, ok := strings.Cut(where, "="); ok && field == member {
				s[fmt.Sprint(enum, ".", value)] = true
			}
		}
	}
}

func TestEveryFieldOfTheExtensionIsSaid(t *testing.T) {
	met, extension := census{}, readExtension(t)
	converse(t, "0.3", &Options{}, func(t *testing.T, c *client) {
		for _, tale := range tales() {
			if tale.word == "long" || tale.word == "slow" {
				continue // nothing but text
			}
			for _, option := range []string{"proceed_once", "cancel"} {
				for c.stream(false, says(tale.word)).rest(); len(c.calls) > 0; {
					c.stream(true, answers(option, c.calls...)).rest()
				}
			}
		}
		c.call("commands/get", nil)
		for _, path := range [][]string{{"memory", "show"}, {"deploy"}, {"reset"}, {"fail"}} {
			c.call("command/execute", map[string]any{"command_path": path})
		}
		for _, e := range c.seen {
			if at(e, "execution_id") != nil {
				met.visit(extension, "ExecuteSlashCommandResponse", e)
			}
			if at(e, "commands") != nil {
				met.visit(extension, "GetAllSlashCommandsResponse", e)
			}
			if metadata, ok := at(e, "metadata").(map[string]any); ok {
				met.visit(extension, "DevelopmentToolEvent", metadata[ExtensionURI])
			} else if at(e, "kind") == "status-update" {
				t.Errorf("an update without metadata: %v", e)
			}
			data := at(e, "status.message.parts.0.data")
			switch {
			case at(data, "tool_call_id") != nil:
				met.visit(extension, "ToolCall", data)
			case data != nil:
				met.visit(extension, "AgentThought", data)
			}
			uris, _ := at(e, "status.message.extensions").([]any)
			must.True(t, at(e, "kind") != "status-update" || (data != nil) == slices.Contains(uris, any(ExtensionURI)), "the message's extensions", e)
		}
	})
	known := map[string]bool{}
	for typ, members := range extension {
		for _, member := range members {
			name := typ + "." + member[:(strings.IndexAny(member+":", ":="))]
			known[name] = true
			must.True(t, met[name], "no story says", name)
		}
	}
	for name := range met {
		must.True(t, known[name], name, "is in a story, and not in the extension")
	}
}
