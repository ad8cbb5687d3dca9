package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
)

var update = flag.Bool("update", false, "make the documents that come from testdata/schema again")

// said are keywords for people; "unevaluatedProperties" is only ever true.
var said = []string{"description", "title", "default", "discriminator", "format", "$schema", "unevaluatedProperties",
	"x-docs-ignore", "x-deserialize-default-on-error", "x-deserialize-default-on-null", "x-deserialize-skip-invalid-items"}

// known are the keywords that this package reads.
var known = []string{"$defs", "$ref", "type", "enum", "const", "properties", "required", "additionalProperties", "items", "allOf", "anyOf",
	"oneOf", "not", "minimum", "maximum", "minLength", "minItems", "format", "x-method", "x-side", "x-null-is-absent", "x-section", "x-should", "x-operations"}

// lean returns a schema without keywords for people.
func lean(t *testing.T, v any, names bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = lean(t, v[i], false)
		}
	case map[string]any:
		for key, value := range v {
			switch {
			case names:
				v[key] = lean(t, value, false)
			case slices.Contains(said, key):
				if key == "unevaluatedProperties" && value != true {
					t.Error("unevaluatedProperties is not only true")
				}
				delete(v, key)
			case !slices.Contains(known, key):
				t.Errorf("a schema has the keyword %s, which is not known here", key)
			case key == "const" || key == "enum" || key == "x-operations":
			default:
				v[key] = lean(t, value, key == "properties" || key == "$defs")
			}
		}
	}
	return v
}

// TestDocuments: the program's documents equal those of testdata/schema, use only known
// keywords, and lack no schema.
func TestDocuments(t *testing.T) {
	for name, source := range map[string]string{docACP: "acp-v1", doc03: "", doc10: ""} {
		path := fileOf(name)
		if source != "" {
			source = "../../../testdata/schema/" + source + ".schema.json"
		} else {
			source = path
		}
		text := must.Get(os.ReadFile(source))(t)
		var all map[string]any
		must.Do(t, json.Unmarshal(text, &all))
		for _, ref := range regexp.MustCompile(`"#/\$defs/(\w+)"`).FindAllSubmatch(text, -1) {
			must.True(t, all["$defs"].(map[string]any)[string(ref[1])] != nil, source, "has no", ref[1])
		}
		lean(t, all, false)
		if source == path {
			continue
		}
		want := must.Get(json.Marshal(map[string]any{"$defs": all["$defs"]}))(t)
		if want = append(want, '\n'); *update {
			must.Do(t, os.WriteFile(path, want, 0o644))
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not %s without its descriptions (%v): go test ./internal/trace/check -update", path, source, err)
		}
	}
}

// payloads are conversations' payloads, by document and schema.
func payloads(t *testing.T) map[[2]string][]string {
	all := map[[2]string][]string{}
	var s schemas
	files, err := filepath.Glob("../../../testdata/trace/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no conversations", err)
	}
	for _, file := range files {
		r := must.Get(trace.Open(file, nil))(t)
		for rec, err := range r.All() {
			must.Do(t, err)
			doc, _ := rec.Document()
			key, v := [2]string{}, doc.Get("params")
			switch method := doc.Get("method").Str; {
			case rec.Kind == trace.KindEvent:
				key, v = [2]string{doc03, "Event"}, doc.Get("result")
			case rec.Kind == trace.KindRequest && s.operation(method).params != "":
				key = [2]string{doc03, s.operation(method).params}
			case rec.Kind != trace.KindMessage:
			case strings.HasPrefix(method, "event/"): // A2A lines have no schema here
			case method != "":
				side := "agent "
				if rec.Dir == trace.DirOut {
					side = "client "
				}
				key = [2]string{docACP, s.get(docACP).methods[side+method+" request"]}
			}
			if key[1] != "" {
				all[key] = append(all[key], v.Raw)
			}
		}
	}
	return all
}

// mutations yields a document with each of its values changed, in turn.
func mutations(text string, yield func(string)) {
	var paths []string
	var walk func(path string, v gjson.Result)
	walk = func(path string, v gjson.Result) {
		if path != "" {
			paths = append(paths, v.Raw)
		}
		v.ForEach(func(key, inner gjson.Result) bool {
			if v.IsObject() || v.IsArray() {
				walk("x", inner)
			}
			return true
		})
	}
	walk("", gjson.Parse(text))
	sort.Strings(paths)
	for _, raw := range slices.Compact(paths) {
		for _, other := range []string{"null", "7", "-1", "1.5", `"what"`, `""`, "true", "[]", "{}", `{"type":"text"}`, `[{"kind":"text","text":"x"}]`} {
			yield(strings.Replace(text, raw, other, 1))
		}
	}
	for _, key := range []string{"text", "kind", "status", "parts", "sessionUpdate", "toolCallId", "sessionId", "seq", "id", "options", "final"} {
		yield(strings.Replace(text, `"`+key+`":`, `"another":`, 1))
	}
}

// TestValidate: this package accepts and refuses the same payloads as a library that
// reads all of JSON Schema, and names the place of a fault.
func TestValidate(t *testing.T) {
	var own schemas
	wrong := 0
	for key, texts := range payloads(t) {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		for _, name := range []string{"base64", "uri", "media-type", "date-time", "iso-8601", "utc", "zoned"} {
			c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
				if s, ok := v.(string); ok && s != "" {
					if ok, must := formed(name, s); !ok {
						return errors.New(must)
					}
				}
				return nil
			}})
		}
		file := must.Get(os.Open(fileOf(key[0])))(t)
		doc, err := jsonschema.UnmarshalJSON(file)
		file.Close()
		must.Do(t, errors.Join(err, c.AddResource("s.json", doc)))
		theirs := must.Get(c.Compile("s.json#/$defs/" + key[1]))(t)
		d := own.get(key[0])
		slices.Sort(texts)
		for _, text := range slices.Compact(texts) {
			faults := d.validate(d.defs[key[1]], gjson.Parse(text), "")
			must.True(t, len(faults) == 0, text, "is no", key[1], faults)
			mutations(text, func(text string) {
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
				if err != nil {
					return // the change was not within one value
				}
				faults := d.validate(d.defs[key[1]], gjson.Parse(text), "")
				if len(faults) > 0 {
					wrong++
				}
				if err := theirs.Validate(value); (err == nil) != (len(faults) == 0) {
					t.Errorf("%s as %s: %v, and the library says %v", text, key[1], faults, err)
				}
			})
		}
	}
	must.True(t, wrong >= 100, wrong, "wrong payloads were tried")
}

// TestFaults: a fault names the place, the expected value, and the found one.
func TestFaults(t *testing.T) {
	var s schemas
	for _, test := range must.Table[struct{ Doc, Schema, Text, Want string }](t, "testdata/faults.txt") {
		d := s.get(test.Doc)
		var got []string
		for _, f := range d.validate(d.defs[test.Schema], gjson.Parse(test.Text), "") {
			got = append(got, f.String())
		}
		all := strings.Join(got, "; ")
		must.True(t, strings.HasPrefix(all, test.Want) && (all == "") == (test.Want == ""), test.Text, all, test.Want)
	}
}
