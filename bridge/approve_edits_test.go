package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
)

// acceptsEdit reports whether the mode accept-edits answers a question.
func acceptsEdit(q mapping.Question, dir string, local bool) bool {
	_, ok := (&approvals{mode: ModeAcceptEdits}).decide(q, []string{dir}, local)
	return ok
}

// TestAcceptEdits is the table of what the mode accept-edits allows, with an agent
// on this machine and with one elsewhere.
func TestAcceptEdits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are Unix's")
	}
	base := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	ws := filepath.Join(base, "ws")
	for _, dir := range []string{"ws/src", "ws/.git/hooks", "outside"} {
		must.Do(t, os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	for name, to := range map[string]string{"ws/out": "../outside", "ws/git": ".git", "ws/in": "src", "ws/dangling": "../nowhere", "alias": "ws", "ws/lost": "none", "ws/climbs": "in/../.git",
		"ws/absolute": ws + "/src", "ws/process": "/proc/self/cwd", "ws/roundabout": "../alias/src"} {
		must.Do(t, os.Symlink(to, filepath.Join(base, name)))
	}
	must.Do(t, os.WriteFile(ws+"/src/there", nil, 0o600))
	edit := func(path, input string) mapping.Question {
		args := object{}
		if input != "" {
			args["file_path"] = input
		}
		return asked(t, "write_file", args, object{"type": "edit", "filePath": path, "fileName": filepath.Base(path), "newContent": "x"})
	}
	for line := range strings.Lines(string(must.Get(os.ReadFile("../testdata/accept-edits.txt"))(t))) {
		var want, path, input string
		line = strings.NewReplacer("$WS", ws, "$BASE", base).Replace(line)
		if n, err := fmt.Sscanf(line, "%s %q %q", &want, &path, &input); n != 3 && line[0] != '#' {
			t.Fatalf("%s: %v", line, err)
		}
		for _, local := range []bool{true, false} {
			got := acceptsEdit(edit(path, input), ws, local)
			if line[0] != '#' && got != (want == "both" || want == "remote" && !local) {
				t.Errorf("local %t: edit of %q (input %q) is allowed: %t, want %s", local, path, input, got, want)
			}
		}
	}
	must.Do(t, errors.Join(os.WriteFile(base+"/outside/x", nil, 0o600), os.Link(base+"/outside/x", ws+"/hard"), os.WriteFile(ws+"/own", nil, 0o600)))
	for path, want := range map[string]bool{ws + "/hard": false, ws + "/own": true, ws + "/src": false, ws + "/own/x": false} {
		must.Equal(t, acceptsEdit(edit(path, ""), ws, true), want, "is an edit allowed of", path)
	}
	// No directory that is another one for the agent, or that holds the home.
	t.Setenv("HOME", ws)
	for _, dir := range []string{ws, base, base + "/alias", "/", "/proc/self/cwd", "/dev/fd/1", "/proc/self/root" + ws} {
		if acceptsEdit(edit(dir+"/a.txt", ""), dir, true) {
			t.Errorf("an edit below %s is allowed", dir)
		}
	}
	t.Setenv("HOME", base+"/outside")
	// A session's directory may be a link itself.
	if !acceptsEdit(edit(base+"/alias/a.txt", ""), base+"/alias", true) {
		t.Error("an edit below a directory that is a link is not allowed")
	}
	// What is no edit alone is asked.
	for _, line := range []string{"sh|ls", "mcp|a|b", "ask|t|x", "user|x"} {
		if acceptsEdit(askedFor(t, line), ws, true) {
			t.Errorf("%s is allowed as an edit", line)
		}
	}
}

// TestAcceptEditsKnown: a call is an edit only if all that it says is known, and agrees.
func TestAcceptEditsKnown(t *testing.T) {
	for line := range strings.Lines(string(must.Get(os.ReadFile("../testdata/edit-arguments.txt"))(t))) {
		want, input, _ := strings.Cut(line, " ")
		if want == "#" {
			continue
		}
		for name, edits := range map[string]bool{"write_file": true, "replace": true, "MultiEdit": true, "apply_patch": true, "delete_file": false,
			"move_file": false, "run_shell_command": false, "write_and_run": false} {
			q := asked(t, name, json.RawMessage(strings.TrimSpace(input)), object{"type": "edit", "filePath": "/w/a/f", "fileName": "f", "newContent": "x"})
			must.Equal(t, acceptsEdit(q, "/w/a", false), want == "edit" && edits, "allowed", name, input)
		}
	}
	for _, q := range []mapping.Question{
		asked(t, "write_file", object{}, object{"type": "edit", "filePath": "/w/a/f", "fileName": "g", "newContent": "x"}),
		asked(t, "write_file", object{}, object{"type": "edit", "filePath": "/w/a/f", "fileName": "f", "newContent": "x\u202e"}),
		asked(t, "write_file", object{}, object{"type": "edit", "filePath": "/w/a/m\u0430in", "newContent": "x"}),
	} {
		if acceptsEdit(q, "/w/a", false) {
			t.Errorf("%+v is allowed", q.Call.Confirmation.Edit)
		}
	}
}

// TestAcceptEditsAdditional: the mode accept-edits allows edits in each directory of
// the session, not between them, and no more in one that the session has no longer.
func TestAcceptEditsAdditional(t *testing.T) {
	agent := NewAgent(&Options{Mode: ModeAcceptEdits})
	defer agent.Close()
	s := agent.NewSession("/w/a")
	s.setAdditional([]string{"/w/b"})
	allowed := func(path string) bool {
		_, ok := s.approvals.decide(askedFor(t, "edit|"+path), s.directories(), false)
		return ok
	}
	for path, want := range map[string]bool{"/w/a/f": true, "/w/b/f": true, "/w/f": false, "/w/bb/f": false, "/w/b/.env": false} {
		must.Equal(t, allowed(path), want, "allowed", path)
	}
	s.setAdditional(nil)
	if allowed("/w/b/f") {
		t.Error("an edit in a directory that the session has no longer was allowed")
	}
}
