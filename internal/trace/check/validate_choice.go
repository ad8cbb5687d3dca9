package check

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// pick checks that v matches one of several schemas. If it matches none, it reports the
// faults against the schema that v was meant to match.
func (w *walk) pick(of []schema, v gjson.Result, path string, one bool) {
	var results [][]fault
	matches := 0
	for _, s := range of {
		faults := w.try(s, v, path)
		if len(faults) == 0 {
			matches++
		}
		results = append(results, faults)
	}
	switch {
	case len(of) == 0 || matches == 1 || matches > 1 && !one:
		return
	case matches > 1:
		w.fault(path, "is %d things at once: %s", matches, quote(v))
		return
	}
	if i := w.meant(of, v); i >= 0 {
		w.faults = append(w.faults, results[i][:min(len(results[i]), maxFaults-len(w.faults))]...)
		return
	}
	tag, kinds := w.kinds(of)
	allowed := w.values(of)
	switch {
	case tag != "" && v.IsObject() && !member(v, tag).Exists():
		w.fault(join(path, tag), "is missing")
	case tag != "" && v.IsObject():
		w.fault(join(path, tag), "must be %s, and is %s", oneOf(kinds), quote(member(v, tag)))
	case w.objects(of) && !v.IsObject():
		w.fault(path, "must be an object, and is %s", quote(v))
	case allowed != nil:
		w.fault(path, "must be %s, and is %s", oneOf(allowed), quote(v))
	case v.IsObject() && names(of) != nil:
		w.fault(path, "must have %s", strings.ReplaceAll(oneOf(names(of)), `"`, ""))
	default:
		w.fault(path, "is none of the %d things that it may be: %s", len(of), quote(v))
	}
}

// meant returns the schema that v was meant to match: the only one without a wrong tag,
// and of its type; -1 if that is not exactly one.
func (w *walk) meant(of []schema, v gjson.Result) int {
	best := -1
	for i, s := range of {
		s = w.doc.resolve(s)
		fits := isType(s.Get("type"), v)
		for key, fixed := range w.doc.tags(s) {
			fits = fits && isOne(fixed, member(v, key))
		}
		switch {
		case fits && best >= 0:
			return -1
		case fits:
			best = i
		}
	}
	return best
}

// objects reports whether all schemas are of objects.
func (w *walk) objects(of []schema) bool {
	return !slices.ContainsFunc(of, func(s schema) bool { return w.doc.resolve(s).Get("type").Str != "object" })
}

// kinds returns the member that tells schemas apart, and its values.
func (w *walk) kinds(of []schema) (tag string, all []gjson.Result) {
	for _, s := range of {
		s = w.doc.resolve(s)
		if s.Get("type").Str == "null" {
			continue
		}
		tags := w.doc.tags(s)
		for key, fixed := range tags {
			if len(tags) != 1 || tag != "" && key != tag {
				return "", nil
			}
			tag, all = key, append(all, fixed...)
		}
		if len(tags) == 0 {
			return "", nil
		}
	}
	return tag, all
}

// values lists the allowed values, if the schemas are values.
func (w *walk) values(of []schema) (list []gjson.Result) {
	for _, s := range of {
		s = w.doc.resolve(s)
		fixed := values(s)
		if len(fixed) == 0 || s.Get("properties").Exists() {
			return nil
		}
		list = append(list, fixed...)
	}
	return list
}

// names lists the members of which one is required.
func names(of []schema) (list []gjson.Result) {
	for _, s := range of {
		required := s.Get("required").Array()
		if len(required) != 1 || s.Get("properties").Exists() {
			return nil
		}
		list = append(list, required[0])
	}
	return list
}

// isOne reports whether v equals one of a schema's values.
func isOne(of []gjson.Result, v gjson.Result) bool {
	return slices.ContainsFunc(of, func(w gjson.Result) bool {
		return v.Exists() && w.Type == v.Type && w.Str == v.Str && w.Num == v.Num
	})
}
