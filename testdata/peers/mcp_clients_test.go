package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// An mcpProgram is a client that takes tools by MCP, as people install it from npm.
type mcpProgram struct {
	name, editor string // editor is what setup --editor calls it
	npm, version string
	path         string // of the program, below node_modules
	node         bool   // it is a script
	// settings writes what the client needs, with our snippet.
	settings func(t *testing.T, p *mcpPlace, snippet string)
	args     func(p *mcpPlace, prompt string) []string
	env      func(p *mcpPlace) []string
	// accepts and declines are the keys of a person who picks the first option, or none. Where
	// before is shown first, Enter says yes to it.
	accepts, declines []string
	before            string
	typed             bool // the prompt is
	cancelsByLimit    bool // as mcpPlace says
}

// merge is a JSON object with a snippet's members added, and a limit in each server's settings.
func merge(t *testing.T, object, snippet, servers string, limit time.Duration) string {
	t.Helper()
	all, more := map[string]any{}, map[string]map[string]map[string]any{}
	for text, into := range map[string]any{object: &all, snippet: &more} {
		mustDo(t, json.Unmarshal([]byte(text), into))
	}
	if limit > 0 {
		more[servers]["a2astdio"]["timeout"] = limit.Milliseconds()
	}
	all[servers] = more[servers]
	return asJSON(all)
}

const (
	arrowRight = "\x1b[C"
	arrowDown  = "\x1b[B"
)

var mcpPrograms = []*mcpProgram{
	{
		name: "Claude Code", editor: "claude-code", npm: "@anthropic-ai/claude-code", version: "2.1.331", path: "@anthropic-ai/claude-code-linux-x64/claude",
		settings: func(t *testing.T, p *mcpPlace, snippet string) {
			write(t, p.path("mcp.json"), merge(t, "{}", snippet, "mcpServers", p.limit))
			write(t, p.path(".claude.json"), asJSON(object{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": object{"approved": []string{"fake"}},
				"projects": object{p.work: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}))
		},
		args: func(p *mcpPlace, prompt string) []string {
			args := []string{"--mcp-config", p.path("mcp.json"), "--strict-mcp-config", "--allowedTools", "mcp__a2astdio"}
			if p.person {
				return args // it would send the prompt before it has our tools
			}
			return append(args, "-p", "--", prompt)
		},
		env: func(p *mcpPlace) []string {
			return []string{"ANTHROPIC_BASE_URL=" + p.model, "ANTHROPIC_API_KEY=fake", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false"}
		},
		accepts: []string{arrowRight, arrowDown, "\r", "\r"}, declines: []string{arrowRight, "\r", arrowDown, "\r"}, typed: true,
	},
	{
		name: "Codex", editor: "codex", npm: "@openai/codex", version: "0.169.0", path: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		settings: func(t *testing.T, p *mcpPlace, snippet string) {
			if p.limit > 0 {
				snippet += fmt.Sprintf("tool_timeout_sec = %d\n", int(p.limit.Seconds()))
			}
			write(t, p.path(".codex", "config.toml"), "model = \"scripted\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n"+
				"[analytics]\nenabled = false\n[projects.\""+p.work+"\"]\ntrust_level = \"trusted\"\n"+
				"[model_providers.scripted]\nname = \"scripted\"\nbase_url = \""+p.model+"\"\nwire_api = \"responses\"\n"+snippet)
		},
		args: func(p *mcpPlace, prompt string) []string {
			if p.person {
				return []string{"-C", p.work, "--", prompt}
			}
			return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-C", p.work, "--", prompt}
		},
		env:     func(p *mcpPlace) []string { return []string{"CODEX_HOME=" + p.path(".codex")} },
		accepts: []string{arrowDown, "\r"}, declines: []string{"\x1b"}, before: `run tool "send_message"`, cancelsByLimit: true,
	},
	{
		name: "Gemini CLI", editor: "gemini", npm: "@google/gemini-cli", version: "0.61.0", path: "@google/gemini-cli/bundle/gemini.js", node: true,
		settings: func(t *testing.T, p *mcpPlace, snippet string) {
			write(t, p.path(".gemini", "settings.json"), merge(t, string(readFile(t, filepath.Join("gemini", "cli-settings.json"))), snippet, "mcpServers", p.limit))
		},
		args: func(p *mcpPlace, prompt string) []string {
			return []string{"--approval-mode", "yolo", "-m", "gemini-2.5-flash", "-p", prompt}
		},
		env: func(p *mcpPlace) []string {
			return []string{"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=" + p.model}
		},
	},
	{
		name: "opencode", editor: "opencode", npm: "opencode-linux-x64", version: "1.18.33", path: "opencode-linux-x64/bin/opencode",
		settings: func(t *testing.T, p *mcpPlace, snippet string) {
			write(t, p.path(".config", "opencode", "opencode.json"), merge(t, `{"autoupdate": false, "share": "disabled", "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible",
				"options": {"baseURL": "`+p.model+`", "apiKey": "fake"}, "models": {"scripted": {}}}}}`, snippet, "mcp", p.limit))
		},
		args: func(p *mcpPlace, prompt string) []string {
			return []string{"run", "-m", "scripted/scripted", "--", prompt}
		},
		env: func(*mcpPlace) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
	},
}

// installed returns the command that starts a program. They are 180 to 400 MB each, so the tests
// with them run if A2ASTDIO_MCP_CLIENTS says so.
func (c *mcpProgram) installed(t *testing.T) []string {
	t.Helper()
	if os.Getenv("A2ASTDIO_MCP_CLIENTS") == "" {
		t.Skip(c.name + " is large: set A2ASTDIO_MCP_CLIENTS=1 to install and run it")
	}
	needNode(t, 20)
	wanted := filepath.Join(t.TempDir(), "package.json")
	write(t, wanted, fmt.Sprintf(`{"private": true, "dependencies": {%q: %q}}`, c.npm, c.version))
	name := c.npm[strings.LastIndexByte(c.npm, '/')+1:]
	name = strings.TrimSuffix(name, "-linux-x64") + "-" + c.version
	path := filepath.Join(installNPM(t, name, wanted), "node_modules", filepath.FromSlash(c.path))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s has no program for this system: %v", c.name, err)
	}
	if c.node {
		return []string{"node", path}
	}
	return []string{path}
}

// start starts a program with a prompt. What it asks the internet for does not leave this machine.
func (c *mcpProgram) start(t *testing.T, p *mcpPlace, prompt string) *mcpRun {
	t.Helper()
	words := append(c.installed(t), c.args(p, prompt)...)
	setup := exec.Command(binary, "setup", "--editor", c.editor)
	setup.Env, setup.Dir = p.server().Env, p.work
	snippet := mustGet(setup.Output())(t)
	c.settings(t, p, string(snippet))
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = p.work
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TERM=xterm-256color",
		"HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost"}, c.env(p)...)
	t.Cleanup(func() { endBelow(p.home) })
	r := &mcpRun{t: t, cmd: cmd}
	if p.person || p.terminal {
		r.terminal = runTerminal(t, cmd)
		r.ended = r.terminal.ended
		return r
	}
	cmd.Stdout, cmd.Stderr = &r.shown, &r.shown
	mustDo(t, cmd.Start())
	ended := make(chan struct{})
	go func() { // ends with the process
		defer close(ended)
		_ = cmd.Wait() // they have statuses of their own
	}()
	r.ended = ended
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s shows: %s", c.name, r.shown.b.String())
		}
	})
	return r
}

// endBelow ends what a program has installed in its home, and started from there to stay: Codex has a daemon.
// Where there is no /proc it does nothing.
func endBelow(home string) {
	programs, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is good
	for _, link := range programs {
		program, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(program, home+"/") {
			continue // it is another user's, or has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill()
		}
	}
}

// byClient runs a client, whose model follows a plot.
func (s *mcpStory) byClient(t *testing.T, p *mcpPlace, c *mcpProgram, next plot) *scriptedModel {
	t.Helper()
	m := startScripted(t, next)
	p.model, p.limit, p.cancelsByLimit = m.url, s.limit, c.cancelsByLimit
	p.person, p.terminal = s.action != "", s.interrupted
	keys := c.accepts
	if s.action == "decline" {
		keys = c.declines
	}
	if p.person && len(keys) == 0 {
		t.Skip(c.name + " cannot ask a person")
	}
	r := c.start(t, p, "Do it.")
	switch {
	case p.person:
		c.decide(t, p, r, keys)
		within(t, "the model is told", func() bool { return len(m.heard()) == 1 })
	case s.interrupted:
		p.interrupt(t, func() { r.terminal.press("\x03") })
		r.wait()
	default:
		r.wait()
	}
	return m
}

// decide has a person at the client's terminal answer by keys.
func (c *mcpProgram) decide(t *testing.T, p *mcpPlace, r *mcpRun, keys []string) {
	t.Helper()
	if c.typed {
		within(t, "the client has our tools", func() bool { return p.heard(t, "tools/list") > 0 })
		for _, key := range []string{"Do it.", "\r"} {
			<-time.After(2 * time.Second)
			r.terminal.press(key)
		}
	}
	if c.before != "" {
		r.terminal.shows(c.before)
		<-time.After(time.Second)
		r.terminal.press("\r")
	}
	r.terminal.shows("asks for your approval")
	for _, key := range keys {
		<-time.After(time.Second) // it takes what comes together for a paste
		r.terminal.press(key)
	}
}

// An mcpRun is a client that runs.
type mcpRun struct {
	t        *testing.T
	cmd      *exec.Cmd
	ended    <-chan struct{}
	shown    logged
	terminal *terminal
}

// wait waits until the program has ended.
func (r *mcpRun) wait() {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(clientTime):
		r.t.Fatalf("it has not ended within %v", clientTime)
	}
}

// clientTime bounds the run of a client: opencode looks for its packages on the internet first.
const clientTime = 2 * time.Minute

// logged is what a program has shown.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
