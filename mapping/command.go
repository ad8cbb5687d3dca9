package mapping

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// maxCommands bounds a list of commands from outside: more than any menu takes.
const maxCommands = 1000

// A Command is a slash command, as an editor offers it.
type Command struct {
	// Name has a blank for each level of nesting: "memory show".
	Name        string
	Description string
	// Hint names the arguments; empty: it takes none.
	Hint string
}

// CommandList is the request for the agent's slash commands, and CommandRun the one
// that runs one; zero if agents of the dialect have none.
func (w Writing) CommandList() SideRequest {
	if d := w.dialect(); d != nil {
		return d.commands().list
	}
	return SideRequest{}
}

// CommandRun: see [Writing.CommandList].
func (w Writing) CommandRun(path []string, args string) SideRequest {
	if d := w.dialect(); d != nil && d.commands().run != nil {
		return d.commands().run(path, args)
	}
	return SideRequest{}
}

// CommandText reads the answer to a command that was run as text to show; false if
// it is none.
func (w Writing) CommandText(raw json.RawMessage) (string, bool) {
	if d := w.dialect(); d != nil && d.commands().text != nil {
		return d.commands().text(raw)
	}
	return "", false
}

// Commands reads the answer to commands/get (the RFC's
// GetAllSlashCommandsResponse), or to Gemini's GET /listCommands, which is
// spelled in lowerCamelCase: nested commands are named by their path.
func Commands(result json.RawMessage) []Command {
	var list []Command
	var walk func(prefix string, commands gjson.Result, depth int)
	walk = func(prefix string, commands gjson.Result, depth int) {
		commands.ForEach(func(_, c gjson.Result) bool {
			name := strings.TrimSpace(c.Get("name").String())
			if name == "" || len(list) >= maxCommands || depth > 8 {
				return len(list) < maxCommands
			}
			// Gemini names a nested command by its whole path.
			full := strings.TrimSpace(prefix + " " + strings.TrimSpace(strings.TrimPrefix(name, prefix)))
			list = append(list, Command{full, c.Get("description").String(), hint(c.Get("arguments"))})
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

// FindCommand reports which command a prompt begins with: the longest name after
// the slash, with blanks between its words.
func FindCommand(commands []Command, prompt string) (path []string, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(prompt), "/")
	if !ok {
		return nil, "", false
	}
	best := ""
	for _, c := range commands {
		if len(c.Name) <= len(best) || !strings.HasPrefix(rest, c.Name) {
			continue
		}
		if after := rest[len(c.Name):]; after == "" || after[0] == ' ' || after[0] == '\n' {
			best, args = c.Name, strings.TrimSpace(after)
		}
	}
	return strings.Fields(best), args, best != ""
}
