package peers

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

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
