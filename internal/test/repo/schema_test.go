package repo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestSchemas holds each line that the transcripts' editors read against the schema of its
// protocol: ACP's own of both versions (testdata/schema/acp-v1.schema.json and acp-v2, from the
// npm package @agentclientprotocol/sdk 2.4.0), and ours of the A2A lines and of MCP. No line holds a null
// that nobody asked for: to Lua clients null is true.
func TestSchemas(t *testing.T) {
	lines := schemaFile(t, "a2a-lines")
	acp := []func(string, gjson.Result) *jsonschema.Schema{1: acpSchema(t, "acp-v1"), 2: acpSchema(t, "acp-v2"), mcp: mcpSchema(t)}
	legs := map[string]bool{"message/stream": true, "toolCall/confirm": true, "tasks/resubscribe": true, "command/execute": true}
	files, _ := filepath.Glob("testdata/transcript/*.txt")
	checked := 0
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		asked := map[string]string{} // methods by request
		version := 0                 // of ACP; 0: A2A lines
		for i, l := range strings.Split(string(text), "\n") {
			kind, line, _ := strings.Cut(l, " ")
			switch kind {
			case "handshake":
				version = 1
			case "handshake2":
				version = 2
			}
			m := gjson.Parse(line)
			method := m.Get("method").Str
			if kind == "E>" && method != "" {
				asked[m.Get("id").Raw] = method
			}
			if kind != "E<" {
				continue
			}
			of := asked[m.Get("id").Raw]
			if v := m.Get("result.protocolVersion"); of == "initialize" && v.Type == gjson.Number {
				version = int(v.Int())
			} else if of == "initialize" && v.Exists() || of == "server/discover" {
				version = mcp
			}
			schema, value := lines(""), m
			switch {
			case version == 0 && m.Get("result").Exists() && legs[of]:
				schema, value = lines("legResult"), m.Get("result")
			case version == 0 || m.Get("error").Exists():
			case strings.HasPrefix(of, "_"), strings.HasPrefix(of, "$/"): // a convention, or a notification by the book: the schema has no result
				continue
			case method != "":
				schema, value = acp[version](method, m), m.Get("params")
			default:
				schema, value = acp[version](of, m), m.Get("result")
			}
			if schema == nil {
				t.Errorf("%s:%d: no client has to know this: %s", file, i+1, line)
				continue
			}
			instance := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(value.Raw)))(t)
			must.Fail(t, schema.Validate(instance), "", file, i+1, line)
			if strings.Contains(line, ":null") && !m.Get("error").Exists() && !m.Get("params.raw").Exists() {
				t.Errorf("%s:%d: a null: %s", file, i+1, line)
			}
			checked++
		}
	}
	must.True(t, checked >= 200, checked, "lines were checked")
}

// mcp stands for MCP among the versions of ACP.
const mcp = 3

// mcpSchema finds the schema of what an MCP client is sent.
func mcpSchema(t *testing.T) func(method string, m gjson.Result) *jsonschema.Schema {
	of := schemaFile(t, "mcp")
	return func(method string, _ gjson.Result) *jsonschema.Schema {
		return of(strings.ReplaceAll(method, "/", "~1"))
	}
}

// acpSchema finds the schema of what an ACP client is sent: a method's parameters or result.
func acpSchema(t *testing.T, name string) func(method string, m gjson.Result) *jsonschema.Schema {
	text := must.Get(os.ReadFile("testdata/schema/" + name + ".schema.json"))(t)
	var document map[string]any
	must.Do(t, json.Unmarshal(text, &document))
	closed(document, false)
	c := jsonschema.NewCompiler()
	must.Do(t, c.AddResource(name, document))
	schemas := map[string]*jsonschema.Schema{}
	for def, d := range document["$defs"].(map[string]any) {
		d := d.(map[string]any)
		if d["x-method"] == nil || strings.HasSuffix(def, "Response") != (d["x-side"] == "agent") {
			continue // what an agent is sent
		}
		schemas[fmt.Sprint(d["x-method"], d["x-side"] == "agent")] = must.Get(c.Compile(name + "#/$defs/" + def))(t)
	}
	return func(method string, m gjson.Result) *jsonschema.Schema {
		return schemas[fmt.Sprint(method, !m.Get("method").Exists())]
	}
}

// closed makes a schema refuse what it lets pass for the sake of later versions: members, and
// values of enumerations, that it does not name. Else a slip of the pen, or a word of the other
// version, would be legal.
func closed(schema any, value bool) {
	switch s := schema.(type) {
	case []any:
		for _, member := range s {
			closed(member, false)
		}
	case map[string]any:
		for _, key := range []string{"anyOf", "oneOf"} {
			var named []any
			members, ok := s[key].([]any)
			for _, m := range members {
				if m := m.(map[string]any); m["not"] == nil && m["title"] != "other" {
					named = append(named, m)
				}
			}
			if ok {
				s[key] = named
			}
		}
		if s["x-method"] != nil || value && (s["allOf"] != nil || s["anyOf"] != nil || s["oneOf"] != nil || s["$ref"] != nil) {
			s["unevaluatedProperties"] = false
		}
		for key, member := range s {
			if members, ok := member.(map[string]any); ok && (key == "properties" || key == "$defs") {
				for name, m := range members {
					closed(m, key == "properties" && name != "data") // an error's data is anything
				}
				continue
			}
			closed(member, key == "items")
		}
	}
}

// What the schema of version 2 lets pass for the sake of later versions is refused, and what it
// names is not.
func TestSchemaIsClosed(t *testing.T) {
	acp := acpSchema(t, "acp-v2")
	for _, test := range must.Table[struct {
		Legal bool
		Line  string
	}](t, "testdata/schema/acp-v2.closed.txt") {
		m := gjson.Parse(test.Line)
		value := m.Get("params")
		if !value.Exists() {
			value = m.Get("result")
		}
		err := acp(cmp.Or(m.Get("method").Str, "session/prompt"), m).Validate(value.Value())
		must.Equal(t, err == nil, test.Legal, test.Line, err)
	}
}

func schemaFile(t *testing.T, name string) func(def string) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	path := "testdata/schema/" + name + ".schema.json"
	return func(def string) *jsonschema.Schema {
		if def != "" {
			def = "#/$defs/" + def
		}
		return must.Get(c.Compile(path + def))(t)
	}
}

// TestRegistryEntry: the entry has what the registry's schema and check ask for, and nothing that they do not know. The
// folder that its README names is its ID, and each archive has its version, as its tag and in its name.
func TestRegistryEntry(t *testing.T) {
	const dir = "packaging/acp-registry"
	text := string(must.Get(os.ReadFile(filepath.Join(dir, "agent.json")))(t))
	schema := must.Get(jsonschema.NewCompiler().Compile("testdata/schema/acp-registry.schema.json"))(t)
	must.Do(t, schema.Validate(must.Get(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)))
	must.Has(t, string(must.Get(os.ReadFile(filepath.Join(dir, "README.md")))(t)), "into the folder `"+gjson.Get(text, "id").Str+"` of")
	gjson.Get(text, "distribution.binary").ForEach(func(platform, b gjson.Result) bool {
		must.Equal(t, strings.Count(b.Get("archive").Str, gjson.Get(text, "version").Str), 2, platform)
		return true
	})
}
