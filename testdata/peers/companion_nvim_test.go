package peers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A neovim is a Neovim without a screen, with the documentation's plugin.
type neovim struct {
	t      *testing.T
	socket string
	env    []string
}

func openNeovim(t *testing.T, p *companionPlaces, file string) *neovim {
	t.Helper()
	if _, err := exec.LookPath("nvim"); err != nil {
		t.Skip("this peer needs nvim, which is not here")
	}
	bin := programFolder(t)
	installPlugin(t, "nvim", filepath.Join(p.home, ".config", "nvim", "plugin", "a2astdio.lua"))
	n := &neovim{t: t, socket: filepath.Join(p.home, "nvim.sock"), env: append(p.env(), "PATH="+bin+":"+os.Getenv("PATH"))}
	cmd := exec.Command("nvim", "--headless", "-i", "NONE", "--listen", n.socket, "--cmd", "set columns=120 lines=40", file)
	cmd.Env, cmd.Dir = n.env, p.workspace
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
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

// installPlugin does what docs/companion.md says.
func installPlugin(t *testing.T, editor, file string) {
	t.Helper()
	text := mustGet(exec.Command(binary, "companion", "plugin", editor).Output())(t)
	write(t, file, string(text))
}

// expr evaluates an expression of Vim's in it.
func (n *neovim) expr(expression string) string {
	n.t.Helper()
	cmd := exec.Command("nvim", "--headless", "--clean", "--server", n.socket, "--remote-expr", expression)
	cmd.Env = n.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.t.Fatalf("%s: %v %s", expression, err, out)
	}
	return strings.TrimSpace(string(out))
}

// press presses keys in it.
func (n *neovim) press(keys string) {
	n.t.Helper()
	cmd := exec.Command("nvim", "--headless", "--clean", "--server", n.socket, "--remote-send", keys)
	cmd.Env = n.env
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("%s: %v %s", keys, err, out)
	}
}

// quit ends it, perhaps before it has answered that it will.
func (n *neovim) quit() {
	cmd := exec.Command("nvim", "--headless", "--clean", "--server", n.socket, "--remote-send", ":qa!<CR>")
	cmd.Env = n.env
	_ = cmd.Run()
}

// want waits until an expression has a value: Neovim handles keys later.
func (n *neovim) want(expression, value string) {
	n.t.Helper()
	got := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		if got = n.expr(expression); got == value {
			return
		}
	}
	n.t.Errorf("%s is %q, want %q; messages: %s", expression, got, value, n.expr("execute('messages')"))
}

// The documentation's plugin works: a CLI gets the open files and the selection, and
// has diffs shown, accepted with edits, rejected and closed.
func TestCompanionNeovim(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	file, other := filepath.Join(p.workspace, "a file.txt"), filepath.Join(p.workspace, "other.txt")
	write(t, file, "alpha\nbêta gamma\n")
	write(t, other, "other\n")
	n := openNeovim(t, p, file)
	found := find(t, p)
	cli := connectMCP(t, found)
	cli.context("the open file", func(f []mcpFile) bool {
		return len(f) == 1 && f[0].Path == file && f[0].IsActive && f[0].Cursor.Line == 1 && f[0].Cursor.Character == 1
	})
	n.press("j2l") // behind the ê, which has two bytes
	cli.context("the cursor in characters", func(f []mcpFile) bool {
		return len(f) == 1 && f[0].Cursor.Line == 2 && f[0].Cursor.Character == 3
	})
	n.press("vh")
	cli.context("the selection", func(f []mcpFile) bool { return len(f) == 1 && f[0].SelectedText == "êt" })
	n.press("<Esc>ggVj")
	cli.context("the selected lines", func(f []mcpFile) bool { return len(f) == 1 && f[0].SelectedText == "alpha\nbêta gamma" })
	n.press("<Esc>:edit other.txt<CR>")
	cli.context("another file", func(f []mcpFile) bool {
		return len(f) == 2 && f[0].Path == other && f[0].IsActive && f[1].Path == file && f[1].Timestamp > 1e12
	})
	n.press(":help<CR>")
	cli.context("no active file in the help", func(f []mcpFile) bool { return len(f) == 2 && !f[0].IsActive })
	n.press(":q<CR>:bdelete other.txt<CR>")
	cli.context("the first file alone", func(f []mcpFile) bool { return len(f) == 1 && f[0].Path == file })

	const diffWindows = "len(filter(getwininfo(), {_, w -> getwinvar(w.winid, '&diff')}))"
	open := func(path, content string) {
		t.Helper()
		cli.tool("openDiff", map[string]string{"filePath": path, "newContent": content})
		n.want(diffWindows, "2")
		n.want("tabpagenr('$')", "2")
	}
	// Accepted with an edit, in a file whose last line has no end.
	open(file, "alpha\nnew")
	n.press("ggOby the user<Esc>:w<CR>")
	if d := cli.decision("ide/diffAccepted"); d.Params.FilePath != file || *d.Params.Content != "by the user\nalpha\nnew" {
		t.Errorf("accepted: %+v", d.Params)
	}
	n.want(diffWindows, "0")
	// The buffer takes what the CLI writes then, and it can be undone.
	write(t, file, "by the user\nalpha\nnew\n")
	n.want("join(getline(1, '$'))", "by the user alpha new")
	n.press(":undo<CR>")
	n.want("join(getline(1, '$'))", "alpha bêta gamma")
	n.press(":edit!<CR>")
	// Nothing opens while the user types, and the first :w then is of what they typed.
	n.press("Ax")
	n.want("mode()", "i")
	cli.tool("openDiff", map[string]string{"filePath": file, "newContent": "early\n"})
	<-time.After(1500 * time.Millisecond) // longer than the pause that it waits for
	n.want("mode() . tabpagenr('$')", "i1")
	n.press("y<Esc>:w<CR>")
	n.want("tabpagenr('$')", "2")
	n.press(":w<CR>")
	if d := cli.decision("ide/diffAccepted"); *d.Params.Content != "early\n" {
		t.Errorf("accepted: %+v", d.Params)
	}
	n.want("tabpagenr('$')", "1")
	n.press("i")
	n.want("mode()", "i")
	cli.tool("openDiff", map[string]string{"filePath": file, "newContent": "early\n"})
	n.press("<Esc>")
	n.want("tabpagenr('$')", "2")
	n.press(":w<CR>")
	n.want("match(execute('messages'), ':w accepts it now') >= 0", "1")
	n.want("tabpagenr('$')", "2")
	n.press(":q!<CR>")
	cli.decision("ide/diffRejected")
	n.want("tabpagenr('$')", "1")
	// Nothing opens in the command-line window, where nothing can.
	n.press("q:")
	n.want("getcmdwintype()", ":")
	cli.tool("openDiff", map[string]string{"filePath": file, "newContent": "early\n"})
	<-time.After(1500 * time.Millisecond) // longer than the pause that it waits for
	n.press(":q<CR>")
	n.want("tabpagenr('$')", "2")
	n.press(":q!<CR>")
	cli.decision("ide/diffRejected")
	n.want("tabpagenr('$')", "1")
	// A proposal that waits is closed.
	n.press("i")
	n.want("mode()", "i")
	cli.tool("openDiff", map[string]string{"filePath": file, "newContent": "waits\n"})
	if got := cli.tool("closeDiff", map[string]string{"filePath": file}); got != `{"content":"waits\n"}` {
		t.Errorf("closeDiff: %s", got)
	}
	n.press("<Esc>")
	// :wq is no rejection.
	open(file, "alpha\nnew\n")
	n.press(":wq<CR>")
	if d := cli.decision("ide/diffAccepted"); *d.Params.Content != "alpha\nnew\n" {
		t.Errorf("accepted: %+v", d.Params)
	}
	n.want("tabpagenr('$')", "1")
	// An empty file cannot be accepted, which the user is told; rejected.
	open(file, "new\n")
	n.press("ggdG:w<CR>:w<CR>:q!<CR>")
	if d := cli.decision("ide/diffRejected"); d.Params.FilePath != file || d.Params.Content != nil {
		t.Errorf("rejected: %+v", d.Params)
	}
	contains(t, "the messages", n.expr("execute('messages')"), "an empty file cannot be accepted")
	n.want("tabpagenr('$')", "1")
	// Closed by the CLI, in a file that is not there yet; nothing is decided by that.
	fresh := filepath.Join(p.workspace, "fresh [x] %.txt")
	open(fresh, "one\n")
	n.press("Gotwo<Esc>")
	n.want("getline(2)", "two")
	if got := cli.tool("closeDiff", map[string]string{"filePath": fresh}); got != `{"content":"one\ntwo\n"}` {
		t.Errorf("closeDiff: %s", got)
	}
	n.want("tabpagenr('$')", "1")
	if got := cli.tool("closeDiff", map[string]string{"filePath": fresh}); got != `{}` {
		t.Errorf("closeDiff again: %s", got)
	}
	// The same file for two CLIs.
	second := connectMCP(t, found)
	open(file, "first\n")
	second.tool("openDiff", map[string]string{"filePath": file, "newContent": "second\n"})
	n.want("tabpagenr('$')", "3")
	n.press(":w<CR>")
	if d := second.decision("ide/diffAccepted"); *d.Params.Content != "second\n" {
		t.Errorf("accepted: %+v", d.Params)
	}
	n.want("tabpagenr('$')", "2")
	cli.tool("closeDiff", map[string]string{"filePath": file})
	select {
	case m := <-cli.notification:
		if m.Method != "ide/contextUpdate" {
			t.Errorf("the first CLI heard %+v", m)
		}
	default:
	}
	// A terminal has the environment.
	n.press(":let out = system('echo $GEMINI_CLI_IDE_SERVER_PORT')<CR>")
	n.want("trim(out) == string("+strconv.Itoa(found.Port)+")", "1")
	// The workspace follows :cd. A companion that has ended is started again.
	sub := filepath.Join(p.workspace, "sub")
	mustDo(t, os.Mkdir(sub, 0o755))
	n.press(":cd sub<CR>")
	n.want("$GEMINI_CLI_IDE_WORKSPACE_PATH", sub)
	ended := 0
	restart := func(companion *startedParams, how string) startedParams {
		t.Helper()
		ended++
		process := mustGet(os.FindProcess(companion.Companion.PID))(t)
		mustDo(t, process.Kill())
		n.want("count(execute('messages'), 'the companion has ended')", strconv.Itoa(ended))
		n.press(how + ":Companion<CR>") // which is not needed after five seconds
		n.want("$GEMINI_CLI_IDE_SERVER_PORT != '"+strconv.Itoa(companion.Port)+"'", "1")
		return find(t, p)
	}
	found = restart(&found, "")
	// What waits then is gone, though the next companion gives the same IDs.
	for _, content := range []string{"old\n", "new\n"} {
		n.press("i")
		n.want("mode()", "i")
		connectMCP(t, found).tool("openDiff", map[string]string{"filePath": file, "newContent": content})
		if content == "old\n" {
			found = restart(&found, "<C-o>")
		}
	}
	n.press("<Esc>")
	<-time.After(1500 * time.Millisecond)
	n.want("tabpagenr('$')", "2")
	n.quit()
	within(t, "no discovery file is there when Neovim has ended", func() bool { return len(p.discovery(t)) == 0 })
}
