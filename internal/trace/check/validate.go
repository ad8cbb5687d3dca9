package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxFaults bounds the reported faults of one payload.
const maxFaults = 3

// maxNesting bounds the depth of a payload: a schema may contain itself.
const maxNesting = 100

// maxQuoted bounds a quoted value.
const maxQuoted = 40

// A fault is a place in a payload, and what is wrong there.
type fault struct{ path, what string }

func (f fault) String() string {
	if f.path == "" {
		return f.what
	}
	return f.path + ": " + f.what
}

// validate returns the faults of v.
func (d *document) validate(s *schema, v gjson.Result, path string) []fault {
	w := &walk{doc: d}
	w.check(s, v, path)
	return w.faults
}

// A walk goes through a payload.
type walk struct {
	doc     *document
	faults  []fault
	nesting int
}

func (w *walk) fault(path, format string, args ...any) {
	if len(w.faults) < maxFaults {
		w.faults = append(w.faults, fault{path, fmt.Sprintf(format, args...)})
	}
}

// try returns the faults of v, and keeps none.
func (w *walk) try(s *schema, v gjson.Result, path string) []fault {
	inner := &walk{doc: w.doc, nesting: w.nesting}
	inner.check(s, v, path)
	return inner.faults
}

func (w *walk) check(s *schema, v gjson.Result, path string) {
	if w.nesting >= maxNesting {
		return
	}
	w.nesting++
	defer func() { w.nesting-- }()
	if s.nothing {
		w.fault(path, "must not be there")
		return
	}
	if s.ref != "" {
		w.check(w.doc.defs[s.ref], v, path)
	}
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return isType(t, v) }) {
		w.fault(path, "must be %s, and is %s", article(s.types), quote(v))
		return
	}
	if s.enum != nil && !slices.ContainsFunc(s.enum, func(e string) bool { return same(e, v) }) {
		w.fault(path, "must be %s, and is %s", oneOf(s.enum), quote(v))
	}
	w.bounds(s, v, path)
	switch {
	case v.IsObject():
		w.object(s, v, path)
	case v.IsArray() && s.items != nil:
		i := 0
		v.ForEach(func(_, item gjson.Result) bool {
			w.check(s.items, item, path+"["+strconv.Itoa(i)+"]")
			i++
			return len(w.faults) < maxFaults
		})
	}
	for _, inner := range s.allOf {
		w.check(inner, v, path)
	}
	w.pick(s.anyOf, v, path, false)
	w.pick(s.oneOf, v, path, true)
	if s.not != nil && len(w.try(s.not, v, path)) == 0 {
		w.fault(path, "is what it must not be: %s", quote(v))
	}
}

func (w *walk) bounds(s *schema, v gjson.Result, path string) {
	switch {
	case v.Type == gjson.Number && s.minimum != nil && v.Num < *s.minimum:
		w.fault(path, "must be at least %v, and is %s", *s.minimum, v.Raw)
	case v.Type == gjson.Number && s.maximum != nil && v.Num > *s.maximum:
		w.fault(path, "must be at most %v, and is %s", *s.maximum, v.Raw)
	case v.Type == gjson.String && s.minLength > 0 && utf8.RuneCountInString(v.Str) < s.minLength:
		w.fault(path, "must not be empty")
	case v.IsArray() && s.minItems > 0 && len(v.Array()) < s.minItems:
		w.fault(path, "must not be empty")
	}
}

func (w *walk) object(s *schema, v gjson.Result, path string) {
	found := 0
	v.ForEach(func(key, value gjson.Result) bool {
		absent := w.absent(key.Str, value)
		if !absent && slices.Contains(s.required, key.Str) {
			found++
		}
		inner, ok := s.properties[key.Str]
		switch {
		case absent:
		case ok:
			w.check(inner, value, join(path, key.Str))
		case s.additional != nil && s.additional.nothing:
			w.fault(join(path, key.Str), "is not known here")
		case s.additional != nil:
			w.check(s.additional, value, join(path, key.Str))
		}
		return len(w.faults) < maxFaults
	})
	if found >= len(s.required) || len(w.faults) >= maxFaults {
		return
	}
	for _, key := range s.required {
		if m := member(v, key); !m.Exists() || w.absent(key, m) {
			w.fault(join(path, key), "is missing")
		}
	}
}

// absent reports whether a member counts as absent: null means that in the JSON of
// Protocol Buffers, except where any JSON is allowed.
func (w *walk) absent(key string, v gjson.Result) bool {
	return w.doc.nullIsAbsent && v.Type == gjson.Null && key != "data"
}

// member finds a member by its whole name: gjson reads dots and stars as a path.
func member(v gjson.Result, name string) (found gjson.Result) {
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Str == name {
			found = value
		}
		return true
	})
	return found
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func isType(t string, v gjson.Result) bool {
	switch t {
	case "object":
		return v.IsObject()
	case "array":
		return v.IsArray()
	case "string":
		return v.Type == gjson.String
	case "number":
		return v.Type == gjson.Number
	case "integer":
		return v.Type == gjson.Number && v.Num == float64(int64(v.Num))
	case "boolean":
		return v.IsBool()
	}
	return v.Type == gjson.Null
}

// same reports whether v equals a value of a schema.
func same(want string, v gjson.Result) bool {
	w := gjson.Parse(want)
	return v.Exists() && w.Type == v.Type && (w.Type != gjson.String || w.Str == v.Str) && (w.Type != gjson.Number || w.Num == v.Num)
}

func article(types []string) string {
	var list []string
	for _, t := range types {
		switch t {
		case "null":
			list = append(list, "null")
		case "object", "array", "integer":
			list = append(list, "an "+t)
		default:
			list = append(list, "a "+t)
		}
	}
	return strings.Join(list, " or ")
}

func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "one of " + strings.Join(values, ", ")
}

func quote(v gjson.Result) string {
	if !v.Exists() {
		return "missing"
	}
	raw := v.Raw
	if len(raw) > maxQuoted {
		raw = strings.ToValidUTF8(raw[:maxQuoted], "") + "…"
	}
	return raw
}
