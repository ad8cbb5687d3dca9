package peers

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// proxied starts a2astdio proxy in front of an agent until the test ends, and returns
// its URL.
func proxied(t *testing.T, agent string, more ...string) string {
	t.Helper()
	return serving(t, exec.Command(binary, append([]string{"--agent", agent, "proxy", "--listen", "127.0.0.1:0"}, more...)...))
}

// A client is a program made with one of the A2A project's SDKs; see its file for what
// it writes.
type client struct {
	name string
	args []string
}

func (c *client) say(t *testing.T, agent, prompt string) string {
	t.Helper()
	args := append(append([]string(nil), c.args[1:]...), agent, prompt)
	out, err := exec.Command(c.args[0], args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s, %q: %v: %s", c.name, prompt, err, out)
	}
	return string(out)
}

// clients are the SDKs' clients, by the servers that each can speak to.
func clients(t *testing.T) map[string][]client {
	goV1, goOld := client{"a2a-go v2", []string{buildIn(t, "a2ago", "./v1client")}}, client{"a2a-go v0.3", []string{buildIn(t, "a2ago", "./v03client")}}
	all := map[string][]client{goV2: {goV1}, goV03: {goOld}}
	if nodeLacks(20) == "" {
		script, dir := filepath.Join("a2ajs", "client.mjs"), installJS(t)
		js, jsOld := client{"a2a-js 1", []string{"node", script, dir, "a2a-js-1"}}, client{"a2a-js 0.3", []string{"node", script, dir, "a2a-js-0.3"}}
		all = map[string][]client{goV2: {goV1, js}, goV03: {goOld, jsOld}, jsV1: {js, goV1}, jsV03: {jsOld, goOld}}
	}
	return all
}

// The A2A project's own clients have the same conversations through the proxy as
// without it. The trace has all of it, and trace check finds nothing.
func TestProxyClients(t *testing.T) {
	t.Parallel()
	for server, list := range clients(t) {
		for _, c := range list {
			t.Run(c.name+" to "+server, func(t *testing.T) {
				t.Parallel()
				agent, trace := sdkServer(t, server), filepath.Join(t.TempDir(), "t.jsonl")
				proxy := proxied(t, agent, "--trace", trace)
				for _, prompt := range []string{"count 5 5", "Grüße,\n\"世界\" 🙂", "message", "fail"} {
					want := c.say(t, agent, prompt)
					if got := c.say(t, proxy, prompt); got != want {
						t.Errorf("%q: without a proxy\n%s\nthrough it\n%s", prompt, want, got)
					}
				}
				if got := readFile(t, trace); !strings.Contains(string(got), "chunk-4 ") || !strings.Contains(string(got), `"reason":"done"`) {
					t.Errorf("the trace has %s", got)
				}
				if out, err := exec.Command(binary, "trace", "check", trace).CombinedOutput(); err != nil {
					t.Errorf("trace check: %v: %s", err, out)
				}
			})
		}
	}
}

// traces are recordings: of a bridge with approvals and a failure, of one whose agent
// breaks off and vanishes, of a client, and of a proxy.
func traces(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"bridge": conversation(t), "redacted": conversation(t, "--trace-redact")}
	agent := listen(t)
	cut := proxied(t, agent, "--fault", "cut-after=2events@message/stream*2", "--fault", "cut-after=2events@SendStreamingMessage*2", "--trace", filepath.Join(dir, "proxy.jsonl"))
	all["cut"], all["proxy"] = conversation(t, "--agent", cut), filepath.Join(dir, "proxy.jsonl")
	if !bytes.Contains(readFile(t, all["cut"]), []byte(`"what":"reconnect"`)) {
		t.Error("no connection was cut")
	}
	all["client"], all["nobody"] = filepath.Join(dir, "client.jsonl"), filepath.Join(dir, "nobody.jsonl")
	if out, err := exec.Command(binary, "--agent", agent, "--trace", all["client"], "send", "hello").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = exec.Command(binary, "--agent", "http://127.0.0.1:1", "--trace", all["nobody"], "send", "hello").Run() // fails
	return all
}

func exported(t *testing.T, format, trace string) []byte {
	t.Helper()
	cmd := exec.Command(binary, "trace", "export", "--"+format, trace)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return out
}

// An exported HAR fits other people's schema of HAR 1.2.
func TestExportHAR(t *testing.T) {
	t.Parallel()
	needNode(t, 20)
	dir := filepath.Join(installNPM(t, "har-schema-2.0.0", filepath.Join("har", "package.json")), "node_modules", "har-schema", "lib")
	c := jsonschema.NewCompiler()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d schemas: %v", len(files), err)
	}
	// They name each other by name and not by file, and the HAR that is written has all
	// that they know.
	for _, file := range files {
		doc := mustGet(jsonschema.UnmarshalJSON(bytes.NewReader(readFile(t, file))))(t)
		delete(doc.(map[string]any), "$id")
		mustDo(t, c.AddResource("har:///"+filepath.Base(file), doc))
	}
	schema := mustGet(c.Compile("har:///har.json"))(t)
	for name, trace := range traces(t) {
		doc := mustGet(jsonschema.UnmarshalJSON(bytes.NewReader(exported(t, "har", trace))))(t)
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if entries := at(doc, "log.entries"); len(entries.([]any)) < 1 {
			t.Errorf("%s: no entries", name)
		}
	}
	// The schema can also refuse.
	if schema.Validate(map[string]any{"log": map[string]any{"version": "1.2", "creator": map[string]any{"name": "x", "version": "1"}, "entries": []any{map[string]any{}}}}) == nil {
		t.Error("the schema takes anything")
	}
}

// conversation records a conversation with the demo agent, in which a command was
// allowed.
func conversation(t *testing.T, more ...string) (trace string) {
	t.Helper()
	trace = filepath.Join(t.TempDir(), "t.jsonl")
	e := open(t, append([]string{"--agent", listen(t), "--trace", trace}, more...)...)
	s := e.NewSession(t.TempDir())
	e.Prompt(s, "hello").End("end_turn")
	e.Prompt(s, "shell").End("end_turn")
	e.Prompt(s, "fail").Wait()
	e.Close()
	return trace
}
