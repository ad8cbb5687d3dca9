package cardsign

import "strconv"

type pruner struct {
	// known removes members that are not in the schema.
	known bool
	// defaults removes default values; keep excepts required members.
	defaults, keep bool
	// empty removes what is empty or null, or becomes so, at any depth.
	empty bool

	left []string
}

// leave notes that a value is left out, in place of the notes below it.
func (p *pruner) leave(path string, since int) {
	p.left = append(p.left[:since], path)
}

// message prunes an object with a schema; without one, all its members are unknown. The
// result is not nil.
func (p *pruner) message(object map[string]any, path string, m message) map[string]any {
	out := make(map[string]any, len(object))
	for name, v := range object {
		at, since := pointer(path, name), len(p.left)
		f, known := m[name]
		if m == nil || !known {
			if v, ok := p.unknown(v, at, m != nil); ok {
				out[name] = v
			} else {
				p.leave(at, since)
			}
			continue
		}
		if v, ok := p.field(f, v, at); ok {
			out[name] = v
		} else {
			p.leave(at, since)
		}
	}
	return out
}

// unknown prunes what the schema does not know. outside: it is a member of something
// known.
func (p *pruner) unknown(v any, path string, outside bool) (any, bool) {
	if p.known && outside {
		return nil, false
	}
	return p.nonEmpty(v, path)
}

// field prunes the value of a member that the schema knows.
func (p *pruner) field(f field, v any, path string) (any, bool) {
	if p.defaults && v == nil {
		return nil, false // null is no value in ProtoJSON
	}
	switch f.kind {
	case kindMessage:
		if o, ok := v.(map[string]any); ok {
			v = p.message(o, path, f.of)
		}
	case kindMessages:
		if list, ok := v.([]any); ok {
			v = p.messages(list, path, f.of)
		}
	case kindMap:
		if o, ok := v.(map[string]any); ok {
			v = p.entries(o, path, f.of)
		}
	case kindOpaque, kindTexts, kindText, kindBool:
		pruned, ok := p.nonEmpty(v, path)
		if !ok {
			return nil, false
		}
		v = pruned
	}
	if p.empty && isEmpty(v) {
		return nil, false
	}
	if p.defaults && f.presence != explicit && !(p.keep && f.presence == required) && isDefault(f, v) {
		return nil, false
	}
	return v, true
}

func (p *pruner) messages(list []any, path string, of message) []any {
	out := make([]any, 0, len(list))
	for i, e := range list {
		at, since := path+"/"+strconv.Itoa(i), len(p.left)
		if o, ok := e.(map[string]any); ok {
			e = p.message(o, at, of)
		}
		if p.empty && isEmpty(e) {
			p.leave(at, since)
			continue
		}
		out = append(out, e)
	}
	return out
}

// entries prunes a map of names to messages.
func (p *pruner) entries(object map[string]any, path string, of message) map[string]any {
	out := make(map[string]any, len(object))
	for name, v := range object {
		at, since := pointer(path, name), len(p.left)
		if o, ok := v.(map[string]any); ok {
			v = p.message(o, at, of)
		}
		if p.empty && isEmpty(v) {
			p.leave(at, since)
			continue
		}
		out[name] = v
	}
	return out
}

// nonEmpty prunes a value without a schema.
func (p *pruner) nonEmpty(v any, path string) (any, bool) {
	if !p.empty {
		return v, true
	}
	switch t := v.(type) {
	case map[string]any:
		v = p.message(t, path, nil)
	case []any:
		out := make([]any, 0, len(t))
		for i, e := range t {
			at, since := path+"/"+strconv.Itoa(i), len(p.left)
			if e, ok := p.nonEmpty(e, at); ok {
				out = append(out, e)
			} else {
				p.leave(at, since)
			}
		}
		v = out
	}
	return v, !isEmpty(v)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// isDefault reports whether a protocol buffer cannot tell this value from an unset
// field.
func isDefault(f field, v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0 && f.kind != kindMessage && f.kind != kindOpaque
	}
	return false
}
