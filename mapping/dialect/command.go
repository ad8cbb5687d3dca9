package dialect

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

// maxCommands bounds a list of commands from outside: more than any menu takes.
const maxCommands = 1000

// CommandList is the request for the agent's slash commands, and CommandRun the one
// that runs one; zero if agents of the dialect have none.
func (w Writing) CommandList() SideRequest {
	return w.dialect().commands().list
}

// CommandRun: see [Writing.CommandList].
func (w Writing) CommandRun(path []string, args string) SideRequest {
	if run := w.dialect().commands().run; run != nil {
		return run(path, args)
	}
	return SideRequest{}
}

// CommandText reads the answer to a command that was run as text to show; false if
// it is none.
func (w Writing) CommandText(raw json.RawMessage) (string, bool) {
	if text := w.dialect().commands().text; text != nil {
		return text(raw)
	}
	return "", false
}

// Commands reads the answer to commands/get (the RFC's
// GetAllSlashCommandsResponse), or to Gemini's GET /listCommands, which is
// spelled in lowerCamelCase: nested commands are named by their path.
func Commands(result json.RawMessage) []acp.Command {
	var list []acp.Command
	var walk func(prefix string, commands gjson.Result, depth int)
	walk = func(prefix string, commands gjson.Result, depth int) {
		commands.ForEach(func(_, c gjson.Result) bool {
			name := strings.TrimSpace(c.Get("name").String())
			if name == "" || len(list) >= maxCommands || depth > 8 {
				return len(list) < maxCommands
			}
			// Gemini names a nested command by its whole path.
			full := strings.TrimSpace(prefix + " " + strings.TrimSpace(strings.TrimPrefix(name, prefix)))
			list = append(list, acp.Command{Name: full, Description: c.Get("description").String(), Hint: hint(c.Get("arguments"))})
			walk(full, first(c, "sub_commands", "subCommands"), depth+1)
			return true
		})
	}
	walk("", gjson.GetBytes(result, "commands"), 0)
	return list
}

// hint writes arguments as a usage line does: <required> [optional].
func hint(arguments gjson.Result) string {
	var words []string
	arguments.ForEach(func(_, a gjson.Result) bool {
		name := a.Get("name").String()
		if d := a.Get("description").String(); d != "" {
			name += ": " + d
		}
		if first(a, "is_required", "isRequired").Bool() {
			words = append(words, "<"+name+">")
		} else {
			words = append(words, "["+name+"]")
		}
		return true
	})
	return strings.Join(words, " ")
}
