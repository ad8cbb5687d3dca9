package companion

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// places gives the test a temporary directory and a Qwen home of its own.
func places(t *testing.T) (gemini, qwen string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, filepath.Join(dir, "tmp"))
	}
	t.Setenv("QWEN_HOME", filepath.Join(dir, "qwen"))
	return filepath.Join(dir, "tmp", "gemini", "ide"), filepath.Join(dir, "qwen", "ide")
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Fail(t, err, "")
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestDiscovery: the files that the CLIs look for are there while the companion is,
// hold what the CLIs need, and can be read by the user alone.
func TestDiscovery(t *testing.T) {
	gemini, qwen := places(t)
	one, two := t.TempDir(), t.TempDir()
	var e scriptedEditor
	s := must.Get(Start(&e, &Options{DisplayName: "My Editor", Workspaces: []string{one, two + "/", one}, EditorPID: 4711, Version: "v1"}))(t)
	defer s.Close()
	if len(e.started) != 1 {
		t.Fatalf("the editor was told %d times where the companion is", len(e.started))
	}
	started := e.started[0]
	both, port := one+string(filepath.ListSeparator)+two, fmt.Sprint(started.Port)
	for path, of := range map[string]discovery{
		filepath.Join(gemini, "gemini-ide-server-4711-"+port+".json"): {},
		filepath.Join(qwen, port+".lock"):                             {PPID: os.Getpid(), IDEName: "My Editor"},
	} {
		wantLines(t, "the directory", names(t, filepath.Dir(path)), filepath.Base(path))
		var d discovery
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(path))(t), &d))
		of.Port, of.WorkspacePath, of.AuthToken, of.IDEInfo = started.Port, both, started.AuthToken, ideInfo{"myeditor", "My Editor"}
		of.Companion = process{"a2astdio", hostname(), os.Getpid(), 4711, d.Companion.Started}
		must.Equal(t, d, of, path)
		for _, p := range []string{path, filepath.Dir(path)} {
			must.Equal(t, must.Get(os.Stat(p))(t).Mode()&0o077, 0, p, "others have rights")
		}
	}
	if len(started.AuthToken) < 26 || strings.Contains(fmt.Sprint(started.Env), started.AuthToken) {
		t.Errorf("the token %q is short, or in the environment: %v", started.AuthToken, started.Env)
	}
	for name, want := range map[string]string{"GEMINI_CLI_IDE_SERVER_PORT": port, "QWEN_CODE_IDE_SERVER_PORT": port,
		"GEMINI_CLI_IDE_WORKSPACE_PATH": both, "QWEN_CODE_IDE_WORKSPACE_PATH": both, "GEMINI_CLI_IDE_PID": "4711"} {
		must.Equal(t, started.Env[name], want, name)
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port+"/mcp", strings.NewReader(initialize)))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+started.AuthToken)
	response := must.Get(http.DefaultClient.Do(r))(t)
	response.Body.Close()
	must.Equal(t, response.StatusCode, http.StatusOK, "with what the file says")
	http.DefaultClient.CloseIdleConnections()

	// Other workspaces: the same file, and the editor hears it.
	three := t.TempDir()
	say(t, s, MethodWorkspaces, `{"workspaces":[`+quote(three)+`,`+quote(three+"/a"+string(filepath.ListSeparator))+`]}`)
	if got := running(); len(got) != 1 || got[0].WorkspacePath != three || len(names(t, gemini)) != 1 || len(e.started) != 2 || e.started[1].Workspaces[0] != three {
		t.Errorf("after a change of workspaces: %+v, %v", got, e.started)
	}
	for _, wrong := range []string{`{}`, `{"workspaces":null}`, `{"workspaces":["relative"]}`, `{"workspaces":["/a` + string(filepath.ListSeparator) + `"]}`, `{"workspaces":"/a"}`} {
		_, err := s.Handle(MethodWorkspaces, []byte(wrong))
		must.True(t, err != nil, wrong, "was taken")
	}
	must.Fail(t, s.Close(), "")
	wantLines(t, "the directory after the end", names(t, gemini))
	wantLines(t, "Qwen's directory after the end", names(t, qwen))
}

// running are the files of companions that are alive.
func running() (all []*discovery) {
	entries, _ := os.ReadDir(geminiDir())
	for _, e := range entries {
		if d := readOurs(filepath.Join(geminiDir(), e.Name())); d != nil && d.alive() {
			all = append(all, d)
		}
	}
	return all
}

// TestNodeTempDir: Node's rules for the temporary directory, which are not Go's
// (lib/os.js of Node.js 20 and 24; testdata/peers asks a real one).
func TestNodeTempDir(t *testing.T) {
	for _, c := range must.Table[struct{ Goos, Env, Want string }](t, "testdata/tables/node-temp.txt") {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.Env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		must.Equal(t, nodeTempDir(c.Goos, func(name string) string { return env[name] }), c.Want, c.Goos, c.Env)
	}
}

// TestStale: what a killed companion has left is removed by the next one; nothing
// else is: neither a living one's files, nor those of another machine, nor other
// people's.
func TestStale(t *testing.T) {
	gemini, qwen := places(t)
	start := func(editor int) *Server {
		s := must.Get(Start(&scriptedEditor{}, &Options{Workspaces: []string{t.TempDir()}, EditorPID: editor}))(t)
		t.Cleanup(func() { s.Close() })
		return s
	}
	// A kill leaves the files, and nobody at the port. Close waits for that: http.Server.Close alone
	// leaves a listener open whose Serve has not begun.
	kill := func(s *Server) {
		s.files.written = nil
		must.Do(t, s.Close())
	}
	killed, alive := start(1), start(1)
	kill(killed)
	others := map[string]string{
		"gemini-ide-server-1-2.json": `{"port":2,"workspacePath":"/w","authToken":"vscode"}`,
		"gemini-ide-server-1-3.json": `{"port":3,"companion":{"program":"other","pid":1}}`,
		"gemini-ide-server-1-4.json": `{"port":4,"companion":{"program":"a2astdio","host":"elsewhere","pid":1}}`,
		"gemini-ide-server-1-5.json": `not JSON`,
	}
	for name, content := range others {
		must.File(t, content, gemini, name)
	}
	// Ours, and one that cannot be right.
	must.File(t, fmt.Sprintf(`{"port":-1,"companion":{"program":"a2astdio","host":%s,"pid":1}}`, quote(hostname())), gemini, "gemini-ide-server-1-7.json")

	if got := running(); len(got) != 1 || got[0].Port != alive.mcp.Port {
		t.Errorf("those that run: %+v, want the one at %d", got, alive.mcp.Port)
	}
	s := start(99)
	want := []string{fmt.Sprintf("gemini-ide-server-1-%d.json", alive.mcp.Port), fmt.Sprintf("gemini-ide-server-99-%d.json", s.mcp.Port)}
	for name := range others {
		want = append(want, name)
	}
	slices.Sort(want)
	wantLines(t, "the directory", names(t, gemini), want...)
	locks := []string{fmt.Sprintf("%d.lock", alive.mcp.Port), fmt.Sprintf("%d.lock", s.mcp.Port)}
	slices.Sort(locks)
	wantLines(t, "Qwen's directory", names(t, qwen), locks...)
	kill(s)
	kill(alive)
	must.Equal(t, len(running()), 0, "nothing runs")
}

// TestStartFails: a companion that nobody could find is no companion, and says what
// is wrong; without Qwen's file it is of use.
func TestStartFails(t *testing.T) {
	gemini, qwen := places(t)
	workspace := []string{t.TempDir()}
	must.File(t, "", filepath.Dir(qwen)) // no directory
	must.Do(t, os.MkdirAll(filepath.Dir(gemini), 0o700))
	s := must.Get(Start(&scriptedEditor{}, &Options{Workspaces: workspace}))(t)
	s.Close()
	must.Do(t, os.RemoveAll(gemini))
	must.File(t, "", gemini)
	s, err := Start(&scriptedEditor{}, &Options{Workspaces: workspace})
	must.True(t, err != nil && strings.Contains(err.Error(), "TMPDIR"), s, err)
	for _, wrong := range [][]string{{"relative"}, {"/a" + string(filepath.ListSeparator)}} {
		_, err := Start(&scriptedEditor{}, &Options{Workspaces: wrong})
		must.True(t, err != nil && strings.HasPrefix(err.Error(), "bridge: the companion cannot start: "), wrong, err)
	}
}
