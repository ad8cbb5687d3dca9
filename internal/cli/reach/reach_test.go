package reach

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A typist answers at a terminal.
type typist struct {
	io.Reader
	strings.Builder // what was shown
}

func (*typist) Close() error { return nil }

// A user at a terminal is asked once for each workspace, by its real path, whatever it is
// called; a no, or nobody who could answer, is a no.
func TestAllowAtTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of Unix")
	}
	root, store := t.TempDir(), t.TempDir()
	dir, link := filepath.Join(root, "a\x1b[2J\nAll is well"), filepath.Join(root, "link")
	must.Do(t, errors.Join(os.Mkdir(dir, 0o700), os.Symlink(dir, link)))
	for _, test := range []struct {
		command, dir, typed string
		asked, allowed      bool
	}{
		{"./agent", dir, "", true, false}, {"./agent", dir, "n\n", true, false}, {"./agent", dir, "y\n", true, true},
		{"./agent", dir, "", false, true}, {"./agent", link, "", false, true}, {"./other", dir, "n\n", true, false}, {"./agent", root, "n\n", true, false},
	} {
		tty := &typist{Reader: strings.NewReader(test.typed)}
		p := &frame.Program{Stdout: io.Discard, Terminal: func() (io.ReadWriteCloser, error) { return tty, nil }}
		err := allowAtTerminal(t.Context(), p, newConsent(store, test.command, test.dir))
		shown := tty.String()
		if (err == nil) != test.allowed || strings.Contains(shown, "Do you trust what is in it?") != test.asked || strings.ContainsAny(strings.Replace(strings.TrimSpace(shown), "\nDo you", " Do you", 1), "\x1b\n") {
			t.Errorf("%+v: %v, %q", test, err, shown)
		}
	}
	tty := &typist{Reader: strings.NewReader("")}
	p := &frame.Program{Terminal: func() (io.ReadWriteCloser, error) { return tty, nil }}
	must.Fail(t, allowAtTerminal(t.Context(), p, newConsent(store, "./third", root)), "may not run") // Ctrl-D is a no
	nobody := &frame.Program{Terminal: func() (io.ReadWriteCloser, error) { return nil, errors.New("none") }}
	must.Equal(t, allowAtTerminal(t.Context(), nobody, newConsent(store, "./agent", root)) != nil, true, "nobody was asked")
}

// TestTypedMeanwhile: what was typed before all of the question is shown does not answer it.
func TestTypedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, user := io.Pipe()
		defer user.Close()
		k := &frame.Keyboard{Open: func() (io.ReadWriteCloser, error) {
			return hasty{r, func(shown string) {
				line := "y\n"
				if strings.Contains(shown, trusted) {
					line = "n\n"
				}
				go io.WriteString(user, line) // ends when it is read, or with the test
				synctest.Wait()
			}}, nil
		}}
		before, _ := k.Terminal()
		go before.Read(make([]byte, 9)) // ends when the question before is withdrawn; the keyboard goes on reading
		synctest.Wait()
		before.Close()
		err := allowAtTerminal(t.Context(), &frame.Program{Terminal: k.Terminal}, newConsent(t.TempDir(), "./agent", t.TempDir()))
		must.Fail(t, err, "may not run")
	})
}

// A hasty user types while something is shown.
type hasty struct {
	*io.PipeReader
	types func(shown string)
}

func (h hasty) Write(b []byte) (int, error) {
	h.types(string(b))
	return len(b), nil
}

// The agent runs in the directory that the user has allowed, also if the link to it leads
// elsewhere when the agent is started again.
func TestRunsWhereItIsAllowed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	link := filepath.Join(root, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	l, opts := &Link{Options: bridge.Options{Workspace: link}}, &agentproc.Options{Command: "./agent"}
	app := &cli.App{Flags: []cli.Flag{&cli.StringFlag{Name: "working-directory"}}, Action: func(c *cli.Context) error {
		return whereAgentRuns(nil, c, l, opts)
	}}
	must.Do(t, app.Run([]string{"a2astdio", "--working-directory", "workspace"}))
	must.Equal(t, []string{opts.Dir, opts.Base, l.Consent.dir}, []string{root, root, root})
}

// A mute is an editor that cannot show a question.
type mute struct{ bridge.Asker }

func (mute) Confirm(context.Context, string) (bool, error) { return false, bridge.ErrCannotAsk }

// An editor that cannot ask is told where else the user can allow it.
func TestAllowWithoutQuestion(t *testing.T) {
	w := newConsent(t.TempDir(), "./agent", t.TempDir())
	must.Fail(t, w.SignIn(t.Context(), mute{}), "run a2astdio doctor")
}

func TestReadsGeminiHome(t *testing.T) {
	for command, want := range map[string]bool{
		"npx -y @google/gemini-cli-a2a-server": true, "gemini-cli-a2a-server": true, "A=b node /x/dist/a2a-server.mjs": true,
		"gemini --acp": false, "my-agent": false, "'": false,
	} {
		must.Equal(t, readsGeminiHome(command, "auto"), want, command)
	}
	must.Equal(t, readsGeminiHome("my-wrapper", "gemini"), true, "--dialect gemini says that it is one")
}

// The agent's home has links to all of the user's, also to what comes later. The MCP
// servers are in it, readable by nobody else, until they are removed.
func TestGeminiHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	theirs := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	for _, name := range []string{".gemini/settings.json", ".gemini/extensions/own/gemini-extension.json", ".env"} {
		must.File(t, name, theirs, name)
	}
	h := &geminiHome{}
	env, made, err := h.prepare([]string{"GEMINI_CLI_HOME=/elsewhere", "GEMINI_CLI_HOME=" + theirs})
	if err != nil || made != h.dir || !slices.Equal(env, []string{"GEMINI_CLI_HOME=" + h.dir, "CODER_AGENT_ALLOWED_ROOT=" + theirs}) {
		t.Fatalf("%v %v", env, err)
	}
	must.File(t, "", theirs, ".gemini", "later")
	env, _, err = h.prepare([]string{"GEMINI_CLI_HOME=" + theirs, "CODER_AGENT_ALLOWED_ROOT=/srv"})
	must.True(t, err == nil && env[1] == "CODER_AGENT_ALLOWED_ROOT=/srv", env, err)
	for _, name := range []string{".gemini/settings.json", ".gemini/extensions/own/gemini-extension.json", ".env", ".gemini/later"} {
		must.Get(os.ReadFile(filepath.Join(h.dir, name)))(t)
	}
	t.Setenv("HOME", "/ours")
	other := &geminiHome{}
	env, _, err = other.prepare([]string{"HOME=/ours", "HOME=" + theirs})
	must.True(t, err == nil && env[1] == "CODER_AGENT_ALLOWED_ROOT="+theirs, "a command with a home of its own", env, err)
	must.Do(t, other.remove())
	remove := must.Get(h.Put([]byte("{}")))(t)
	dir := filepath.Join(h.dir, ".gemini", "extensions", "a2astdio")
	file := filepath.Join(dir, "gemini-extension.json")
	for _, name := range []string{file, dir, h.dir} {
		must.Equal(t, must.Get(os.Stat(name))(t).Mode().Perm()&0o077, 0, name)
	}
	must.Do(t, remove())
	_, err = os.Stat(file)
	must.Equal(t, errors.Is(err, os.ErrNotExist), true, "the servers are still there")
	must.Do(t, h.remove())
	must.Get(os.ReadFile(filepath.Join(theirs, ".gemini", "settings.json")))(t) // the user's own
}

func TestWebhookErrorsHidePasswords(t *testing.T) {
	for _, bad := range []string{"ftp://me:hunter2@hooks.example", "https://me:hunter2@hooks.example:x/", "https://me:hunter2@hooks.example", "http://hooks.example/?hunter2"} {
		_, err := publicURL(bad)
		must.True(t, err != nil && !strings.Contains(err.Error(), "hunter2"), bad, err)
	}
}

func TestHeaderErrorsHideValues(t *testing.T) {
	for _, bad := range []string{"hunter2", "Bad Name: hunter2", "X: hunter2\x01", ": hunter2"} {
		_, err := Headers([]string{bad})
		must.True(t, err != nil && !strings.Contains(err.Error(), "hunter2"), bad, err)
	}
}

// TestExtensionURIs: --extension takes URIs, and nothing else.
func TestExtensionURIs(t *testing.T) {
	for in, want := range map[string]bool{"https://x.example/a/v1": true, "urn:x:a": true, "https://x.example/a?q=1": true, "not": false, "/v1": false, "https://": false} {
		_, err := extensionURIs([]string{in})
		must.Equal(t, err == nil, want, in, err)
	}
}

// What an option says is what the bridge and the client do.
func TestOptionsReachTheLibrary(t *testing.T) {
	l, got := &Link{}, []int{}
	app := &cli.App{Flags: []cli.Flag{&cli.IntFlag{Name: "max-message"}, &cli.IntFlag{Name: "max-events-per-second"}}, Action: func(c *cli.Context) error {
		client, err := ClientOptions(&frame.Program{}, c, &Configuration{Files: &config.Config{}})
		got = append(got, client.MaxMessage)
		return errors.Join(err, l.BridgeOptions(c))
	}}
	must.Do(t, app.Run([]string{"a2astdio", "--max-message", "3", "--max-events-per-second", "7"}))
	must.Equal(t, append(got, l.Options.MaxEventsPerSecond), []int{3, 7})
}
