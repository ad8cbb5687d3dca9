package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// pick checks that v matches one of several schemas, if there are any; with one, no other.
// known are the properties that they share.
func (w *walk) pick(of []schema, known gjson.Result, v gjson.Result, path string, one bool) {
	var faults [][]fault
	matches := 0
	for _, s := range of {
		if faults = append(faults, w.try(s, v, path)); len(faults[len(faults)-1]) == 0 {
			matches++
		}
	}
	switch {
	case len(of) == 0 || redacted(v.Str) || matches == 1 || matches > 1 && !one:
	case matches > 1:
		w.fault(path, "is %d things at once: %s", matches, quote(v))
	default:
		w.none(of, known, v, path, faults)
	}
}

// none reports that v matches none of several schemas: the faults by the one that it was
// meant to match, the only one of its type and without a wrong tag, or what it may be.
// faults are those by each schema.
func (w *walk) none(of []schema, known, v gjson.Result, path string, faults [][]fault) {
	var meant [][]fault
	var first []fault // of each schema, what tells why v is not meant to match it
	for _, list := range faults {
		i := slices.IndexFunc(list, func(f fault) bool {
			return f.notMeant && (f.path == path || f.must != nil && f.path == join(path, f.path[strings.LastIndexByte(f.path, '.')+1:]))
		})
		if i < 0 {
			meant = append(meant, list)
			i = 0
		}
		first = append(first, list[i])
	}
	if len(meant) == 1 {
		for _, f := range meant[0] {
			w.add(f)
		}
		return
	}
	all := func(is func(f fault) bool) bool {
		return !slices.ContainsFunc(first, func(f fault) bool { return !is(f) })
	}
	properties := []gjson.Result{known}
	var must []gjson.Result
	var needed []string
	for i, f := range first {
		properties = append(properties, member(w.resolved(of[i]), "properties"))
		must, needed = append(must, f.must...), append(needed, f.missing)
	}
	what := first[0]
	switch {
	case all(func(f fault) bool { return f.path == what.path && f.missing != "" }):
		what.what = "is missing" + strangers(v, properties...)
	case all(func(f fault) bool { return f.path == what.path && f.must != nil }):
		what.what = "must be " + oneOf(must) + strings.TrimPrefix(what.what, "must be "+oneOf(what.must))
	case all(func(f fault) bool { return f.missing != "" }):
		what = fault{path: path, what: "must have one of " + strings.Join(needed, ", ") + strangers(v, properties...)}
	case !all(func(f fault) bool { return f.path == what.path && f.what == what.what }):
		what = fault{path: path, what: fmt.Sprintf("is none of the %d things that it may be: %s", len(of), quote(v))}
	}
	what.notMeant, what.must, what.missing = false, nil, ""
	w.add(what)
}

// isOne reports whether v equals one of a schema's values.
func isOne(of []gjson.Result, v gjson.Result) bool {
	return slices.ContainsFunc(of, func(w gjson.Result) bool {
		return v.Exists() && w.Type == v.Type && w.Str == v.Str && w.Num == v.Num
	})
}
