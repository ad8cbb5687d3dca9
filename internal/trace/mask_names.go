package trace

import "strings"

// maxName is how long a name may be to be looked at: longer ones are no names.
const maxName = 128

// plain brings a name into one spelling: apiKey, api_key and API-Key are one.
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

// secretName reports whether a member of that name holds a credential. Numbers
// of tokens are not tokens, and neither is where a list goes on.
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

// secretParam is secretName for headers and URL parameters, where a key is
// hardly ever anything else.
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

// A keyClass says what the name of a JSON member means for us.
type keyClass uint8

const (
	keyPlain   keyClass = iota
	keyText             // "text": what is said in pieces
	keyName             // "name", "key": its value may name a credential beside it
	keyValue            // "value": that one
	keyMethod           // of JSON-RPC
	keyID               // of JSON-RPC
	keySession          // of ACP
	keyURL
	keyEnv    // in MCP servers: what holds credentials
	keyExempt // security schemes: names of credentials, and none
	// Where one of the others is, a payload is looked at the thorough way.
	keyServers // MCP servers
	keyPush    // where an agent is to push
	keySecret
	keyEscape // written with escapes: nobody knows without decoding it
)

// look: with a member of that name, there may be a credential.
func (c keyClass) look() bool { return c >= keyServers }

// classOf looks at a key as it is written between its quotes.
func classOf(key string) keyClass {
	switch key {
	case "method":
		return keyMethod
	case "id":
		return keyID
	case "sessionId":
		return keySession
	}
	if strings.IndexByte(key, '\\') >= 0 {
		return keyEscape
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
	case strings.HasSuffix(name, "pushnotificationconfig"), strings.HasSuffix(name, "pushnotificationconfigs"):
		return keyPush
	case secretPlain(name):
		return keySecret
	}
	return keyPlain
}

// classOfName looks at a value of "name" or "key".
func classOfName(name string) keyClass {
	if secretParam(name) {
		return keySecret
	}
	return keyPlain
}

// keyCacheSize is how many keys a keyCache knows. An event has a few dozen, and
// the next one has the same.
const keyCacheSize = 512

// A keyCache remembers the class of each key that was looked at last.
type keyCache struct {
	of      func(key string) keyClass
	entries [keyCacheSize]struct {
		key   string
		class keyClass
		known bool
	}
}

// class returns the class of a key, given as it is written.
func (c *keyCache) class(key []byte) keyClass {
	if len(key) == 0 {
		return keyPlain
	}
	e := &c.entries[(uint(key[0])+uint(key[len(key)-1])*7+uint(key[len(key)/2])*31+uint(len(key))*61)%keyCacheSize]
	if e.known && e.key == string(key) {
		return e.class
	}
	class := c.of(string(key))
	if len(key) <= maxName {
		e.key, e.class, e.known = string(key), class, true
	}
	return class
}
