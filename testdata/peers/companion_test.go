package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The companion has real editors in front of it, and real CLIs behind it: script/companion_*.txtar.
func TestCompanion(t *testing.T) { play(t, "companion_") }

// A companionScene is what a script about the companion has begun.
type companionScene struct {
	places   *companionPlaces
	editor   *companionEditor
	diff     diffParams // the newest
	plugged  plugged
	clis     map[string]*mcpClient
	terminal *terminal
	found    startedParams
}

// A plugged editor has the program's plugin, and is remote-controlled.
type plugged interface {
	eval(expression string) (string, error)
	press(keys string)
	messages() string
}

// companionCommands are those of scripts about the companion. The workspace is ws, in which their files are.
//
//	companion ARG...           a scripted editor with a companion; accept and reject need it
//	shows FILE TEXT OTHER...   the editor has this file active, with a selection, and the others open
//	opened FILE [TEXT]         the CLI has a diff shown, of this file, with this text
//	accept TEXT, reject        the user decides about it
//	closed                     the CLI has closed it
//	nvim FILE, emacs FILE      a real editor, with the plugin of the program
//	press KEYS                 in it, or in the terminal
//	want EXPRESSION VALUE      waits until this is so in it
//	do EXPRESSION              evaluates it in it
//	said TEXT                  among its messages
//	ended N KEYS               the companion is killed; that is said the Nth time, and another one begins after the keys
//	cli [NAME]                 a client of MCP: what the CLIs need
//	context REGEXP             waits until the CLI knows these open files: "name [active] line:column [selection]"
//	propose FILE TEXT [NAME]   the CLI has a diff shown, and does not wait
//	takes FILE JSON            the CLI closes a diff, and is told this
//	decides Accepted|Rejected [TEXT]  the CLI hears of it
//	undecided                  the CLI has heard of no decision
//	gone                       no discovery file is left, and the CLI's stream has ended
//	terminal [-blind] ARG...   a CLI made with Node, in a terminal of the editor, with a scripted model; -blind: without
//	                           the editor's variables
//	see TEXT                   waits for it on the terminal, behind what was seen before
//	say TEXT                   types it, and Enter; ask SCRIPT is what makes the model follow a script
//	told TEXT                  waits until the model was told that
//	crash                      kill -9 of the CLI
//	unasked                    no more diff was asked for
//	leave                      the editor quits, and its ACP agent is killed
//	locked NAME TOKEN          $NAME is the URL of the companion, and $TOKEN its token
//	unlocked NAME              it can be had at $NAME without its token
var companionCommands = map[string]sceneCommand{
	"companion": func(s *scene, args []string) { s.editor = openCompanion(s.t, s.places, args...) },
	"shows": func(s *scene, args []string) {
		for i := range args {
			if i != 1 {
				args[i] = filepath.Join(s.places.workspace, args[i])
			}
		}
		s.editor.show(args[0], args[1], args[2:]...)
	},
	"opened": func(s *scene, args []string) {
		s.diff = wantDiff(s.t, "opened", s.editor.opened)
		if s.diff.FilePath != filepath.Join(s.places.workspace, args[0]) || len(args) > 1 && s.diff.NewContent != args[1] {
			s.t.Errorf("the diff is %+v", s.diff)
		}
	},
	"accept": func(s *scene, args []string) { s.editor.accept(s.diff, args[0]) },
	"reject": func(s *scene, _ []string) { s.editor.reject(s.diff) },
	"closed": func(s *scene, _ []string) { wantDiff(s.t, "closed", s.editor.closed) },
	"nvim":   func(s *scene, args []string) { s.plugged = openNeovim(s.t, s.places, args[0]) },
	"emacs": func(s *scene, args []string) {
		s.plugged = openEmacs(s.t, s.places, args[0])
		s.want(`(buffer-name (window-buffer))`, fmt.Sprintf("%q", args[0]))
	},
	"press": func(s *scene, args []string) {
		if s.plugged != nil {
			s.plugged.press(args[0])
		} else {
			s.terminal.press(args[0])
		}
	},
	"do":    func(s *scene, args []string) { _, _ = s.plugged.eval(args[0]) },
	"want":  func(s *scene, args []string) { s.want(args[0], args[1]) },
	"said":  func(s *scene, args []string) { contains(s.t, "the messages", s.plugged.messages(), args[0]) },
	"ended": func(s *scene, args []string) { s.ended(args[0], args[1]) },
	"cli": func(s *scene, args []string) {
		if s.clis == nil {
			s.clis = map[string]*mcpClient{}
		}
		s.found = find(s.t, s.places)
		s.clis[strings.Join(args, "")] = connectMCP(s.t, s.found)
		s.ts.Setenv("PORT", fmt.Sprint(s.found.Port))
	},
	"context": func(s *scene, args []string) { s.clis[""].context(regexp.MustCompile(args[0])) },
	"propose": func(s *scene, args []string) {
		s.cli(args[2:]).tool("openDiff", map[string]string{"filePath": s.ts.MkAbs(args[0]), "newContent": args[1]})
	},
	"takes": func(s *scene, args []string) {
		want := strings.ReplaceAll(args[1], "\n", `\n`)
		equal(s.t, s.clis[""].tool("closeDiff", map[string]string{"filePath": s.ts.MkAbs(args[0])}), want)
	},
	"decides": func(s *scene, args []string) {
		got := s.cli(args[min(2, len(args)):]).decision("ide/diff" + args[0])
		if args[0] == "Rejected" && got != nil || args[0] == "Accepted" && (got == nil || *got != args[1]) {
			s.t.Errorf("%s: %v", args, got)
		}
	},
	"undecided": func(s *scene, _ []string) {
		for n := len(s.clis[""].notification); n > 0; n-- {
			equal(s.t, (<-s.clis[""].notification).Method, "ide/contextUpdate")
		}
	},
	"gone": func(s *scene, _ []string) {
		within(s.t, "no discovery file is left", func() bool { return len(s.places.discovery(s.t)) == 0 })
		for range s.clis[""].notification { // until the stream ends, which it must
		}
	},
	"terminal": func(s *scene, args []string) {
		seen := s.editor.started.Env
		if args[0] == "-blind" {
			args, seen = args[1:], nil
		}
		cmd := s.withModel(args)
		for name, value := range seen {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		s.terminal = runTerminal(s.t, cmd)
	},
	"see":   func(s *scene, args []string) { s.terminal.see(args[0]) },
	"say":   func(s *scene, args []string) { s.terminal.say(args[0]) },
	"ask":   func(s *scene, args []string) { s.terminal.say(script(args[0], s.places.workspace)) },
	"told":  func(s *scene, args []string) { s.told(args[0]) },
	"crash": func(s *scene, _ []string) { s.terminal.kill() },
	"unasked": func(s *scene, _ []string) {
		if len(s.editor.opened) > 0 {
			s.t.Error("the editor was asked to show a diff")
		}
	},
	"leave": func(s *scene, _ []string) {
		s.client.Kill()
		s.editor.close()
	},
	"unlocked": func(s *scene, args []string) { s.ts.Setenv(args[0], tokenProxy(s.t, &s.editor.started)) },
	"locked": func(s *scene, args []string) {
		s.ts.Setenv(args[0], s.editor.started.url())
		s.ts.Setenv(args[1], s.editor.started.AuthToken)
	},
}

// cli is the one with a name, or the first.
func (s *scene) cli(name []string) *mcpClient { return s.clis[strings.Join(name, "")] }

// want waits until an expression has a value: editors handle keys later.
func (s *scene) want(expression, value string) {
	s.t.Helper()
	within(s.t, expression+" is "+value, func() bool {
		got, _ := s.plugged.eval(expression) // an editor that does not listen yet is asked again
		return strings.ReplaceAll(got, "\n", `\n`) == strings.ReplaceAll(value, "\n", `\n`)
	})
}

// ended kills the companion, and waits for the next.
func (s *scene) ended(n, keys string) {
	s.t.Helper()
	process := mustGet(os.FindProcess(s.found.Companion.PID))(s.t)
	mustDo(s.t, process.Kill())
	s.want("count(execute('messages'), 'the companion has ended')", n)
	s.plugged.press(keys)
	s.want(fmt.Sprintf("$GEMINI_CLI_IDE_SERVER_PORT != '%d'", s.found.Port), "1")
}

// withModel is a command of Node's in the workspace, with a scripted model.
func (s *scene) withModel(args []string) *exec.Cmd {
	port, _ := freePorts(s.t)
	dump := s.ts.MkAbs("../dump")
	mustDo(s.t, os.MkdirAll(dump, 0o700))
	model := exec.Command("node", filepath.Join("gemini", "fake-gemini.mjs"))
	model.Env = s.places.env("FAKE_PORT="+port, "FAKE_WS="+s.places.workspace, "FAKE_DUMP="+dump)
	mustDo(s.t, model.Start())
	s.t.Cleanup(func() {
		_ = model.Process.Kill()
		_ = model.Wait()
	})
	cmd := exec.Command("node", args...)
	cmd.Dir = s.places.workspace
	cmd.Env = s.places.env("TERM=xterm-256color", "COLORTERM=truecolor", "GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:"+port)
	return cmd
}

// told waits for a request to the model that contains a text.
func (s *scene) told(text string) {
	s.t.Helper()
	within(s.t, "the model is told "+text, func() bool {
		files := mustGet(filepath.Glob(s.ts.MkAbs("../dump/req-*.json")))(s.t)
		return slices.ContainsFunc(files, func(file string) bool {
			var request struct {
				Contents []struct{ Parts []struct{ Text string } }
			}
			_ = json.Unmarshal(readFile(s.t, file), &request) // it may be half written
			return strings.Contains(fmt.Sprint(request.Contents), text)
		})
	})
}

// installPlugin does what docs/companion.md says, and returns the environment for the editor.
func installPlugin(t *testing.T, p *companionPlaces, editor, file string) []string {
	t.Helper()
	if _, err := exec.LookPath(editor); err != nil {
		t.Skipf("this peer needs %s, which is not here", editor)
	}
	text := mustGet(exec.Command(binary, "companion", "plugin", editor).Output())(t)
	write(t, filepath.Join(p.home, file), string(text))
	return append(p.env(), "PATH="+programFolder(t)+":"+os.Getenv("PATH"), "TERM=xterm")
}

// A neovim is a Neovim without a screen.
type neovim struct {
	t      *testing.T
	socket string
	env    []string
}

func openNeovim(t *testing.T, p *companionPlaces, file string) *neovim {
	t.Helper()
	n := &neovim{t: t, socket: filepath.Join(p.home, "nvim.sock"), env: installPlugin(t, p, "nvim", ".config/nvim/plugin/a2astdio.lua")}
	cmd := exec.Command("nvim", "--headless", "-i", "NONE", "--listen", n.socket, "--cmd", "set columns=120 lines=40", file)
	var output bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = n.env, p.workspace, &output, &output
	mustDo(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Neovim: %s", &output)
		}
	})
	return n
}

// remote has another Neovim speak to it.
func (n *neovim) remote(option, text string) (string, error) {
	cmd := exec.Command("nvim", "--headless", "--clean", "--server", n.socket, option, text)
	cmd.Env = n.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (n *neovim) eval(expression string) (string, error) {
	return n.remote("--remote-expr", expression)
}

func (n *neovim) press(keys string) {
	n.t.Helper()
	if out, err := n.remote("--remote-send", keys); err != nil && keys != ":qa!<CR>" { // it may end before it answers
		n.t.Fatalf("%s: %v %s", keys, err, out)
	}
}

func (n *neovim) messages() string {
	out, _ := n.eval("execute('messages')")
	return out
}

// An emacs is an Emacs on a pseudo-terminal.
type emacs struct {
	socket string
	env    []string
	*terminal
}

func openEmacs(t *testing.T, p *companionPlaces, file string) *emacs {
	t.Helper()
	e := &emacs{socket: filepath.Join(p.home, "emacs", "socket"), env: installPlugin(t, p, "emacs", ".emacs.d/a2astdio.el")}
	mustDo(t, os.Mkdir(filepath.Dir(e.socket), 0o700)) // Emacs 30 wants it private
	write(t, filepath.Join(p.home, ".emacs.d", "init.el"), `(setq server-name "`+e.socket+`") (server-start) (load "~/.emacs.d/a2astdio")`)
	cmd := exec.Command("emacs", "-nw", file)
	cmd.Env, cmd.Dir = e.env, p.workspace
	e.terminal = runTerminal(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // alone: the companion ends itself
		within(t, "no discovery file is there when Emacs has ended", func() bool { return len(p.discovery(t)) == 0 })
	})
	return e
}

func (e *emacs) eval(expression string) (string, error) {
	cmd := exec.Command("emacsclient", "-s", e.socket, "--eval", expression)
	cmd.Env = e.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (e *emacs) messages() string {
	out, _ := e.eval(`(with-current-buffer "*Messages*" (buffer-string))`)
	return out
}

// tokenProxy serves a companion without its token, because the suite has no option for
// one. All else passes unchanged, also a wrong Host or Origin.
func tokenProxy(t *testing.T, to *startedParams) string {
	t.Helper()
	target := mustGet(url.Parse(to.url()))(t)
	proxy := &httputil.ReverseProxy{FlushInterval: -1}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.CloseClientConnections)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	proxy.Rewrite = func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = "http", target.Host
		if host, p, _ := net.SplitHostPort(r.In.Host); p == port {
			r.Out.Host = net.JoinHostPort(host, target.Port())
		}
		r.Out.Header.Set("Authorization", "Bearer "+to.AuthToken)
	}
	return server.URL
}
