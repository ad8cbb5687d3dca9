package ask

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// EditOnly returns the file that a call asks to change; false if it asks for
// anything else as well, or if it is not certain which file that is. All that the call
// says has to be known, and to agree: its kind, its name, and each member of its input.
func EditOnly(c *calls.ToolCall) (path string, ok bool) {
	s := ScopeOf(c)
	if s.Kind != ScopeFile || c.Kind != "" && c.Kind != acp.KindEdit && c.Kind != acp.KindOther ||
		!namesEdit(c.Name) || !namesEdit(c.DisplayName) || len(warnings(c)) > 0 || Left(c) > 0 {
		return "", false
	}
	for _, raw := range [...]string{string(c.Input), string(c.Extra)} {
		if raw != "" && !rawjson.IsObject(raw) || !editInput(c.Confirmation.Edit, raw, inputDepth) {
			return "", false
		}
	}
	return s.Path, true
}

// namesEdit reports whether each word of a tool's name, which may be empty, is of one that edits a file.
func namesEdit(name string) bool {
	return !slices.ContainsFunc(optionWords(name), func(w string) bool { return !slices.Contains(editWords, w) })
}

// editInput reports whether an input, "" or an object, asks for nothing but the edit. A number or a switch
// of a name that we do not know may be there, unless its name tells of another target.
func editInput(d *calls.FileDiff, raw string, depth int) bool {
	known := depth > 0
	rawjson.EachMember(raw, func(key, value string) bool {
		switch isText := rawjson.IsString(value); {
		case value == "null":
		case isPathKey(key):
			known = isText && samePath(calls.StringOf(value), d.FilePath)
		case slices.Contains(wholeKeys, key):
			known = isText && (d.NewContent == "" || calls.StringOf(value) == d.NewContent)
		case slices.Contains(contentKeys, key), slices.Contains(proseKeys, key):
			known = isText || value == "true" || value == "false"
		case key == "edits" && rawjson.IsArray(value):
			rawjson.EachElement(value, func(value string) bool {
				known = rawjson.IsObject(value) && editInput(d, value, depth-1)
				return known
			})
		case isText, rawjson.IsObject(value), rawjson.IsArray(value):
			known = false
		default:
			known = !slices.ContainsFunc(optionWords(key), func(w string) bool { return slices.Contains(targetWords, w) })
		}
		return known
	})
	return known
}

var (
	// wholeKeys are of what a file is to hold, contentKeys of that and of parts of it.
	wholeKeys   = []string{"content", "contents", "new_content", "newContent", "file_text", "fileText"}
	contentKeys = append([]string{"old_string", "new_string", "oldString", "newString", "old_str", "new_str", "oldStr", "newStr",
		"old_text", "new_text", "oldText", "newText", "old_content", "oldContent", "old_source", "new_source", "insert_text",
		"ai_proposed_content", "code_edit"}, wholeKeys...)
	// proseKeys are of what describes an edit, or how its text is taken.
	proseKeys = []string{"description", "instruction", "instructions", "reason", "explanation", "comment", "summary", "title",
		"thought", "language", "encoding", "modified_by_user"}
	editWords = []string{"write", "edit", "replace", "create", "update", "modify", "patch", "apply", "insert", "append", "save", "str",
		"string", "text", "multi", "file", "files", "in", "to", "into", "a", "the", "content", "contents", "notebook", "cell", "tool", "new",
		"change", "changes", "diff", "writefile", "editfile", "multiedit", "lines"}
	targetWords = strings.Fields("path paths file files dir directory folder cwd target targets dest destination source src from to into " +
		"link symlink command commands cmd exec execute run shell script sudo root user mode chmod permissions executable delete remove " +
		"unlink move rename copy url uri host remote hook pid fd descriptor also then after before")
)
