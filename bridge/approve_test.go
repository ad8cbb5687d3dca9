package bridge

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// asked is a call as Gemini's server asks for it: the dialect in which the bridge
// remembers "always".
func asked(t testing.TB, name string, args, confirmation any) mapping.Question {
	t.Helper()
	data := must.Get(json.Marshal(map[string]any{"request": map[string]any{"callId": "c", "name": name, "args": args},
		"status": "awaiting_approval", "confirmationDetails": confirmation}))(t)
	var parts a2a.Parts
	parts.FastPath().Only = &a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(data), Raw: a2a.JSON(data)}
	fold := mapping.NewFold()
	fold.Event(shown.Live, &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
		Metadata: `{"coderAgent":{"kind":"tool-call-confirmation"}}`,
		Message:  a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: parts}}, nil)
	if len(fold.Calls.Open()) != 1 {
		t.Fatalf("not a question: %s", data)
	}
	return mapping.NewQuestion(fold.Calls.Open()[0])
}

type object map[string]any

// askedFor reads a question from a line of the table: its kind, then its words.
//
//	sh COMMAND [dir=DIR] [arg=JSON]
//	as TOOL COMMAND
//	more COMMAND, with additional permissions
//	edit PATH [input=PATH]
//	mcp SERVER TOOL [arg=JSON]
//	ask TOOL TEXT [arg=JSON]
//	user TEXT
func askedFor(t testing.TB, line string) mapping.Question {
	t.Helper()
	f := strings.Split(line, "|")
	for i := range f {
		f[i] = strings.ReplaceAll(f[i], `\n`, "\n")
	}
	args := object{}
	rest := f[1:]
	for len(rest) > 0 {
		last := rest[len(rest)-1]
		key, value, ok := strings.Cut(last, "=")
		if !ok || key != "dir" && key != "arg" && key != "input" && key != "why" {
			break
		}
		switch key {
		case "dir":
			args["dir_path"] = value
		case "input":
			args["file_path"] = value
		case "why":
			args["description"] = value
		case "arg":
			must.Do(t, json.Unmarshal([]byte(value), &args))
		}
		rest = rest[:len(rest)-1]
	}
	return askFor(t, f[0], args, rest...)
}

// askFor is a question of a kind of askedFor's, or of a type that nobody knows.
func askFor(t testing.TB, kind string, args object, rest ...string) mapping.Question {
	t.Helper()
	switch kind {
	case "sh":
		if _, ok := args["command"]; !ok {
			args["command"] = rest[0]
		}
		return asked(t, "run_shell_command", args, object{"type": "exec", "command": rest[0], "rootCommands": []string{"git", "ls"}, "rootCommand": "git"})
	case "as":
		return asked(t, rest[0], args, object{"type": "exec", "command": rest[1]})
	case "more":
		return asked(t, "run_shell_command", args, object{"type": "sandbox_expansion", "command": rest[0], "additionalPermissions": object{"network": true}})
	case "edit":
		return asked(t, "write_file", args, object{"type": "edit", "filePath": rest[0], "fileName": filepath.Base(rest[0]), "newContent": "x"})
	case "mcp":
		return asked(t, rest[1], args, object{"type": "mcp", "serverName": rest[0], "toolName": rest[1]})
	case "ask":
		return asked(t, rest[0], args, object{"type": "info", "title": rest[1]})
	case "user":
		return asked(t, "ask_user", args, object{"type": "ask_user", "title": rest[0]})
	}
	return asked(t, rest[0], args, object{"type": rest[1]})
}

// TestAlwaysIsExact is the table of what "always" covers. Each line has two calls. The
// user has always allowed the first; the table says whether the second is asked about.
func TestAlwaysIsExact(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"link": "real", "other": "elsewhere"} {
			must.Do(t, os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)))
		}
		must.Do(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	}
	for line := range strings.Lines(string(must.Get(os.ReadFile("../testdata/always.txt"))(t))) {
		var want, always, next string
		line = strings.ReplaceAll(line, "$DIR", dir)
		if line[0] == '#' || runtime.GOOS == "windows" && strings.Contains(line, "/link/") {
			continue
		}
		if n, err := fmt.Sscanf(line, "%s %q %q", &want, &always, &next); n != 3 {
			t.Fatalf("%s: %v", line, err)
		}
		p := &approvals{mode: ModeDefault}
		first := askedFor(t, always)
		if o, ok := first.AllowAlways(); ok {
			p.accept(first, mapping.Answer{OptionID: o.ID}, true, slog.New(slog.DiscardHandler))
		}
		d, ok := p.decide(askedFor(t, next), []string{dir}, true)
		if ok != (want == "covered") {
			t.Errorf("after always %q: %q is answered without asking: %t, want %s", always, next, ok, want)
		}
		if ok && d.option.Kind != "allow_once" {
			t.Errorf("%q is answered with %+v", next, d.option)
		}
	}
}

// TestAlwaysLink: the user is told the whole of the path that an "always" is remembered for.
func TestAlwaysLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Do(t, os.Symlink(dir, filepath.Join(dir, "link")))
	for _, file := range []string{"a.txt", strings.Repeat("long/", 40) + "a.txt"} {
		q := nameLinkTargets(askedFor(t, "edit|"+dir+"/link/"+file), true)
		asks := string((&spell.ACP{Session: "s"}).Permission(q))
		must.Equal(t, strings.Count(asks, dir+"/"+file), 1, file, asks)
	}
}

// TestAlwaysServer: "always" for a server covers its tools, and no other server's.
func TestAlwaysServer(t *testing.T) {
	p := &approvals{mode: ModeDefault}
	q := askedFor(t, "mcp|weather|lookup")
	p.accept(q, mapping.Answer{OptionID: "proceed_always_server"}, true, slog.New(slog.DiscardHandler))
	for line, covered := range map[string]bool{"mcp|weather|lookup": true, "mcp|weather|delete_all": true, "mcp|news|lookup": false,
		"mcp|weather|": false, "mcp||lookup": false, "sh|weather": false} {
		if _, ok := p.decide(askedFor(t, line), nil, true); ok != covered {
			t.Errorf("%s: answered without the user: %t, want %t", line, ok, covered)
		}
	}
	must.Equal(t, strings.Join(p.always(), "; "), `every tool of the MCP server "weather"`, "remembered")
}

// FuzzAlways: a question is answered without the user only if it is equal, member by
// member, to one that the user has answered with "always".
func FuzzAlways(f *testing.F) {
	f.Add(byte(0), "sh", "git status", `{}`, byte(0), "sh", "git status", `{"description":"x"}`)
	f.Add(byte(1), "/w/a", "", `{"file_path":"/w/a"}`, byte(1), "/w/./a", "", `{"file_path":"a"}`)
	f.Add(byte(2), "weather", "lookup", `{}`, byte(2), "weather", "lookup", `{"a":1}`)
	f.Add(byte(3), "tool", "text", `{"a":1}`, byte(3), "tool", "text", `{"a":1}`)
	f.Fuzz(func(t *testing.T, kind1 byte, a1, b1, input1 string, kind2 byte, a2, b2, input2 string) {
		ask := func(kind byte, a, b, input string) mapping.Question {
			args := object{}
			if json.Unmarshal([]byte(input), &args) != nil {
				args = object{}
			}
			return askFor(t, []string{"as", "edit", "mcp", "ask", "unknown"}[kind%5], args, a, b)
		}
		first, next := ask(kind1, a1, b1, input1), ask(kind2, a2, b2, input2)
		p := &approvals{mode: ModeDefault}
		o, ok := first.AllowAlways()
		if !ok {
			return
		}
		p.accept(first, mapping.Answer{OptionID: o.ID}, false, slog.New(slog.DiscardHandler))
		if _, answered := p.decide(next, nil, false); answered && !same(first.Call, next.Call) {
			t.Fatalf("after always %+v, %+v is not asked", first.Call.Confirmation, next.Call.Confirmation)
		}
	})
}

// same reports whether two calls ask for the same.
func same(a, b *mapping.ToolCall) bool {
	input := func(c *mapping.ToolCall) string {
		var m map[string]any
		_ = json.Unmarshal([]byte(c.Input), &m) // no object is an empty one
		if c.Confirmation.Execute != nil {
			delete(m, "description")
		}
		s, _ := json.Marshal(m)
		return string(s)
	}
	x, y := a.Confirmation, b.Confirmation
	switch {
	case x.Execute != nil && y.Execute != nil:
		return *x.Execute == *y.Execute && a.Name == b.Name && input(a) == input(b)
	case x.Edit != nil && y.Edit != nil:
		return filepath.Clean(x.Edit.FilePath) == filepath.Clean(y.Edit.FilePath) && filepath.IsAbs(x.Edit.FilePath)
	case x.MCP != nil && y.MCP != nil:
		return *x.MCP == *y.MCP && x.MCP.ServerName != "" && x.MCP.ToolName != ""
	case x.Generic != nil && y.Generic != nil:
		return *x.Generic == *y.Generic && a.Name == b.Name && a.Name != "" && input(a) == input(b)
	}
	return false
}
