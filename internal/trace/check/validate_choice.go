package check

import (
	"slices"

	"github.com/tidwall/gjson"
)

// pick checks that v matches one of several schemas. If it matches none, it reports the
// faults against the schema that v was meant to match.
func (w *walk) pick(of []*schema, v gjson.Result, path string, one bool) {
	if len(of) == 0 {
		return
	}
	var results [][]fault
	matches := 0
	for _, s := range of {
		faults := w.try(s, v, path)
		if len(faults) == 0 {
			if matches++; !one {
				return
			}
		}
		results = append(results, faults)
	}
	switch {
	case matches == 1:
		return
	case matches > 1:
		w.fault(path, "is %d things at once: %s", matches, quote(v))
		return
	}
	if i := w.meant(of, v); i >= 0 {
		for _, f := range results[i] {
			w.fault(f.path, "%s", f.what)
		}
		return
	}
	name, values := w.kinds(of)
	switch {
	case name != "" && v.IsObject() && !member(v, name).Exists():
		w.fault(join(path, name), "is missing")
	case name != "" && v.IsObject():
		w.fault(join(path, name), "must be %s, and is %s", oneOf(values), quote(member(v, name)))
	case w.values(of) != nil:
		w.fault(path, "must be %s, and is %s", oneOf(w.values(of)), quote(v))
	case v.IsObject() && names(of) != nil:
		w.fault(path, "must have %s", oneOf(names(of)))
	default:
		w.fault(path, "is none of the %d things that it may be: %s", len(of), quote(v))
	}
}

// meant returns the schema that v was meant to match: by its constants, or by its type;
// -1 if that is not exactly one.
func (w *walk) meant(of []*schema, v gjson.Result) int {
	best := -1
	for i, s := range of {
		s = w.doc.resolve(s)
		if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return isType(t, v) }) {
			continue
		}
		fits := true
		for _, key := range s.constants {
			values, m := w.doc.resolve(s.properties[key]).enum, member(v, key)
			fits = fits && slices.ContainsFunc(values, func(one string) bool { return same(one, m) })
		}
		if !fits {
			continue
		}
		if best >= 0 {
			return -1
		}
		best = i
	}
	return best
}

// kinds returns the member that tells schemas apart, and its values.
func (w *walk) kinds(of []*schema) (name string, values []string) {
	for _, s := range of {
		s = w.doc.resolve(s)
		switch {
		case slices.Equal(s.types, []string{"null"}):
			continue
		case len(s.constants) != 1 || name != "" && s.constants[0] != name:
			return "", nil
		}
		name = s.constants[0]
		values = append(values, w.doc.resolve(s.properties[name]).enum...)
	}
	return name, values
}

// values lists the allowed values, if the schemas are values.
func (w *walk) values(of []*schema) (list []string) {
	for _, s := range of {
		if s = w.doc.resolve(s); s.enum == nil || s.properties != nil {
			return nil
		}
		list = append(list, s.enum...)
	}
	return list
}

// names lists the members of which one is required.
func names(of []*schema) (list []string) {
	for _, s := range of {
		if len(s.required) != 1 || s.properties != nil {
			return nil
		}
		list = append(list, s.required[0])
	}
	return list
}
