package check

import (
	"errors"
	"strings"

	"github.com/tidwall/gjson"
)

// A schema is one of JSON Schema (draft 2020-12), as it is written: these documents use
// part of it, and a test fails for a document that uses more.
type schema = gjson.Result

// A document is a file of schemas, by name.
type document struct {
	defs map[string]schema
	// nullIsAbsent: the protocol's JSON is that of Protocol Buffers.
	nullIsAbsent bool
	// methods maps ACP's methods to schemas: "agent session/prompt request".
	methods map[string]string
}

// parse reads a document.
func parse(text []byte) (*document, error) {
	if !gjson.ValidBytes(text) {
		return nil, errors.New("it is no JSON")
	}
	file := gjson.ParseBytes(text)
	d := &document{defs: map[string]schema{}, nullIsAbsent: file.Get("x-null-is-absent").Bool(), methods: map[string]string{}}
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
	return d, nil
}

// target is the schema that a schema refers to.
func (d *document) target(s schema) (to schema, ok bool) {
	name, ok := strings.CutPrefix(s.Get("$ref").Str, "#/$defs/")
	return d.defs[name], ok
}

// resolve follows references, and lists of one reference.
func (d *document) resolve(s schema) schema {
	for range maxNesting {
		if to, ok := d.target(s); ok {
			s = to
			continue
		}
		all := s.Get("allOf").Array()
		if len(all) != 1 || s.Get("properties").Exists() || s.Get("type").Exists() || len(values(s)) > 0 {
			break
		}
		s = all[0]
	}
	return s
}

// values are the allowed values: those of enum, or const.
func values(s schema) []gjson.Result {
	if one := s.Get("const"); one.Exists() {
		return []gjson.Result{one}
	}
	return s.Get("enum").Array()
}

// tags are the members with a fixed value, which tell schemas apart.
func (d *document) tags(s schema) map[string][]gjson.Result {
	of := map[string][]gjson.Result{}
	s.Get("properties").ForEach(func(key, p gjson.Result) bool {
		fixed := values(d.resolve(p))
		required := s.Get("required")
		if len(fixed) == 1 && has(required, key.Str) || len(fixed) > 0 && !required.Exists() && !s.Get("type").Exists() {
			of[key.Str] = fixed
		}
		return true
	})
	return of
}

// has reports whether a list, or a single string, has a string.
func has(list gjson.Result, s string) bool {
	for _, one := range list.Array() {
		if one.Str == s {
			return true
		}
	}
	return false
}
