package cardsign

// A message is the schema of a JSON object: its members.
type message map[string]field

// A field is a member. Its presence in a2a.proto decides which of its values are not
// signed (A2A 1.0 §5.7, §8.4.1).
type field struct {
	presence presence
	kind     kind
	of       message // of kindMessage, kindMessages and kindMap
}

type presence int

const (
	// implicit: a default value equals no value. A present message is never a default
	// value.
	implicit presence = iota
	// explicit: the field is "optional", so a default value counts.
	explicit
	// required: it is always present.
	required
)

type kind int

const (
	kindText kind = iota
	kindBool
	kindTexts // a list of texts, or a map of texts: nothing below it is a message
	kindMessage
	kindMessages // a list
	kindMap      // names to messages
	kindOpaque   // google.protobuf.Struct: any JSON object
)

// cardSchema is AgentCard of A2A 1.0 (specification/a2a.proto), without signatures. It
// is made on demand.
func cardSchema() message {
	text, texts := field{implicit, kindText, nil}, field{implicit, kindTexts, nil}
	needText, needTexts := field{required, kindText, nil}, field{required, kindTexts, nil}
	mayText, mayBool := field{explicit, kindText, nil}, field{explicit, kindBool, nil}
	flag := field{implicit, kindBool, nil}
	requirements := field{implicit, kindMessages, message{
		"schemes": {implicit, kindMap, message{"list": texts}},
	}}
	return message{
		"name": needText, "description": needText, "version": needText,
		"supportedInterfaces": {required, kindMessages, message{
			"url": needText, "protocolBinding": needText, "tenant": text, "protocolVersion": needText,
		}},
		"provider":         {implicit, kindMessage, message{"url": needText, "organization": needText}},
		"documentationUrl": mayText, "iconUrl": mayText,
		"capabilities": {required, kindMessage, message{
			"streaming": mayBool, "pushNotifications": mayBool, "extendedAgentCard": mayBool,
			"extensions": {implicit, kindMessages, message{
				"uri": text, "description": text, "required": flag, "params": {implicit, kindOpaque, nil},
			}},
		}},
		"securitySchemes":      {implicit, kindMap, schemeSchema()},
		"securityRequirements": requirements,
		"defaultInputModes":    needTexts, "defaultOutputModes": needTexts,
		"skills": {required, kindMessages, message{
			"id": needText, "name": needText, "description": needText, "tags": needTexts,
			"examples": texts, "inputModes": texts, "outputModes": texts,
			"securityRequirements": requirements,
		}},
	}
}

func schemeSchema() message {
	text, texts := field{implicit, kindText, nil}, field{implicit, kindTexts, nil}
	needText, needTexts := field{required, kindText, nil}, field{required, kindTexts, nil}
	one := func(m message) field { return field{implicit, kindMessage, m} }
	return message{
		"apiKeySecurityScheme": one(message{"description": text, "location": needText, "name": needText}),
		"httpAuthSecurityScheme": one(message{
			"description": text, "scheme": needText, "bearerFormat": text,
		}),
		"openIdConnectSecurityScheme": one(message{"description": text, "openIdConnectUrl": needText}),
		"mtlsSecurityScheme":          one(message{"description": text}),
		"oauth2SecurityScheme": one(message{
			"description": text, "oauth2MetadataUrl": text,
			"flows": {required, kindMessage, message{
				"authorizationCode": one(message{
					"authorizationUrl": needText, "tokenUrl": needText, "refreshUrl": text, "scopes": needTexts,
					"pkceRequired": {implicit, kindBool, nil},
				}),
				"clientCredentials": one(message{"tokenUrl": needText, "refreshUrl": text, "scopes": needTexts}),
				"deviceCode": one(message{
					"deviceAuthorizationUrl": needText, "tokenUrl": needText, "refreshUrl": text, "scopes": needTexts,
				}),
				"implicit": one(message{"authorizationUrl": text, "refreshUrl": text, "scopes": texts}),
				"password": one(message{"tokenUrl": text, "refreshUrl": text, "scopes": texts}),
			}},
		}),
	}
}
