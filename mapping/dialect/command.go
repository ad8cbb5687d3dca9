package dialect

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

// maxCommands bounds a list of commands from outside: more than any menu takes.
const maxCommands = 1000

// SlashCommands are what a dialect has for slash commands. The zero value: there are none.
type SlashCommands struct {
	// List is the request for them, and Run makes the one that runs one.
	List SideRequest
	Run  func(path []string, args string) SideRequest
	// Text reads the answer to that as text to show. nil: it is an [Execution].
	Text func(answer json.RawMessage) string
}

// SlashCommands are those of the agent's dialect.
func (w Writing) SlashCommands() SlashCommands { return w.dialect().commands() }

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
			full := strings.TrimSpace(prefix + " " + strings.TrimSpace(strings.TrimPrefix(name, prefix+" ")))
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
