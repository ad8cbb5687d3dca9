package mapping

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
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

// ExecuteParams are command/execute's (the RFC's ExecuteSlashCommandRequest).
func ExecuteParams(path []string, args string) any {
	return struct {
		Path []string `json:"command_path"`
		Args string   `json:"args"`
	}{path, args}
}

// An Execution is the answer to command/execute (the RFC's
// ExecuteSlashCommandResponse): what follows of the command is told of the task
// of that ID.
type Execution struct {
	ID      string
	Failed  bool
	Message string
}

// Err is the error of an execution that did not start; nil if it has.
func (e Execution) Err() error {
	if e.Failed {
		return &CommandError{e.Message}
	}
	return nil
}

// A CommandError is a slash command that the agent did not start.
type CommandError struct {
	// Message is the agent's; it may be empty.
	Message string
}

func (e *CommandError) Error() string {
	if e.Message == "" {
		return "agent: the command did not start, and the agent does not say why"
	}
	return "agent: the command did not start: " + e.Message
}

// ReadExecution reads one; ok is false if it is something else. Of its statuses
// only FAILED_TO_START makes a difference: a confirmation that is awaited is
// asked for by the events that follow, and unspecified is as good as started.
func ReadExecution(raw a2a.JSON) (e Execution, ok bool) {
	o := gjson.Parse(string(raw))
	id := first(o, "execution_id", "executionId")
	status := o.Get("status")
	if !id.Exists() && !(status.Exists() && o.Get("message").Exists()) || status.IsObject() {
		return e, false
	}
	n, name := enum(status, "COMMAND_EXECUTION_STATUS_")
	e = Execution{ID: strings.Clone(id.String()), Message: strings.Clone(o.Get("message").String()),
		Failed: n == 2 || name == "FAILED_TO_START"}
	return e, true
}

// GeminiCommandResult puts the answer of Gemini's POST /executeCommand into
// words: its data as they are, if they are text.
func GeminiCommandResult(raw json.RawMessage) string {
	data := gjson.GetBytes(raw, "data")
	if content := data.Get("content"); content.Type == gjson.String {
		return content.Str
	}
	if data.Type == gjson.String {
		return data.Str
	}
	return "```json\n" + strings.TrimSpace(data.Get("@pretty").Raw) + "\n```\n"
}
