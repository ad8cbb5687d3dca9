package peers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A scene is what a script has begun: an editor, a CLI, a browser. Each is ended with the test.
type scene struct {
	t  *testing.T
	ts *testscript.TestScript

	credentials <-chan string

	companionScene
	editorScene
	pageScene
}

// A sceneCommand is a command of scripts. What it writes to stdout is compared as that of exec.
type sceneCommand func(s *scene, args []string)

// sceneCommands are those of every script, which begins in the empty folder $WORK/ws. In arguments of commands that are
// not testscript's own \n is a line break, \r an Enter, and \x03 a control character.
//
//	node                     skips without Node
//	npm NAME PACKAGE FILE    installs what a package.json wants; $NAME is where. Skips without Node
//	snippet SECTION FILE     the file is a section's snippet in docs/editors.md
//	listener NAME, asked     $NAME is the URL of a server, which has to be asked with the snippets' credentials
//	build NAME MODULE MAIN   builds a program of a nested module
//	serve NAME COMMAND...    $NAME is the URL that the command prints; it ends with the script
//	status N COMMAND...      the command ends with this status
//	har FOLDER FILE...       the files fit the schema of HAR in the folder
//	count NAME FILE          $NAME is how many lines the file has
//	file NAME TEXT           writes a file
//	holds NAME TEXT          demands one
//
// $PEERS is this folder, $PLATFORM and $BINARY are for npm/build.mjs, $REAL_HOME the home of who runs the tests, and a2astdio the program under test.
var sceneCommands = map[string]sceneCommand{
	"npm": func(s *scene, args []string) {
		needNode(s.t, 20)
		s.ts.Setenv(args[0], installNPM(s.t, args[1], args[2]))
	},
	"build": func(s *scene, args []string) { s.ts.Setenv(args[0], buildIn(s.t, args[1], args[2])) },
	"serve": func(s *scene, args []string) { s.ts.Setenv(args[0], serving(s.t, s.command(args[1:]))) },
	"status": func(s *scene, args []string) {
		err, exit := s.ts.Exec(args[1], args[2:]...), (*exec.ExitError)(nil)
		if got := 0; errors.As(err, &exit) {
			got = exit.ExitCode()
			if strconv.Itoa(got) != args[0] {
				s.t.Fatalf("%q: status %d, want %s", args[1:], got, args[0])
			}
		} else if err != nil || args[0] != "0" {
			s.t.Fatalf("%q: %v, want status %s", args[1:], err, args[0])
		}
	},
	"node": func(s *scene, _ []string) { needNode(s.t, 20) },
	"snippet": func(s *scene, args []string) {
		for _, snippet := range snippets(s.t) {
			if snippet.section == args[0] {
				write(s.t, s.ts.MkAbs(args[1]), snippet.text)
			}
		}
	},
	"listener": func(s *scene, args []string) {
		url, credentials := newAsked(s.t)
		s.ts.Setenv(args[0], url)
		s.credentials = credentials
	},
	"asked": func(s *scene, _ []string) { wantCredentials(s.t, s.credentials) },
	"har": func(s *scene, args []string) {
		for i := range args {
			args[i] = s.ts.MkAbs(args[i])
		}
		wantHAR(s.t, args[0], args[1:]...)
	},
	"count": func(s *scene, args []string) {
		s.ts.Setenv(args[0], strconv.Itoa(strings.Count(s.ts.ReadFile(args[1]), "\n")))
	},
	"file":  func(s *scene, args []string) { write(s.t, s.ts.MkAbs(args[0]), args[1]) },
	"holds": func(s *scene, args []string) { wantFile(s.t, args[1], s.ts.MkAbs(args[0])) },
}

// command is a command in the script's environment and folder.
func (s *scene) command(args []string) *exec.Cmd {
	name := args[0]
	if name == "a2astdio" {
		name = binary
	}
	cmd := exec.Command(name, args[1:]...)
	cmd.Dir = s.ts.MkAbs(".")
	for _, variable := range []string{"PATH", "HOME", "TMPDIR"} {
		cmd.Env = append(cmd.Env, variable+"="+s.ts.Getenv(variable))
	}
	return cmd
}

// A scriptT is a test to testscript, and to us.
type scriptT struct{ *testing.T }

func (t scriptT) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(scriptT{t}) })
}
func (scriptT) Verbose() bool { return testing.Verbose() }

var escapes = regexp.MustCompile(`\\(n|r|x[0-9a-f]{2})`)

// play runs the scripts of testdata/peers/script whose names begin so.
func play(t *testing.T, names string) {
	t.Helper()
	files := mustGet(filepath.Glob(filepath.Join("script", names+"*.txtar")))(t)
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for _, some := range []map[string]sceneCommand{sceneCommands, companionCommands, editorCommands, pageCommands} {
		for name, run := range some {
			commands[name] = func(ts *testscript.TestScript, _ bool, args []string) {
				for i := range args {
					args[i] = escapes.ReplaceAllStringFunc(args[i], func(code string) string { return mustGet(strconv.Unquote(`"` + code + `"`))(t) })
				}
				s := ts.Value("scene").(*scene)
				s.ts = ts
				run(s, args)
				if s.t.Failed() {
					ts.Fatalf("%s %q", name, args)
				}
			}
		}
	}
	testscript.RunT(scriptT{t}, testscript.Params{Files: files, Cmds: commands, UpdateScripts: *update, WorkdirRoot: t.TempDir(), Setup: func(e *testscript.Env) error {
		home := filepath.Join(e.WorkDir, "home")
		work, err := filepath.EvalSymlinks(e.WorkDir)
		places := &companionPlaces{e.Getenv("TMPDIR"), home, filepath.Join(work, "ws")}
		e.Values["scene"] = &scene{t: e.T().(scriptT).T, companionScene: companionScene{places: places}}
		e.Cd = places.workspace
		e.Setenv("REAL_HOME", os.Getenv("HOME"))
		e.Setenv("HOME", home)
		e.Setenv("PATH", programFolder(t)+":"+os.Getenv("PATH"))
		here, hereErr := filepath.Abs(".")
		for name, value := range map[string]string{"PEERS": here, "PLATFORM": nodePlatform(), "BINARY": binary} {
			e.Setenv(name, value)
		}
		return errors.Join(err, hereErr, os.MkdirAll(home, 0o700), os.MkdirAll(filepath.Join(e.WorkDir, "ws"), 0o700))
	}})
}
