package check

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	maxFaults  = 3   // bounds the reported faults of one payload
	maxNesting = 100 // bounds the depth of a payload: a schema may contain itself
	maxQuoted  = 40  // bounds a quoted value
)

// A fault is a place in a payload, what is wrong there, how bad that is, and the section of
// the specification.
type fault struct {
	path, what, weight, section string
	// notMeant: the value is not meant to match the schema, since its type or its tag, a member
	// with a fixed value, is another one. must has the values that are allowed there.
	notMeant bool
	must     []gjson.Result
	missing  string // the member that is not there
}

func (f fault) String() string {
	if f.path == "" {
		return f.what
	}
	return f.path + ": " + f.what
}

// validate returns what is wrong with v, which is at a path, by a schema; at most maxFaults.
func (d *document) validate(s schema, v gjson.Result, path string) []fault {
	return (&walk{doc: d}).try(s, v, path)
}

// A walk goes through a payload, and gathers its faults.
type walk struct {
	doc     *document
	faults  []fault
	nesting int
	section string // of the specification, for the innermost thing that has one
}

func (w *walk) fault(path, format string, args ...any) {
	w.add(fault{path: path, what: fmt.Sprintf(format, args...)})
}

// add adds a fault. Among too many, one that counts more takes the place of another.
func (w *walk) add(f fault) {
	f.weight, f.section = cmp.Or(f.weight, Error), cmp.Or(f.section, w.section)
	counts := func(f fault) int {
		switch {
		case f.notMeant:
			return 2
		case f.weight == Error:
			return 1
		}
		return 0
	}
	if len(w.faults) < maxFaults {
		w.faults = append(w.faults, f)
	} else if i := slices.IndexFunc(w.faults, func(old fault) bool { return counts(old) < counts(f) }); i >= 0 {
		w.faults[i] = f
	}
}

// try returns the faults of v, and adds none to those of the walk.
func (w *walk) try(s schema, v gjson.Result, path string) []fault {
	inner := &walk{doc: w.doc, nesting: w.nesting, section: w.section}
	inner.check(s, v, path)
	return inner.faults
}

func (w *walk) check(s schema, v gjson.Result, path string) {
	if w.nesting >= maxNesting {
		return
	}
	w.nesting++
	outer := w.section
	defer func() { w.nesting, w.section = w.nesting-1, outer }()
	if s.Type == gjson.False {
		w.fault(path, "must not be there")
		return
	}
	if to, ok := w.doc.target(s); ok {
		w.check(to, v, path)
	}
	k := s.Map()
	w.section = cmp.Or(k["x-section"].Str, w.section)
	if !isType(k["type"], v) {
		w.add(fault{path: path, what: fmt.Sprintf("must be %s, and is %s", typeNames(k["type"]), quote(v)), notMeant: true})
		return
	}
	// A value that is fixed tells objects apart, also where it was redacted.
	if fixed := values(s); len(fixed) > 0 && !isOne(fixed, v) && (len(fixed) == 1 || !redacted(v.Str)) {
		w.add(fault{path: path, what: fmt.Sprintf("must be %s, and is %s", oneOf(fixed), quote(v)), notMeant: len(fixed) == 1, must: fixed})
	}
	if wrong := bounds(k, v); wrong != "" {
		weight := Error
		if k["x-should"].Bool() {
			weight = Warning
		}
		w.add(fault{path: path, what: wrong, weight: weight})
	}
	switch items := k["items"]; {
	case v.IsObject():
		w.object(k, v, path)
	case v.IsArray() && items.Exists():
		for i, item := range v.Array() {
			w.check(items, item, path+"["+strconv.Itoa(i)+"]")
			if len(w.faults) >= maxFaults {
				break
			}
		}
	}
	for _, inner := range k["allOf"].Array() {
		w.check(inner, v, path)
	}
	w.pick(k["anyOf"].Array(), k["properties"], v, path, false)
	w.pick(k["oneOf"].Array(), k["properties"], v, path, true)
	if not := k["not"]; not.Exists() && len(w.try(not, v, path)) == 0 {
		w.fault(path, "is what it must not be: %s", quote(v))
	}
}

// bounds returns what is wrong with a value of the right type; "" for nothing.
func bounds(k map[string]schema, v gjson.Result) string {
	least, most := k["minimum"], k["maximum"]
	switch {
	case v.Type == gjson.Number && least.Exists() && v.Num < least.Num:
		return fmt.Sprintf("must be at least %v, and is %s", least.Num, v.Raw)
	case v.Type == gjson.Number && most.Exists() && v.Num > most.Num:
		return fmt.Sprintf("must be at most %v, and is %s", most.Num, v.Raw)
	case v.Type == gjson.String && int64(utf8.RuneCountInString(v.Str)) < k["minLength"].Int(),
		v.IsArray() && int64(len(v.Array())) < k["minItems"].Int():
		return "must not be empty"
	case v.Type == gjson.String && v.Str != "" && !redacted(v.Str):
		if ok, must := formed(k["format"].Str, v.Str); !ok {
			return must + ", and is " + quote(v)
		}
	}
	return ""
}

// redacted reports whether a text stands for one that --trace-redact has left out.
func redacted(s string) bool { return strings.HasPrefix(s, "<") && strings.HasSuffix(s, " bytes>") }

// formed reports whether a text has a format, and tells what it must be. An unknown format is any.
func formed(format, s string) (ok bool, must string) {
	_, noTime := time.Parse(time.RFC3339Nano, s)
	switch format {
	case "base64":
		plain := strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(s)
		_, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(plain, "="))
		return err == nil, "must be base64"
	case "uri":
		u, err := url.Parse(s)
		return err == nil && u.Scheme != "" && (u.Host != "" || u.Opaque != "" || u.Path != ""), "must be an absolute URL"
	case "media-type":
		_, _, err := mime.ParseMediaType(s)
		return err == nil && strings.Contains(s, "/"), "must be a media type like text/plain"
	case "date-time", "iso-8601": // which allows other zones or none, no seconds, no hyphens and colons
		const iso = `^\d{4}(-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-4]):[0-5]\d(:[0-6]\d(\.\d+)?)?|\d{4}T\d{6})(Z|[+-]\d\d(:?\d\d)?)?$`
		return noTime == nil || format == "iso-8601" && regexp.MustCompile(iso).MatchString(s), "must be a time like 2026-01-31T12:00:00Z"
	case "utc":
		return noTime != nil || strings.HasSuffix(s, "Z"), "must be in UTC, with a Z at its end"
	case "zoned":
		_, clock, _ := strings.Cut(s, "T")
		return clock == "" || strings.ContainsAny(clock, "Z+-"), "must have a time zone"
	}
	return true, ""
}

func (w *walk) object(k map[string]schema, v gjson.Result, path string) {
	properties, more := k["properties"], k["additionalProperties"]
	v.ForEach(func(key, value gjson.Result) bool {
		inner := member(properties, key.Str)
		switch {
		case w.absent(key.Str, value):
		case inner.Exists():
			w.check(inner, value, join(path, key.Str))
		case more.Type == gjson.False && more.Exists():
			w.fault(join(path, key.Str), "is not known here")
		case more.Exists():
			w.check(more, value, join(path, key.Str))
		case meantBy(properties, key.Str) != "":
			w.fault(join(path, key.Str), "must be spelled %s", meantBy(properties, key.Str))
		}
		return len(w.faults) < maxFaults
	})
	for _, key := range k["required"].Array() {
		if m := member(v, key.Str); !m.Exists() || w.absent(key.Str, m) {
			fixed := values(member(properties, key.Str))
			w.add(fault{path: join(path, key.Str), what: "is missing" + strangers(v, properties), notMeant: len(fixed) == 1, must: fixed, missing: key.Str})
		}
	}
}

// strangers names the members that no schema has: one may stand for what is missing. ""
// if there are none.
func strangers(v gjson.Result, properties ...gjson.Result) string {
	var names []string
	v.ForEach(func(key, _ gjson.Result) bool {
		if !slices.ContainsFunc(properties, func(p gjson.Result) bool { return member(p, key.Str).Exists() }) {
			names = append(names, strconv.Quote(key.Str))
		}
		return len(names) < maxFaults
	})
	if len(names) == 0 {
		return ""
	}
	return ", and what is there is " + strings.Join(names, ", ")
}

// meantBy returns the known member that an unknown one is a spelling of: context_id, and
// contextID, of contextId; "" for none.
func meantBy(properties gjson.Result, name string) (known string) {
	plain := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	properties.ForEach(func(key, _ gjson.Result) bool {
		if strings.ToLower(key.Str) == plain {
			known = key.Str
		}
		return known == ""
	})
	return known
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

// isType reports whether v has a type, or one of several. No type allows all.
func isType(types, v gjson.Result) bool {
	return !types.Exists() || slices.ContainsFunc(types.Array(), func(t gjson.Result) bool {
		switch t.Str {
		case "object":
			return v.IsObject()
		case "array":
			return v.IsArray()
		case "string":
			return v.Type == gjson.String
		case "boolean":
			return v.IsBool()
		case "number":
			return v.Type == gjson.Number
		case "integer":
			return v.Type == gjson.Number && v.Num == float64(int64(v.Num))
		}
		return t.Str == "null" && v.Type == gjson.Null
	})
}

// typeNames returns types in words: "a string or null".
func typeNames(types gjson.Result) string {
	var list []string
	for _, t := range types.Array() {
		switch t.Str {
		case "null":
			list = append(list, "null")
		case "object", "array", "integer":
			list = append(list, "an "+t.Str)
		default:
			list = append(list, "a "+t.Str)
		}
	}
	return strings.Join(list, " or ")
}

func oneOf(values []gjson.Result) string {
	var list []string
	for _, v := range values {
		list = append(list, v.Raw)
	}
	if len(list) == 1 {
		return list[0]
	}
	return "one of " + strings.Join(list, ", ")
}

// quote returns a value as it was written, cut off at maxQuoted; "missing" if there is none.
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
