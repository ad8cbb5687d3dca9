package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A document is a file of schemas, by name.
type document struct {
	defs map[string]*schema
	// nullIsAbsent: the protocol's JSON is that of Protocol Buffers.
	nullIsAbsent bool
	// methods maps ACP's methods to schemas: "agent session/prompt request".
	methods map[string]string
}

// A schema is the part of JSON Schema (draft 2020-12) that these documents use. A test
// fails for a document that uses more.
type schema struct {
	nothing    bool // the schema false
	ref        string
	types      []string
	enum       []string // as JSON; const is an enum of one
	properties map[string]*schema
	constants  []string // the properties with a fixed value, which tell schemas apart
	required   []string
	additional *schema
	items      *schema
	allOf      []*schema
	anyOf      []*schema
	oneOf      []*schema
	not        *schema
	minimum    *float64
	maximum    *float64
	minLength  int
	minItems   int
	method     string
	side       string
}

// parse reads a document.
func parse(text []byte) (*document, error) {
	var file struct {
		Defs map[string]*schema `json:"$defs"`
		Null bool               `json:"x-null-is-absent"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	d := &document{defs: file.Defs, nullIsAbsent: file.Null, methods: map[string]string{}}
	for name, s := range d.defs {
		if s.method == "" {
			continue
		}
		kind := "request"
		if strings.HasSuffix(name, "Response") {
			kind = "response"
		}
		d.methods[s.side+" "+s.method+" "+kind] = name
	}
	for name, s := range d.defs {
		if err := d.link(s); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return d, nil
}

// link checks that each reference has its target, and notes constants.
func (d *document) link(s *schema) error {
	if s.ref != "" && d.defs[s.ref] == nil {
		return fmt.Errorf("there is no %s", s.ref)
	}
	for key, p := range s.properties {
		values := len(d.resolve(p).enum)
		if values == 1 && slices.Contains(s.required, key) || values > 0 && s.required == nil && len(s.types) == 0 {
			s.constants = append(s.constants, key)
		}
	}
	inner := slices.Concat(slices.Collect(maps.Values(s.properties)), s.allOf, s.anyOf, s.oneOf)
	for _, one := range append(inner, s.additional, s.items, s.not) {
		if one == nil {
			continue
		}
		if err := d.link(one); err != nil {
			return err
		}
	}
	return nil
}

// resolve follows references, and lists of one reference.
func (d *document) resolve(s *schema) *schema {
	for range maxNesting {
		switch {
		case s.ref != "":
			s = d.defs[s.ref]
		case len(s.allOf) == 1 && s.properties == nil && len(s.types) == 0 && s.enum == nil:
			s = s.allOf[0]
		default:
			return s
		}
	}
	return s
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *schema) UnmarshalJSON(text []byte) error {
	if t := string(text); t == "true" || t == "false" {
		s.nothing = t == "false"
		return nil
	}
	var in struct {
		Ref        string             `json:"$ref"`
		Type       oneOrMore          `json:"type"`
		Enum       []json.RawMessage  `json:"enum"`
		Const      json.RawMessage    `json:"const"`
		Properties map[string]*schema `json:"properties"`
		Required   []string           `json:"required"`
		Additional *schema            `json:"additionalProperties"`
		Items      *schema            `json:"items"`
		AllOf      []*schema          `json:"allOf"`
		AnyOf      []*schema          `json:"anyOf"`
		OneOf      []*schema          `json:"oneOf"`
		Not        *schema            `json:"not"`
		Minimum    *float64           `json:"minimum"`
		Maximum    *float64           `json:"maximum"`
		MinLength  int                `json:"minLength"`
		MinItems   int                `json:"minItems"`
		Method     string             `json:"x-method"`
		Side       string             `json:"x-side"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*s = schema{types: in.Type, properties: in.Properties, required: in.Required, additional: in.Additional, items: in.Items,
		allOf: in.AllOf, anyOf: in.AnyOf, oneOf: in.OneOf, not: in.Not, minimum: in.Minimum, maximum: in.Maximum,
		minLength: in.MinLength, minItems: in.MinItems, method: in.Method, side: in.Side,
		ref: strings.TrimPrefix(in.Ref, "#/$defs/")}
	if in.Const != nil {
		in.Enum = append(in.Enum, in.Const)
	}
	for _, e := range in.Enum {
		s.enum = append(s.enum, string(e))
	}
	return nil
}

// oneOrMore is a string or a list of strings.
type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *oneOrMore) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(w))
	}
	*w = oneOrMore{""}
	return json.Unmarshal(text, &(*w)[0])
}
