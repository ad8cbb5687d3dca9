package trace

import "strings"

// maxName bounds a name that is looked at.
const maxName = 128

// plain normalises a name: apiKey, api_key and API-Key are equal.
func plain(name string) string {
	if len(name) > maxName {
		return ""
	}
	var buf [maxName]byte
	b := buf[:0]
	for i := range len(name) {
		switch c := name[i]; {
		case c == '-' || c == '_' || c == '.' || c == ' ':
		case 'A' <= c && c <= 'Z':
			b = append(b, c|0x20)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// secretName reports whether a member of this name holds a credential. Numbers of
// tokens do not, and neither do page tokens.
func secretName(name string) bool { return secretPlain(plain(name)) }

func secretPlain(name string) bool {
	for _, part := range [...]string{"password", "passwd", "passphrase", "secret", "apikey", "authorization",
		"credential", "privatekey", "accesskey", "signingkey", "cookie", "bearer"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	switch name {
	case "nextpagetoken", "pagetoken", "progresstoken":
		return false
	case "auth", "pwd", "pass":
		return true
	}
	return strings.HasSuffix(name, "token")
}

// secretParam is secretName for headers and URL parameters, where a key is almost
// always a credential.
func secretParam(name string) bool {
	name = plain(name)
	if secretPlain(name) || strings.HasSuffix(name, "key") {
		return true
	}
	switch name {
	case "sig", "signature", "code", "assertion", "jwt", "sid", "session", "sessionid":
		return true
	}
	return false
}

// A keyClass is what a JSON member's name means to the masker.
type keyClass uint8

const (
	keyPlain   keyClass = iota
	keyText             // "text": comes in pieces
	keyName             // "name", "key": its value may name a credential in "value"
	keyValue            // "value"
	keyMethod           // of JSON-RPC
	keyID               // of JSON-RPC
	keySession          // of ACP
	keyURL
	keyEnv    // in MCP servers: holds credentials
	keyExempt // security schemes: names of credentials, no credentials
	// From here on, the name sends a payload through the thorough pass.
	keyServers  // MCP servers
	keySettings // an agent's settings have it
	keyObject   // such settings
	keyPush     // where an agent pushes to
	keySecret
)

// look reports whether a member of this name may hold a credential.
func (c keyClass) look() bool { return c >= keyServers }

// classOf classifies a key.
func classOf(key string) keyClass {
	switch key {
	case "method":
		return keyMethod
	case "id":
		return keyID
	case "sessionId":
		return keySession
	}
	switch name := plain(key); {
	case name == "text":
		return keyText
	case name == "name", name == "key":
		return keyName
	case name == "value":
		return keyValue
	case name == "url":
		return keyURL
	case name == "env", name == "environment", name == "headers", name == "httpheaders", name == "args":
		return keyEnv
	case name == "securityschemes", name == "security", name == "securityrequirements":
		return keyExempt
	case name == "mcpservers":
		return keyServers
	case name == "workspacepath", name == "workspacepaths":
		return keySettings
	case strings.HasSuffix(name, "settings"):
		return keyObject
	case strings.HasSuffix(name, "pushnotificationconfig"), strings.HasSuffix(name, "pushnotificationconfigs"):
		return keyPush
	case secretPlain(name):
		return keySecret
	}
	return keyPlain
}

// maxKeys bounds the known keys. An event has a few dozen, and the next event has the same;
// keys beyond the bound are an agent's IDs.
const maxKeys = 1024

// class is classOf, remembered.
func (m *masker) class(key string) keyClass {
	class, ok := m.keys[key]
	if !ok {
		class = classOf(key)
		if len(key) <= maxName && len(m.keys) < maxKeys {
			m.keys[strings.Clone(key)] = class
		}
	}
	return class
}
