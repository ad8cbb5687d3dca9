package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// replaying serves the agent of a trace until the test ends, and returns its URL.
func replaying(t *testing.T, trace string, more ...string) (url string, notes *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(binary, append(append([]string{"trace", "replay", "--listen", "127.0.0.1:0"}, more...), trace)...)
	notes = new(bytes.Buffer)
	cmd.Stderr = notes
	t.Cleanup(func() { // when it has ended
		if t.Failed() {
			t.Logf("trace replay: %s", notes)
		}
	})
	return serving(t, cmd), notes
}

// The Gemini server's long conversation was recorded. The replayed agent gives an
// editor the same conversation, at its own pace and without pauses.
func TestGeminiReplay(t *testing.T) {
	t.Parallel()
	trace, dir := filepath.Join(t.TempDir(), "t.jsonl"), workspace(t)
	e := open(t, "--agent", gemini(t), "--trace", trace)
	turn := e.Prompt(e.NewSession(dir), script("multi", dir))
	want, asked := turn.story(), len(turn.End("end_turn").Asked)
	e.Close()
	for _, how := range [][]string{nil, {"--speed", "max"}} {
		name := strings.Join(how, " ")
		url, _ := replaying(t, trace, how...)
		again := open(t, "--agent", url)
		turn := again.Prompt(again.NewSession(dir), script("multi", dir))
		wantStory(t, withoutIDs(turn.story()), withoutIDs(want))
		if n := len(turn.End("end_turn").Asked); n != asked || n == 0 {
			t.Errorf("%s: %d questions, and %d were recorded", name, n, asked)
		}
		again.Close()
	}
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// withoutIDs replaces IDs that differ each time, and keeps the turn's lines.
func withoutIDs(lines []string) []string {
	var all []string
	for _, l := range lines {
		if strings.Contains(l, `"available_commands_update"`) {
			continue // it comes at any time
		}
		all = append(all, anyID.ReplaceAllString(l, "ID"))
	}
	return all
}

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
	goV1, goOld := client{"a2a-go v2", []string{buildIn(t, "a2ago", "v1client")}}, client{"a2a-go v0.3", []string{buildIn(t, "a2ago", "v03client")}}
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

// The page shows what an agent or an editor has said as text only: from the server and
// in a file, in each member of a record, in each view.
func TestTracePageHostile(t *testing.T) {
	t.Parallel()
	b := browse(t)
	evil := `</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><svg/onload=window.pwned=1>'"><a href="javascript:window.pwned=1">x</a>{{1}}${window.pwned=1}` + "\u202e\u2028<!--data--><!--scripts-->"
	e, _ := json.Marshal(evil)
	lines := []string{`{"n":1,"t":"2026-01-02T03:04:05.000000Z","us":0,"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"limit":1048576,"mode":` + string(e) + `,"version":` + string(e) + `,"system":` + string(e) + `}`}
	add := func(members string) {
		lines = append(lines, fmt.Sprintf(`{"n":%d,"t":"2026-01-02T03:04:05.000000Z","us":%d,%s}`, len(lines)+1, len(lines), strings.ReplaceAll(members, "EVIL", string(e))))
	}
	add(`"wire":"editor","dir":"in","kind":"message","id":EVIL,"method":EVIL,"json":{"jsonrpc":"2.0","id":EVIL,"method":EVIL,"params":{"sessionId":EVIL,"prompt":[{"type":"text","text":EVIL}],EVIL:EVIL}}`)
	add(`"wire":"editor","dir":"in","kind":"message","id":5,"method":"session/prompt","json":{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":EVIL,"prompt":[{"type":"text","text":EVIL}]}}`)
	add(`"wire":"agent","dir":"out","kind":"request","x":1,"id":1,"method":EVIL,"http":EVIL,"url":"javascript:window.pwned=1","header":{EVIL:[EVIL]},"text":EVIL`)
	add(`"wire":"agent","dir":"in","kind":"response","x":1,"status":200,"proto":EVIL,"header":{"Content-Type":[EVIL],"Location":["javascript:window.pwned=1"]}`)
	add(`"wire":"agent","dir":"in","kind":"event","x":1,"e":1,"name":EVIL,"last_id":EVIL,"comment":EVIL,"json":{"result":{"statusUpdate":{"taskId":EVIL,"contextId":EVIL,"status":{"state":EVIL,"message":{"messageId":EVIL,"parts":[{"text":EVIL},{"data":{"tool_call_id":EVIL,"tool_name":EVIL,"status":EVIL}}]}}}}}`)
	add(`"wire":"editor","dir":"out","kind":"message","from":[[1,1]],"method":"session/update","json":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":EVIL,"update":{"sessionUpdate":"tool_call","toolCallId":EVIL,"title":EVIL,"kind":EVIL,"status":EVIL,"content":[{"type":"content","content":{"type":"text","text":EVIL}}]}}}`)
	add(`"wire":"agent","dir":"in","kind":"body","x":1,"size":5,"sha256":EVIL,"head":EVIL`)
	add(`"wire":"bridge","kind":"decision","what":EVIL,"why":EVIL,"session":EVIL,"task":EVIL,"call":EVIL,"option":EVIL,"outcome":EVIL,"by":EVIL`)
	add(`"wire":"editor","dir":"out","kind":"stderr","text":EVIL`)
	add(`"wire":EVIL,"dir":EVIL,"kind":EVIL,"error":EVIL`)
	add(`"wire":"agent","dir":"in","kind":"end","x":1,"reason":EVIL,"error":EVIL,"bytes":5,"took":5`)
	dir := t.TempDir()
	trace, file := filepath.Join(dir, `<img src=x onerror=alert(1)>.jsonl`), filepath.Join(dir, "t.html")
	write(t, trace, strings.Join(lines, "\n")+"\n")
	if out, err := exec.Command(binary, "trace", "export", "--html", "--out", file, trace).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	served := serveTrace(t, trace)
	for _, url := range []string{served, "file://" + file} {
		b.open(url, 1440, 900)
		rows := eval[int](b, `List.shown.length`)
		if rows != len(lines) {
			t.Errorf("%s: %d rows of %d records", url, rows, len(lines))
		}
		shown := false
		for i := range rows {
			b.js(fmt.Sprintf(`List.select(%d)`, i))
			tabs := eval[int](b, `document.querySelectorAll("#tabs button").length`)
			for k := range tabs {
				b.js(fmt.Sprintf(`const tab = document.querySelectorAll("#tabs button")[%d]; if (tab) tab.click()`, k))
				b.until(`document.getElementById("body").textContent !== ""`)
				shown = shown || eval[bool](b, `document.getElementById("body").textContent.includes("onerror=")`)
			}
		}
		b.js(`const q = document.getElementById("query"); q.value = "<img src=x"; q.dispatchEvent(new Event("input"))`)
		b.until(`document.querySelector("mark") !== null`)
		if !shown {
			t.Errorf("%s: the text is not shown at all", url)
		}
		if eval[bool](b, `window.pwned !== undefined || document.querySelector("img, svg[onload], a[href^='javascript']") !== null`) {
			t.Errorf("%s: what was said is markup", url)
		}
	}
	b.clean(served, "file://"+file)
}
