package peers

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
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
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(readFile(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		delete(doc.(map[string]any), "$id")
		if err := c.AddResource("har:///"+filepath.Base(file), doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("har:///har.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, trace := range traces(t) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(exported(t, "har", trace)))
		if err != nil {
			t.Fatal(err)
		}
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

// Exported OTLP/JSON fits OpenTelemetry's own messages: no member is unknown, and each
// ID has its length.
func TestExportOTLP(t *testing.T) {
	t.Parallel()
	for name, trace := range traces(t) {
		var doc any
		if err := json.Unmarshal(exported(t, "otlp", trace), &doc); err != nil {
			t.Fatal(err)
		}
		// OTLP/JSON writes IDs in hex, where JSON of other protos has base64.
		inBase64(t, doc)
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var data tracepb.TracesData
		if err := (protojson.UnmarshalOptions{DiscardUnknown: false}).Unmarshal(b, &data); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		spans := map[string]*tracepb.Span{}
		for _, resource := range data.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					if len(span.TraceId) != 16 || len(span.SpanId) != 8 || span.Name == "" || span.StartTimeUnixNano == 0 || span.EndTimeUnixNano < span.StartTimeUnixNano {
						t.Errorf("%s: the span %v", name, span)
					}
					if spans[string(span.SpanId)] != nil {
						t.Errorf("%s: two spans are %x", name, span.SpanId)
					}
					spans[string(span.SpanId)] = span
				}
			}
		}
		for _, span := range spans {
			if parent := spans[string(span.ParentSpanId)]; len(span.ParentSpanId) > 0 && parent != nil && string(parent.TraceId) != string(span.TraceId) {
				t.Errorf("%s: %s is in another trace than %s", name, span.Name, parent.Name)
			}
		}
		if len(spans) == 0 && name != "nobody" { // there was no turn
			t.Errorf("%s: no spans", name)
		}
		t.Logf("%s: %d spans", name, len(spans))
	}
}

// inBase64 writes the IDs of spans as protojson does.
func inBase64(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			inBase64(t, e)
		}
	case map[string]any:
		for name, e := range v {
			if s, ok := e.(string); ok && (name == "traceId" || name == "spanId" || name == "parentSpanId") {
				b, err := hex.DecodeString(s)
				if err != nil {
					t.Errorf("%s is %q", name, s)
				}
				v[name] = base64.StdEncoding.EncodeToString(b)
				continue
			}
			inBase64(t, e)
		}
	}
}
