package peers

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Other people's clients through the proxy, and their format of what has travelled: script/trace_*.txtar.
func TestTrace(t *testing.T) { play(t, "trace_") }

// proxied starts a2astdio proxy in front of an agent until the test ends, and returns
// its URL.
func proxied(t *testing.T, agent string, more ...string) string {
	t.Helper()
	return serving(t, exec.Command(binary, append([]string{"--agent", agent, "proxy", "--listen", "127.0.0.1:0"}, more...)...))
}

// wantHAR holds files against a folder of schemas, and demands an entry. The schemas name each other by name
// and not by file, and the HAR that is written has all that they know.
func wantHAR(t *testing.T, dir string, files ...string) {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, file := range mustGet(filepath.Glob(filepath.Join(dir, "*.json")))(t) {
		doc := mustGet(jsonschema.UnmarshalJSON(bytes.NewReader(readFile(t, file))))(t)
		delete(doc.(map[string]any), "$id")
		mustDo(t, c.AddResource("har:///"+filepath.Base(file), doc))
	}
	schema := mustGet(c.Compile("har:///har.json"))(t)
	for _, file := range files {
		doc := mustGet(jsonschema.UnmarshalJSON(bytes.NewReader(readFile(t, file))))(t)
		if err := schema.Validate(doc); err != nil || at(doc, "log.entries.0") == nil {
			t.Errorf("%s: %v, entries %v", file, err, at(doc, "log.entries"))
		}
	}
	// The schema can also refuse.
	if schema.Validate(object{"log": object{"version": "1.2", "creator": object{"name": "x", "version": "1"}, "entries": []any{object{}}}}) == nil {
		t.Error("the schema takes anything")
	}
}
