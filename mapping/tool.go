package mapping

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// ToolKind returns ACP's kind of a tool: the agent's own word for it, what the
// call asks for, or what its name is known for.
func ToolKind(c *ToolCall) string {
	if c.Kind != "" && c.Kind != acp.KindOther {
		return c.Kind
	}
	if q := c.Confirmation; q != nil {
		switch {
		case q.Execute != nil:
			return acp.KindExecute
		case q.Edit != nil:
			return acp.KindEdit
		case q.Generic != nil && q.Generic.Kind == "exit_plan_mode":
			return acp.KindSwitchMode
		}
	}
	switch strings.ToLower(c.Name) {
	case "read_file", "read_many_files", "list_directory", "readfile", "readfolder", "ls", "read", "view":
		return acp.KindRead
	case "glob", "search_file_content", "grep", "grep_search", "findfiles", "searchtext", "search", "find":
		return acp.KindSearch
	case "write_file", "replace", "edit", "edit_file", "writefile", "write", "create_file", "apply_patch", "str_replace":
		return acp.KindEdit
	case "run_shell_command", "shelltool", "shell", "bash", "execute", "exec", "run_command", "terminal":
		return acp.KindExecute
	case "web_fetch", "google_web_search", "fetch", "webfetch", "web_search", "http_get":
		return acp.KindFetch
	case "delete_file", "remove_file", "rm", "delete":
		return acp.KindDelete
	case "move_file", "rename_file", "mv", "rename":
		return acp.KindMove
	case "think":
		return acp.KindThink
	}
	return acp.KindOther
}

// Title describes a call in one line.
func Title(c *ToolCall) string {
	if q := c.Confirmation; q != nil {
		switch {
		case q.Execute != nil && q.Execute.Command != "":
			return ask.OneLine(q.Execute.Command)
		case q.MCP != nil:
			return ask.OneLine(ask.Named(q.MCP.ServerName) + ": " + ask.Named(q.MCP.ToolName))
		}
	}
	name := cmp.Or(c.DisplayName, c.Name)
	if ToolKind(c) == acp.KindExecute {
		if command := rawjson.Member(string(c.Input), "command"); rawjson.IsString(command) {
			return ask.OneLine(calls.StringOf(command))
		}
	}
	detail := c.Description
	if path := ToolPath(c); path != "" && ToolKind(c) != acp.KindExecute {
		detail = filepath.Base(path)
	}
	switch {
	case detail == "" || detail == name:
		return ask.OneLine(name)
	case name == "":
		return ask.OneLine(detail)
	}
	return ask.OneLine(name + ": " + detail)
}

// ToolLine is the line of that file at which a call's input begins, from 1; 0 if it names
// none. An offset is none: some agents count it from 0.
func ToolLine(c *ToolCall) (line int64) {
	rawjson.EachMember(string(c.Input), func(key, value string) bool {
		switch key {
		case "line", "start_line", "startLine", "line_number", "lineNumber":
			line, _ = strconv.ParseInt(value, 10, 32)
		}
		return line <= 0
	})
	return max(line, 0)
}

// ToolPath is the file that a call is about, as the agent spells it.
func ToolPath(c *ToolCall) string {
	if q := c.Question(); q != nil && q.Edit != nil && q.Edit.FilePath != "" {
		return q.Edit.FilePath
	}
	if c.Output != nil && c.Output.Diff != nil && c.Output.Diff.FilePath != "" {
		return c.Output.Diff.FilePath
	}
	if c.Confirmation != nil && c.Confirmation.Edit != nil && c.Confirmation.Edit.FilePath != "" {
		return c.Confirmation.Edit.FilePath
	}
	// In one walk: an edit's input has the file's text as well.
	names := [...]string{"file_path", "filePath", "absolute_path", "path", "dir_path"}
	best, path := len(names), ""
	rawjson.EachMember(string(c.Input), func(key, value string) bool {
		for i, name := range names[:best] {
			if key == name && rawjson.IsString(value) && len(value) > len(`""`) {
				best, path = i, value
			}
		}
		return true
	})
	return calls.StringOf(path)
}
