package cardsign

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
