package mapping

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for forms: the fields that an agent asks for, and the user's words as
// their values. Words that do not fit are refused, not sent: a guess would answer in
// the user's name.

// A field is one value that an agent asks for.
type field struct {
	id, label string
	kind      string // JSON Schema's type; "" for text
	choices   []choice
	many      bool // several choices may be picked
	open      bool // other words are allowed, too
	optional  bool
}

type choice struct{ id, label string }

func (f field) clone() field {
	f.id, f.label, f.kind = strings.Clone(f.id), strings.Clone(f.label), strings.Clone(f.kind)
	choices := make([]choice, len(f.choices))
	for i, c := range f.choices {
		choices[i] = choice{strings.Clone(c.id), strings.Clone(c.label)}
	}
	f.choices = choices
	return f
}

// fill reads the user's words: all of them for the only field, a line for each of
// several, in their order or as "label: value", or a JSON object. A value that was
// left out is "".
func fill(fields []field, text string) ([]a2a.JSON, error) {
	text = strings.TrimSpace(text)
	values := make([]a2a.JSON, len(fields))
	if len(fields) == 1 {
		if v := gjson.Parse(text); fields[0].id != "" && gjson.Valid(text) && onlyMember(v) && memberOf(a2a.JSON(text), fields[0].id).Exists() {
			text = memberOf(a2a.JSON(text), fields[0].id).String()
		}
		var err error
		values[0], err = fields[0].value(text)
		return values, err
	}
	words, ok := wordsByName(fields, text)
	if !ok {
		if words = strings.Split(text, "\n"); len(words) > len(fields) {
			return nil, fmt.Errorf("it has %d lines, and %d are asked for", len(words), len(fields))
		}
	}
	for i := range fields {
		word := ""
		if i < len(words) {
			word = strings.TrimSpace(words[i])
		}
		if word == "" && fields[i].optional {
			continue
		}
		var err error
		if values[i], err = fields[i].value(word); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// wordsByName finds the words of each field where all of them are named.
func wordsByName(fields []field, text string) (words []string, ok bool) {
	words = make([]string, len(fields))
	find := func(name string) int {
		return slices.IndexFunc(fields, func(f field) bool {
			return f.id != "" && strings.EqualFold(f.id, name) || f.label != "" && strings.EqualFold(f.label, name)
		})
	}
	if strings.HasPrefix(text, "{") && gjson.Valid(text) {
		ok = true
		gjson.Parse(text).ForEach(func(k, v gjson.Result) bool {
			i := find(k.Str)
			if ok = i >= 0; ok {
				words[i] = v.String()
			}
			return ok
		})
		return words, ok
	}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(line, ":")
		i := -1
		if found {
			i = find(strings.TrimSpace(name))
		}
		if i < 0 || words[i] != "" {
			return nil, false
		}
		words[i] = strings.TrimSpace(value)
	}
	return words, true
}

// value spells words as the field wants them.
func (f *field) value(word string) (a2a.JSON, error) {
	name := f.name()
	if word == "" {
		return "", fmt.Errorf("%s is missing", name)
	}
	if len(f.choices) > 0 || f.many {
		return f.chosen(name, word)
	}
	switch f.kind {
	case "integer", "number":
		if _, err := strconv.ParseFloat(word, 64); err != nil || !gjson.Valid(word) || f.kind == "integer" && strings.ContainsAny(word, ".eE") {
			return "", fmt.Errorf("%s is no %s: %q", name, f.kind, word)
		}
		return a2a.JSON(word), nil
	case "uri":
		if !isCallback(word) {
			return "", fmt.Errorf("%s is no address", name)
		}
	case "secret":
		if strings.ContainsAny(word, " \t\n") {
			return "", fmt.Errorf("%s has white space in it", name)
		}
	case "boolean":
		yes := slices.Contains([]string{"true", "yes", "y"}, strings.ToLower(word))
		if !yes && !slices.Contains([]string{"false", "no", "n"}, strings.ToLower(word)) {
			return "", fmt.Errorf("%s is neither yes nor no: %q", name, word)
		}
		return a2a.JSON(strconv.FormatBool(yes)), nil
	case "object", "array":
		if v := gjson.Parse(word); !gjson.Valid(word) || f.kind == "object" != v.IsObject() || f.kind == "array" != v.IsArray() {
			return "", fmt.Errorf("%s is no JSON %s", name, f.kind)
		}
		return a2a.JSON(word), nil
	}
	return a2a.JSON(quoted(word)), nil
}

func (f *field) name() string {
	if f.label == "" {
		return "the answer"
	}
	return f.label
}

// chosen finds the choices that words name. Labels may have commas in them.
func (f *field) chosen(name, word string) (a2a.JSON, error) {
	one := func(word string) (string, bool) {
		for _, c := range f.choices {
			if strings.EqualFold(c.label, word) || c.id == word {
				return c.id, true
			}
		}
		return word, false
	}
	words := []string{word}
	if _, ok := one(word); f.many && !ok {
		words = strings.Split(word, ",")
	}
	var ids []string
	for _, w := range words {
		id, ok := one(strings.TrimSpace(w))
		if !ok && !f.open {
			return "", fmt.Errorf("%s is none of %s: %q", name, f.labels(), w)
		}
		ids = append(ids, quoted(id))
	}
	if f.many {
		return a2a.JSON("[" + strings.Join(ids, ",") + "]"), nil
	}
	return a2a.JSON(ids[0]), nil
}

func (f *field) labels() string {
	labels := make([]string, len(f.choices))
	for i, c := range f.choices {
		labels[i] = c.label
	}
	return strings.Join(labels, ", ")
}

// fieldsText puts fields into words, a line for each.
func fieldsText(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		if f.label == "" {
			continue
		}
		b.WriteString("\n- " + f.label)
		if len(f.choices) > 0 {
			b.WriteString(" (" + f.labels() + ")")
		}
	}
	return b.String()
}

// questionField is the field of a question that has its choices beside it.
func questionField(q gjson.Result) field {
	f := field{open: true, many: first(q, "multiSelect", "multi_select", "multiple", "allow_multiple").Bool()}
	first(q, "options", "choices").ForEach(func(_, o gjson.Result) bool {
		label := cmp.Or(first(o, "label", "name", "value").String(), o.String())
		f.choices = append(f.choices, choice{label, label})
		return true
	})
	return f
}

// schemaFields are the fields of a JSON Schema: the members of an object, or, for any
// other type, one field without an ID.
func schemaFields(schema gjson.Result) (fields []field) {
	if !schema.Get("properties").IsObject() {
		return []field{schemaField("", schema)}
	}
	required := schema.Get("required").Array()
	schema.Get("properties").ForEach(func(k, p gjson.Result) bool {
		f := schemaField(k.Str, p)
		if f.label = p.Get("title").String(); f.label == "" {
			f.label = k.Str
		}
		f.optional = !slices.ContainsFunc(required, func(r gjson.Result) bool { return r.Str == k.Str })
		fields = append(fields, f)
		return true
	})
	return fields
}

func schemaField(id string, s gjson.Result) field {
	f := field{id: id, kind: s.Get("type").Str}
	list := s
	if items := s.Get("items"); f.kind == "array" && items.IsObject() {
		list, f.many = items, items.Get("type").Str == "string" || items.Get("enum").Exists() || items.Get("anyOf").Exists()
	}
	list.Get("enum").ForEach(func(_, v gjson.Result) bool {
		f.choices = append(f.choices, choice{v.String(), v.String()})
		return true
	})
	first(list, "oneOf", "anyOf").ForEach(func(_, o gjson.Result) bool {
		if c := o.Get("const"); c.Exists() {
			f.choices = append(f.choices, choice{c.String(), first(o, "title", "const").String()})
		} else if f.kind == "" && o.Get("type").Str != "null" {
			f.kind = o.Get("type").Str // how Pydantic spells an optional one
		}
		return true
	})
	f.open = f.many && len(f.choices) == 0
	return f
}

// valueFields are the fields of a JSON value that is to be filled in: its members, or
// itself.
func valueFields(v gjson.Result) (fields []field) {
	kind := func(v gjson.Result) string {
		switch v.Type {
		case gjson.Number:
			return "number"
		case gjson.True, gjson.False:
			return "boolean"
		case gjson.JSON:
			if v.IsArray() {
				return "array"
			}
			return "object"
		}
		return ""
	}
	if !v.IsObject() {
		return []field{{kind: kind(v)}}
	}
	v.ForEach(func(k, m gjson.Result) bool {
		fields = append(fields, field{id: k.Str, label: k.Str, kind: kind(m)})
		return true
	})
	return fields
}

// filled spells the values of fields as a JSON object; the value itself where the
// field has no ID.
func filled(fields []field, values []a2a.JSON) a2a.JSON {
	if len(fields) == 1 && fields[0].id == "" {
		return values[0]
	}
	var o []byte
	for i, f := range fields {
		if values[i] != "" {
			o = appendMember(o, f.id, string(values[i]))
		}
	}
	if o == nil {
		return "{}"
	}
	return endObject(o)
}
