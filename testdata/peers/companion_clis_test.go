package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// geminiSettings turn IDE mode on, and questions and telemetry off.
const geminiSettings = `{"ide":{"enabled":true,"hasSeenNudge":true},"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},
"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"privacy":{"usageStatisticsEnabled":false},"ui":{"hideTips":true,"hideBanner":true}}`

// openGemini starts Gemini CLI in the workspace of p.
func openGemini(t *testing.T, p *companionPlaces, started *startedParams) *terminal {
	t.Helper()
	g := openTerminal(t, p, started, prepareGemini(t, p))
	g.see("Type your message")
	return g
}

// request waits for a request to the model that contains a text.
func (t *terminal) request(text string) string {
	t.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(t.dump, "req-*.json"))
		for _, f := range files {
			var all []string
			b := mustGet(os.ReadFile(f))(t.t)
			var request struct {
				Contents []struct{ Parts []struct{ Text string } }
			}
			_ = json.Unmarshal(b, &request) // it may be half written
			for _, c := range request.Contents {
				for _, p := range c.Parts {
					all = append(all, p.Text)
				}
			}
			if s := strings.Join(all, "\n"); strings.Contains(s, text) {
				return s
			}
		}
	}
	t.t.Fatalf("the model was not told %q", text)
	return ""
}

// The real Gemini CLI finds the companion, tells its model the open files, and lets the
// editor decide about its edits.
func TestCompanionGemini(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	file := filepath.Join(p.workspace, "edit.txt")
	write(t, file, "alpha\nbeta\n")
	e := openCompanion(t, p)
	e.show(file, "beta is selected")
	g := openGemini(t, p, &e.started)

	g.see("1 open file")
	g.say("/ide status")
	g.see("Connected to Test Editor")

	// The open file is on the screen, and in the request.
	g.say(script("hello", p.workspace))
	g.see("from the fake model.")
	text := g.request("[[hello]]")
	contains(t, "the request", text, file)
	contains(t, "the request", text, "beta is selected")

	// The user changes an edit and accepts it in the editor: the file has the user's text.
	g.say(script("replace", p.workspace))
	d := wantDiff(t, "opened", e.opened)
	if d.FilePath != file || d.NewContent != "ALPHA\nbeta\n" {
		t.Errorf("the diff is %+v", d)
	}
	wantFile(t, "alpha\nbeta\n", file)
	e.accept(d, "ALPHA\nbeta\nby the user\n")
	g.see("Edited edit.txt.")
	wantFile(t, "ALPHA\nbeta\nby the user\n", file)

	// The next prompt has the new selection.
	other := filepath.Join(p.workspace, "other.txt")
	write(t, other, "other\n")
	e.show(file, "now this", other)
	g.see("2 open files")
	g.say(script("write", p.workspace))
	g.request("now this")
	d = wantDiff(t, "opened", e.opened)
	// A rejected edit is not written, and ends the turn.
	e.reject(d)
	g.see("Request cancelled.")
	g.see("Type your message")
	wantNoFile(t, d.FilePath)

	// An edit is answered in the terminal: the editor's diff is closed, and its text is
	// written.
	g.say(script("write", p.workspace))
	d = wantDiff(t, "opened", e.opened)
	g.see("Allow once")
	<-time.After(500 * time.Millisecond)
	g.press("\r")
	wantDiff(t, "closed", e.closed)
	g.see("Created hello.txt.")
	wantFile(t, "hello world\nleft\n", d.FilePath)

	// A killed CLI leaves no diff in the editor.
	write(t, file, "alpha\n")
	g.say(script("replace", p.workspace))
	wantDiff(t, "opened", e.opened)
	g.kill()
	wantDiff(t, "closed", e.closed)
}

// qwenSettings turn IDE mode on, and questions and telemetry off.
const qwenSettings = `{"ide":{"enabled":true,"hasSeenNudge":true},"security":{"auth":{"selectedType":"gemini"},"folderTrust":{"enabled":false}},
"general":{"enableAutoUpdate":false,"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false},"model":{"name":"gemini-fake"},"tools":{"approvalMode":"default"}}`

// The real Qwen Code finds the companion by its lock file, without the variables of the
// editor's terminal, and lets the editor decide about its edits.
func TestCompanionQwen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("Qwen Code is 144 MB: not with -short")
	}
	needNode(t, 20)
	dir := installNPM(t, "qwen-code-0.24.4", filepath.Join("companion", "qwen-code.package.json"))
	p := newPlaces(t)
	file := filepath.Join(p.workspace, "edit.txt")
	write(t, file, "alpha\nbeta\n")
	e := openCompanion(t, p)
	e.show(file, "beta is selected")
	write(t, filepath.Join(p.home, ".qwen", "settings.json"), qwenSettings)
	q := openTerminal(t, p, &startedParams{}, filepath.Join(dir, "node_modules", "@qwen-code", "qwen-code", "cli.js"))
	q.see("Type your message")
	q.say("/ide status")
	q.see("Connected to Test Editor")
	q.say(script("write", p.workspace))
	text := q.request("[[write]]")
	contains(t, "the request", text, "beta is selected")
	d := wantDiff(t, "opened", e.opened)
	e.accept(d, "by the user\n")
	q.see("Created hello.txt.")
	wantFile(t, "by the user\n", d.FilePath)
}

// Gemini CLI as an ACP agent in IDE mode waits for the companion's decision even if its
// ACP client has allowed an edit. If the editor shows diffs, its decision ends that. If
// it shows none, the CLI is offered none, and does not wait.
func TestCompanionGeminiACP(t *testing.T) {
	t.Parallel()
	for _, noDiffs := range []bool{false, true} {
		t.Run(fmt.Sprintf("noDiffs=%v", noDiffs), func(t *testing.T) {
			t.Parallel()
			p := newPlaces(t)
			e := openCompanion(t, p, fmt.Sprintf("--no-diffs=%v", noDiffs))
			// The discovery file is enough; in a container the CLI needs its place.
			cmd := exec.Command("node", prepareGemini(t, p), "--acp")
			cmd.Dir = p.workspace
			cmd.Env = p.env("GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL="+startModel(t, p, t.TempDir()), "REMOTE_CONTAINERS=true", "GEMINI_CLI_NO_RELAUNCH=true")
			g := begin(t, cmd)
			t.Cleanup(g.Kill)
			g.Call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
			turn := g.Prompt(g.NewSession(p.workspace), script("write", p.workspace))
			want := "hello world\n"
			if !noDiffs {
				d := wantDiff(t, "opened", e.opened)
				want = "by the user\n"
				e.accept(d, want)
			}
			turn.End("end_turn")
			wantFile(t, want, p.workspace, "hello.txt")
			if len(e.opened) > 0 {
				t.Error("the editor was asked to show a diff")
			}
		})
	}
}

// prepareGemini installs Gemini CLI, and gives it settings with IDE mode on.
func prepareGemini(t *testing.T, p *companionPlaces) (script string) {
	t.Helper()
	if testing.Short() {
		t.Skip("Gemini CLI is 100 MB: not with -short")
	}
	needNode(t, 20)
	dir := installNPM(t, "gemini-cli-0.61.0", filepath.Join("companion", "gemini-cli.package.json"))
	write(t, filepath.Join(p.home, ".gemini", "settings.json"), geminiSettings)
	return filepath.Join(dir, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")
}

// The official TypeScript MCP client, with which Gemini CLI is made, finds in the
// companion what Gemini CLI needs: see companion/sdk.mjs.
func TestCompanionSDK(t *testing.T) {
	t.Parallel()
	needNode(t, 20)
	dir := installNPM(t, "companion-1.32.2", filepath.Join("companion", "package.json"))
	p := newPlaces(t)
	e := openCompanion(t, p)
	file := filepath.Join(p.workspace, "edit.txt")
	write(t, file, "alpha\nbeta\n")
	e.show(file, "beta")
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("companion", "sdk.mjs"), dir, e.started.url(), e.started.AuthToken, file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if n := bytes.Count(out, []byte("\nok ")); err != nil || n < 30 || bytes.Contains(out, []byte("FAIL")) {
		t.Errorf("%v\n%s%s", err, out, &stderr)
	}
}

// conformanceScenarios are the official suite's scenarios for a server of tools without
// the suite's own tools, and their results for the companion. (One more,
// server-sse-polling, finds nothing to check where answers are JSON.)
var conformanceScenarios = []struct{ name, says string }{
	{"server-initialize", "Passed: 1/1, 0 failed"},
	{"ping", "Passed: 1/1, 0 failed"},
	{"tools-list", "Passed: 1/1, 0 failed"},
	{"server-sse-multiple-streams", "Passed: 1/1, 0 failed"},
	// The half that passes is the refusal of another Host:
	// companion/expected-failures.yaml.
	{"dns-rebinding-protection", "Passed: 1/2, 1 failed"},
}

// The official conformance suite finds nothing but intended deviations.
func TestCompanionConformance(t *testing.T) {
	t.Parallel()
	needNode(t, 20) // for npx, which brings the newer one
	e := openCompanion(t, newPlaces(t))
	proxy := tokenProxy(t, &e.started)
	expected := mustGet(filepath.Abs(filepath.Join("companion", "expected-failures.yaml")))(t)
	var script strings.Builder
	for _, s := range conformanceScenarios {
		fmt.Fprintf(&script, "echo '== %s'; conformance server --url %s/mcp --scenario %s --expected-failures '%s' && echo '== passed'\n", s.name, proxy, s.name, expected)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npx", "-y", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.1.16", "-c", script.String())
	cmd.Dir = t.TempDir()
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	for _, s := range conformanceScenarios {
		_, rest, _ := strings.Cut(string(out), "== "+s.name+"\n")
		said, _, passed := strings.Cut(rest, "== passed")
		if !passed || strings.Contains(said, "\n== ") || !strings.Contains(said, s.says) {
			t.Errorf("%s: want %q (%v)\n%s", s.name, s.says, err, said)
		}
	}
	if t.Failed() {
		t.Logf("%s", &stderr)
	}
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
