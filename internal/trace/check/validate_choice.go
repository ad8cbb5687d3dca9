package check

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A choice is what several schemas, of which a value has to match one, have in common.
type choice struct {
	meant [][]fault // those of the schemas that the value may have been meant to match
	// Each of these holds for all schemas, if it has as many as there are schemas.
	tagged, fixed, needing, objects int

	tag    string // the member that tells the schemas apart
	kinds  []gjson.Result
	values []gjson.Result // the allowed values
	needed []gjson.Result // the members of which one is required
}

// add takes a schema, and the faults of a value against it.
func (c *choice) add(d *document, s schema, v gjson.Result, faults []fault) {
	s = d.resolve(s)
	tags, required, bare := d.tags(s), s.Get("required").Array(), !s.Get("properties").Exists()
	fits := isType(s.Get("type"), v)
	for key, fixed := range tags {
		fits = fits && isOne(fixed, member(v, key))
		if len(tags) == 1 && (c.tag == "" || c.tag == key) {
			c.tag, c.kinds = key, append(c.kinds, fixed...)
			c.tagged++
		}
	}
	if fits {
		c.meant = append(c.meant, faults)
	}
	switch s.Get("type").Str {
	case "object":
		c.objects++
	case "null":
		c.tagged++
	}
	if fixed := values(s); bare && len(fixed) > 0 {
		c.values = append(c.values, fixed...)
		c.fixed++
	}
	if bare && len(required) == 1 {
		c.needed = append(c.needed, required[0])
		c.needing++
	}
}

// pick checks that v matches one of several schemas.
func (w *walk) pick(of []schema, known gjson.Result, v gjson.Result, path string, one bool) {
	var faults [][]fault
	matches := 0
	for _, s := range of {
		if faults = append(faults, w.try(s, v, path)); len(faults[len(faults)-1]) == 0 {
			matches++
		}
	}
	switch {
	case len(of) == 0 || matches == 1 || matches > 1 && !one:
	case matches > 1:
		w.fault(path, "is %d things at once: %s", matches, quote(v))
	default:
		w.none(of, []gjson.Result{known}, v, path, faults)
	}
}

// none reports that v matches none of several schemas: the faults against the one that it
// was meant to match, the only one of its type and without a wrong tag, or what it may be.
func (w *walk) none(of []schema, known []gjson.Result, v gjson.Result, path string, faults [][]fault) {
	c, all := choice{}, len(of)
	for i, s := range of {
		c.add(w.doc, s, v, faults[i])
		known = append(known, w.doc.resolve(s).Get("properties"))
	}
	switch tag := member(v, c.tag); {
	case len(c.meant) == 1:
		w.faults = append(w.faults, c.meant[0][:min(len(c.meant[0]), maxFaults-len(w.faults))]...)
	case c.tag != "" && c.tagged == all && v.IsObject() && !tag.Exists():
		w.fault(join(path, c.tag), "is missing%s", strangers(v, known...))
	case c.tag != "" && c.tagged == all && v.IsObject():
		w.fault(join(path, c.tag), "must be %s, and is %s", oneOf(c.kinds), quote(tag))
	case c.objects == all && !v.IsObject():
		w.fault(path, "must be an object, and is %s", quote(v))
	case c.fixed == all:
		w.fault(path, "must be %s, and is %s", oneOf(c.values), quote(v))
	case v.IsObject() && c.needing == all:
		w.fault(path, "must have %s%s", strings.ReplaceAll(oneOf(c.needed), `"`, ""), strangers(v, known...))
	default:
		w.fault(path, "is none of the %d things that it may be: %s", all, quote(v))
	}
}

// isOne reports whether v equals one of a schema's values.
func isOne(of []gjson.Result, v gjson.Result) bool {
	return slices.ContainsFunc(of, func(w gjson.Result) bool {
		return v.Exists() && w.Type == v.Type && w.Str == v.Str && w.Num == v.Num
	})
}
