package cardsign

import "strconv"

type pruner struct {
	// known removes members that are not in the schema.
	known bool
	// defaults removes default values of members that need not be there.
	defaults bool
	// empty removes what is empty or null, or becomes so, at any depth.
	empty bool

	left []string
}

// each prunes the members of an object, or the elements of a list, by keep; anything else
// stays. It notes what is left out, in place of what was noted below that.
func (p *pruner) each(v any, path string, keep func(v any, name, at string) (any, bool)) any {
	kept := func(v any, name string) (any, bool) {
		at, since := pointer(path, name), len(p.left)
		v, ok := keep(v, name, at)
		if !ok {
			p.left = append(p.left[:since], at)
		}
		return v, ok
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if e, ok := kept(e, name); ok {
				out[name] = e
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for i, e := range v {
			if e, ok := kept(e, strconv.Itoa(i)); ok {
				out = append(out, e)
			}
		}
		return out
	}
	return v
}

// message prunes an object that has a schema.
func (p *pruner) message(object map[string]any, path string, m message) map[string]any {
	return p.each(object, path, func(v any, name, at string) (any, bool) {
		switch f, known := m[name]; {
		case known:
			return p.field(f, v, at)
		case p.known:
			return nil, false
		}
		return p.nonEmpty(v, at)
	}).(map[string]any)
}

// field prunes the value of a member that the schema knows.
func (p *pruner) field(f field, v any, path string) (any, bool) {
	if p.defaults && v == nil {
		return nil, false // null is no value in ProtoJSON
	}
	pruned := func(v any, path string) any {
		if object, ok := v.(map[string]any); ok {
			return p.message(object, path, f.of)
		}
		return v
	}
	switch f.kind {
	case kindMessage:
		v = pruned(v, path)
	case kindMessages:
		v = p.each(v, path, func(v any, _, at string) (any, bool) {
			v = pruned(v, at)
			return v, !p.empty || !isEmpty(v)
		})
	default:
		v, _ = p.nonEmpty(v, path)
	}
	if p.empty && isEmpty(v) {
		return nil, false
	}
	return v, !p.defaults || f.counts || !isDefault(f, v)
}

// nonEmpty prunes a value without a schema.
func (p *pruner) nonEmpty(v any, path string) (any, bool) {
	if !p.empty {
		return v, true
	}
	v = p.each(v, path, func(v any, _, at string) (any, bool) { return p.nonEmpty(v, at) })
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

// A message is the schema of a JSON object: its members.
type message map[string]field

// A field is a member. Its presence in a2a.proto decides which of its values are not
// signed (A2A 1.0 §5.7, §8.4.1).
type field struct {
	// counts: a default value is signed, because the field is "optional", or required. For
	// others it equals no value, but a present message is none.
	counts bool
	kind   kind
	of     message // of kindMessage and kindMessages
}

type kind int

const (
	kindPlain kind = iota // a text, true or false, or a list or a map of texts
	kindMessage
	kindMessages // a list, or a map of names to messages
	kindOpaque   // google.protobuf.Struct: any JSON object
)

// cardSchema is AgentCard of A2A 1.0 (specification/a2a.proto), without signatures. It
// is made on demand.
func cardSchema() message {
	plain, counts := field{}, field{counts: true}
	requirements := field{false, kindMessages, message{
		"schemes": {false, kindMessages, message{"list": plain}},
	}}
	return message{
		"name": counts, "description": counts, "version": counts,
		"supportedInterfaces": {true, kindMessages, message{
			"url": counts, "protocolBinding": counts, "tenant": plain, "protocolVersion": counts,
		}},
		"provider":         {false, kindMessage, message{"url": counts, "organization": counts}},
		"documentationUrl": counts, "iconUrl": counts,
		"capabilities": {true, kindMessage, message{
			"streaming": counts, "pushNotifications": counts, "extendedAgentCard": counts,
			"extensions": {false, kindMessages, message{
				"uri": plain, "description": plain, "required": plain, "params": {kind: kindOpaque},
			}},
		}},
		"securitySchemes":      {false, kindMessages, schemeSchema()},
		"securityRequirements": requirements,
		"defaultInputModes":    counts, "defaultOutputModes": counts,
		"skills": {true, kindMessages, message{
			"id": counts, "name": counts, "description": counts, "tags": counts,
			"examples": plain, "inputModes": plain, "outputModes": plain,
			"securityRequirements": requirements,
		}},
	}
}

func schemeSchema() message {
	plain, counts := field{}, field{counts: true}
	one := func(m message) field { return field{false, kindMessage, m} }
	return message{
		"apiKeySecurityScheme": one(message{"description": plain, "location": counts, "name": counts}),
		"httpAuthSecurityScheme": one(message{
			"description": plain, "scheme": counts, "bearerFormat": plain,
		}),
		"openIdConnectSecurityScheme": one(message{"description": plain, "openIdConnectUrl": counts}),
		"mtlsSecurityScheme":          one(message{"description": plain}),
		"oauth2SecurityScheme": one(message{
			"description": plain, "oauth2MetadataUrl": plain,
			"flows": {true, kindMessage, message{
				"authorizationCode": one(message{
					"authorizationUrl": counts, "tokenUrl": counts, "refreshUrl": plain, "scopes": counts,
					"pkceRequired": plain,
				}),
				"clientCredentials": one(message{"tokenUrl": counts, "refreshUrl": plain, "scopes": counts}),
				"deviceCode": one(message{
					"deviceAuthorizationUrl": counts, "tokenUrl": counts, "refreshUrl": plain, "scopes": counts,
				}),
				"implicit": one(message{"authorizationUrl": plain, "refreshUrl": plain, "scopes": plain}),
				"password": one(message{"tokenUrl": plain, "refreshUrl": plain, "scopes": plain}),
			}},
		}),
	}
}
