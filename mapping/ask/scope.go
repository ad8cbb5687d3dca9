package ask

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// A Scope is what an "always" that the bridge remembers allows: calls whose scope is
// equal to it, member by member. It is exact on purpose. Wider rules, such as a list of
// harmless programs, were rejected: even `git log` runs what a cloned .git/config
// names.
type Scope struct {
	Kind ScopeKind
	// Command and Directory are a command's text and where it runs, as the agent
	// writes them; Input is what else its Tool is given.
	Command   string
	Directory string
	// Path is an edit's file: absolute, and resolved as far as the bridge can.
	Path string
	// Server and ServerTool are of an MCP call; ServerTool is empty in a scope
	// that covers the server.
	Server     string
	ServerTool string
	// Tool, Details and Input are of any other call; Tool is a command's, too.
	Tool    string
	Details string
	Input   string
}

// ScopeKind says which members of a [Scope] are set.
type ScopeKind uint8

// The kinds of scopes. ScopeNone covers nothing.
const (
	ScopeNone ScopeKind = iota
	ScopeCommand
	ScopeFile
	ScopeServerTool
	ScopeServer
	ScopeExact
)

// String says in words what the scope covers.
func (s Scope) String() string {
	switch s.Kind {
	case ScopeCommand:
		text := "the command " + strconv.Quote(s.Command)
		if s.Directory != "" {
			text += " in " + strconv.Quote(s.Directory)
		}
		return text
	case ScopeFile:
		return "edits of " + strconv.Quote(s.Path)
	case ScopeServerTool:
		return "the tool " + strconv.Quote(s.ServerTool) + " of the MCP server " + strconv.Quote(s.Server)
	case ScopeServer:
		return "every tool of the MCP server " + strconv.Quote(s.Server)
	case ScopeExact:
		return "the tool " + strconv.Quote(s.Tool) + " with the same details"
	}
	return "nothing"
}

// ScopeOf returns the narrowest scope that covers a call, ScopeNone if there is
// none: a call that is asked about in two ways at once, whose details say one
// thing and whose input another, that has no name, or that puts a question to the
// user, is never covered. The path of an edit is as the agent writes it.
func ScopeOf(c *calls.ToolCall) Scope {
	q := c.Confirmation
	if q == nil || q.Kinds() != 1 || q.Unread != "" || len(conflicts(c)) > 0 {
		return Scope{}
	}
	switch {
	case q.Execute != nil && q.Execute.Command != "":
		return Scope{Kind: ScopeCommand, Tool: c.Name, Command: q.Execute.Command, Directory: q.Execute.WorkingDirectory,
			Input: inputWithout(c, "description")}
	case q.Edit != nil && filepath.IsAbs(q.Edit.FilePath) && !climbs(q.Edit.FilePath):
		return Scope{Kind: ScopeFile, Path: filepath.Clean(q.Edit.FilePath)}
	case q.MCP != nil && q.MCP.ServerName != "" && q.MCP.ToolName != "":
		return Scope{Kind: ScopeServerTool, Server: q.MCP.ServerName, ServerTool: q.MCP.ToolName}
	case q.Generic != nil && c.Name != "" && (q.Generic.Kind == "" || q.Generic.Kind == "info"):
		return Scope{Kind: ScopeExact, Tool: c.Name, Details: q.Generic.Kind + "\x00" + q.Generic.Description, Input: inputWithout(c, "")}
	}
	return Scope{}
}

// climbs reports whether a path has a part "..": its target is not known if the part
// before it is a link.
func climbs(path string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
}

// Wider returns the scope of the call's MCP server; false if it is of none.
func (s Scope) Wider() (Scope, bool) {
	if s.Kind != ScopeServerTool {
		return Scope{}, false
	}
	return Scope{Kind: ScopeServer, Server: s.Server}, true
}

// inputWithout returns a call's input without one member: the agent describes a command
// in other words each time, which changes nothing.
func inputWithout(c *calls.ToolCall, without string) string {
	var b strings.Builder
	rawjson.EachMember(string(c.Input), func(key, value string) bool {
		if key != without {
			b.WriteString(strconv.Quote(key) + ":" + value + ",")
		}
		return true
	})
	return b.String()
}

// A conflict is a place where a call's input names something else than what the
// user is asked about.
type conflict struct{ what, input string }

// conflicts compares a call's details with its input: the agent runs one of the two,
// and which one is not known.
func conflicts(c *calls.ToolCall) (found []conflict) {
	q := c.Confirmation
	if q == nil || c.Input == "" {
		return nil
	}
	dir := commandDirectory(c)
	eachMemberDeep(string(c.Input), inputDepth, func(key, value string) {
		text := value
		if rawjson.IsString(value) {
			text = calls.StringOf(value)
		}
		switch {
		case value == "null":
		case q.Execute != nil && isCommandKey(key) && text != q.Execute.Command:
			found = append(found, conflict{"command", text})
		case q.Execute != nil && isDirectoryKey(key) && text != "" && filepath.Clean(text) != filepath.Clean(dir):
			found = append(found, conflict{"directory", text})
		case q.Edit != nil && isPathKey(key) && !samePath(text, q.Edit.FilePath):
			found = append(found, conflict{"path", text})
		}
	})
	return found
}

// inputDepth is how deep eachMemberDeep looks: tools' inputs are not as deep as that,
// and each level is read anew.
const inputDepth = 6

// eachMemberDeep calls do with each member of an object, and of those in it, down to depth.
func eachMemberDeep(raw string, depth int, do func(key, value string)) {
	switch {
	case depth == 0:
	case rawjson.IsObject(raw):
		rawjson.EachMember(raw, func(key, value string) bool {
			do(key, value)
			eachMemberDeep(value, depth-1, do)
			return true
		})
	case rawjson.IsArray(raw):
		rawjson.EachElement(raw, func(value string) bool {
			eachMemberDeep(value, depth-1, do)
			return true
		})
	}
}

// samePath reports whether an input's path is the one of the details, which is
// absolute by the extension: an input may be relative to the workspace.
func samePath(input, details string) bool {
	input, details = filepath.Clean(input), filepath.Clean(details)
	if filepath.IsAbs(input) || strings.HasPrefix(input, "..") {
		return input == details
	}
	return input == details || strings.HasSuffix(details, string(filepath.Separator)+input)
}

func isCommandKey(key string) bool { return key == "command" || key == "cmd" }

func isDirectoryKey(key string) bool { return slices.Contains(directoryKeys, key) }

func isPathKey(key string) bool { return slices.Contains(pathKeys, key) }

var (
	directoryKeys = strings.Fields("directory dir_path cwd workdir working_directory workingDirectory")
	pathKeys      = strings.Fields("file_path filePath absolute_path absolutePath path file filename file_name fileName " +
		"target_file targetFile notebook_path destination destination_path new_path newPath")
)
