package check

import (
	"embed"
	"strings"

	"github.com/tidwall/gjson"
)

// A schema is one of JSON Schema (draft 2020-12), as it is written: these documents use
// part of it, and a test fails for a document that uses more.
type schema = gjson.Result

// A document is a file of schemas.
type document struct {
	defs         map[string]schema
	nullIsAbsent bool                 // the protocol's JSON is that of Protocol Buffers
	methods      map[string]string    // maps ACP's methods to names of schemas: "agent session/prompt request"
	operations   map[string]operation // A2A's, by their methods
}

func parse(name string, text []byte) *document {
	file := gjson.ParseBytes(text)
	d := &document{defs: map[string]schema{}, nullIsAbsent: file.Get("x-null-is-absent").Bool(), methods: map[string]string{}, operations: map[string]operation{}}
	file.Get("$defs").ForEach(func(name, s gjson.Result) bool {
		d.defs[name.Str] = s
		kind := "request"
		if strings.HasSuffix(name.Str, "Response") {
			kind = "response"
		}
		if method := s.Get("x-method").Str; method != "" {
			d.methods[s.Get("x-side").Str+" "+method+" "+kind] = name.Str
		}
		return true
	})
	file.Get("x-operations").ForEach(func(method, of gjson.Result) bool {
		d.operations[method.Str] = operation{strings.TrimPrefix(name, "A2A "), of.Get("0").Str, of.Get("1").Str}
		return true
	})
	return d
}

// target returns the schema that a schema refers to; false if it is no reference.
func (d *document) target(s schema) (to schema, ok bool) {
	name, ok := strings.CutPrefix(s.Get("$ref").Str, "#/$defs/")
	return d.defs[name], ok
}

// resolved follows references, and returns the schema behind them.
func (w *walk) resolved(s schema) schema {
	for range maxNesting {
		to, ok := w.doc.target(s)
		if !ok {
			break
		}
		s = to
	}
	return s
}

// values returns the allowed values, those of enum or const; none: any.
func values(s schema) []gjson.Result {
	if one := s.Get("const"); one.Exists() {
		return []gjson.Result{one}
	}
	return s.Get("enum").Array()
}

// The documents, and their files. That of ACP comes from testdata/schema, without descriptions (a test writes
// it); those of A2A are written here.
const (
	docACP = "ACP 1"
	doc03  = "A2A 0.3"
	doc10  = "A2A 1.0"
)

//go:embed schema
var schemaFiles embed.FS

// schemas are the documents that were read.
type schemas map[string]*document

func fileOf(name string) string {
	return "schema/" + strings.ToLower(strings.ReplaceAll(name, " ", "-")) + ".json"
}

// get reads a document. It cannot fail: documents are part of the program, and a test
// reads each.
func (s *schemas) get(name string) *document {
	if *s == nil {
		*s = schemas{}
	}
	if d := (*s)[name]; d != nil {
		return d
	}
	text, err := schemaFiles.ReadFile(fileOf(name))
	if err != nil || !gjson.ValidBytes(text) {
		panic("check: there is no JSON in " + fileOf(name))
	}
	(*s)[name] = parse(name, text)
	return (*s)[name]
}

// An operation is one of A2A, in one version; zero: none.
type operation struct {
	version string // of the protocol
	params  string // the name of the schema of its parameters
	result  string // that of its result, or of each event
}

// operation returns the operation of a method.
func (s *schemas) operation(method string) operation {
	for _, doc := range [...]string{doc03, doc10} {
		if op := s.get(doc).operations[method]; op.version != "" {
			return op
		}
	}
	return operation{}
}
