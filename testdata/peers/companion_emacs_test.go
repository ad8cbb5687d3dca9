package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An emacs is an Emacs on a pseudo-terminal, with the program's plugin.
type emacs struct {
	socket string
	env    []string
	*terminal
}

func openEmacs(t *testing.T, p *companionPlaces, file string) *emacs {
	t.Helper()
	for _, program := range []string{"emacs", "emacsclient"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("this peer needs emacs, which is not here")
		}
	}
	bin := programFolder(t)
	sockets := filepath.Join(p.home, "emacs")
	if err := os.Mkdir(sockets, 0o700); err != nil { // Emacs 30 wants it private
		t.Fatal(err)
	}
	folder := filepath.Join(p.home, ".emacs.d")
	installPlugin(t, "emacs", filepath.Join(folder, "a2astdio.el"))
	write(t, filepath.Join(folder, "init.el"), `(setq server-name "`+filepath.Join(sockets, "socket")+`") (server-start) (load "~/.emacs.d/a2astdio")`)
	e := &emacs{socket: filepath.Join(sockets, "socket"), env: append(p.env(), "PATH="+bin+":"+os.Getenv("PATH"), "TERM=xterm")}
	cmd := exec.Command("emacs", "-nw", file)
	cmd.Env, cmd.Dir = e.env, p.workspace
	e.terminal = runTerminal(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // alone: the companion ends itself
		within(t, "no discovery file is there when Emacs has ended", func() bool { return len(p.discovery(t)) == 0 })
	})
	e.want(`(buffer-name (window-buffer))`, `"`+filepath.Base(file)+`"`)
	return e
}

func (e *emacs) eval(expression string) string {
	cmd := exec.Command("emacsclient", "-s", e.socket, "--eval", expression)
	cmd.Env = e.env
	out, _ := cmd.CombinedOutput() // an Emacs that does not listen yet is asked again
	return strings.TrimSpace(string(out))
}

func (e *emacs) want(expression, value string) {
	e.t.Helper()
	got := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		if got = e.eval(expression); got == value {
			return
		}
	}
	e.t.Fatalf("%s is %s, want %s; messages: %s", expression, got, value, e.eval(`(with-current-buffer "*Messages*" (buffer-string))`))
}

// The program's plugin for Emacs works: a CLI gets the open files and the selection, and
// has proposals shown in ediff, accepted with edits, rejected and closed.
func TestCompanionEmacs(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	file := filepath.Join(p.workspace, "a file.txt")
	write(t, file, "alpha\nbêta gamma\n")
	e := openEmacs(t, p, file)
	found := find(t, p)
	cli := connectMCP(t, found)
	cli.context("the open file", func(f []mcpFile) bool {
		return len(f) == 1 && f[0].Path == file && f[0].IsActive && f[0].Cursor.Line == 1
	})
	e.press("\x0e\x06\x06") // C-n C-f C-f: behind the ê
	cli.context("the cursor in characters", func(f []mcpFile) bool { return len(f) == 1 && f[0].Cursor.Line == 2 && f[0].Cursor.Character == 3 })
	e.press("\x00\x02") // C-SPC C-b
	cli.context("the selection", func(f []mcpFile) bool { return len(f) == 1 && f[0].SelectedText == "ê" })
	e.press("\x07")

	const proposal = `(if (seq-find (lambda (b) (string-prefix-p "proposal" (buffer-name b))) (buffer-list)) 'shown 'none)`
	open := func(content string) {
		t.Helper()
		cli.tool("openDiff", map[string]string{"filePath": file, "newContent": content})
		e.want(proposal, "shown")
		e.want(`(if (nth 4 (car a2astdio--diffs)) 'ediff 'none)`, "ediff")
	}
	// Accepted with an edit; the buffer takes what the CLI writes, and its undo is kept.
	open("alpha\nnew\n")
	e.eval(`(with-current-buffer (nth 3 (car a2astdio--diffs)) (insert "by the user\n"))`)
	e.press("\x03\x03") // C-c C-c, in ediff's window
	if d := cli.decision("ide/diffAccepted"); d.Params.FilePath != file || *d.Params.Content != "by the user\nalpha\nnew\n" {
		t.Errorf("accepted: %+v", d.Params)
	}
	write(t, file, "by the user\nalpha\nnew\n")
	e.want(proposal, "none")
	const text = `(with-current-buffer "a file.txt" (list (buffer-modified-p) (verify-visited-file-modtime) (buffer-string)))`
	e.want(text, `(nil t "by the user\nalpha\nnew\n")`)
	e.want(`(with-current-buffer "a file.txt" (undo-boundary) (undo) (buffer-string))`, `"alpha\nbêta gamma\n"`)
	e.eval(`(with-current-buffer "a file.txt" (revert-buffer t t))`)
	// Rejected, by ediff's own key.
	open("new\n")
	e.press("qy")
	cli.decision("ide/diffRejected")
	e.want(proposal, "none")
	// Nothing opens while a minibuffer is asking, and a proposal that waits can be closed.
	e.press("\x18\x06") // C-x C-f
	e.want(`(if (active-minibuffer-window) 'asks)`, "asks")
	cli.tool("openDiff", map[string]string{"filePath": file, "newContent": "waits\n"})
	<-time.After(1500 * time.Millisecond) // longer than the pause that it waits for
	e.want(proposal, "none")
	if got := cli.tool("closeDiff", map[string]string{"filePath": file}); got != `{"content":"waits\n"}` {
		t.Errorf("closeDiff: %s", got)
	}
	e.press("\x07")
	open("one\n")
	if got := cli.tool("closeDiff", map[string]string{"filePath": file}); got != `{"content":"one\n"}` {
		t.Errorf("closeDiff: %s", got)
	}
	e.want(proposal, "none")
	// A companion that has ended at once is not started again without being asked to.
	e.eval(`(setq a2astdio--began (float-time))`)
	e.eval(`(delete-process a2astdio--process)`)
	contains(t, "the messages", e.eval(`(with-current-buffer "*Messages*" (buffer-string))`), "The companion has ended")
	e.eval(`(a2astdio-start)`)
	e.want(`(if (equal (getenv "GEMINI_CLI_IDE_SERVER_PORT") "`+strconv.Itoa(found.Port)+`") 'old 'new)`, "new")
}
