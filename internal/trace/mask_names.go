package trace

import "strings"

// maxName bounds a name that is looked at.
const maxName = 128

// normalName returns what apiKey, api_key and API-Key have in common; "" for a name over maxName.
func normalName(name string) string {
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
func secretName(name string) bool { return secretNormal(normalName(name)) }

// secretNormal is secretName for a normal name.
func secretNormal(name string) bool {
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
	name = normalName(name)
	if secretNormal(name) || strings.HasSuffix(name, "key") {
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
	keyPlain keyClass = iota
	keyText           // "text": comes in pieces
	keyName           // "name", "key": its value may name a credential in "value"
	keyValue          // "value"
	keyURL
	keyEnv     // in MCP servers: holds credentials
	keyExempt  // security schemes: names of credentials, no credentials
	keyServers // MCP servers
	keyObject  // an agent's settings
	keyPush    // where an agent pushes to
	keySecret
)

func classOf(key string) keyClass {
	switch name := normalName(key); {
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
	case strings.HasSuffix(name, "settings"):
		return keyObject
	case strings.HasSuffix(name, "pushnotificationconfig"), strings.HasSuffix(name, "pushnotificationconfigs"):
		return keyPush
	case secretNormal(name):
		return keySecret
	}
	return keyPlain
}

// maxKeys bounds the known keys. An event has a few dozen, and the next event has the same;
// keys beyond the bound are an agent's IDs.
const maxKeys = 1024

// class is classOf, which it remembers.
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

// What is shown of headers, parameters, paths and settings is shown because its name is
// on one of these lists. A list of what is secret would never be complete: each gateway
// has a header of its own.
const (
	shownHeaders = " accept accept-charset accept-encoding accept-language accept-ranges access-control-allow-credentials" +
		" access-control-allow-headers access-control-allow-methods access-control-allow-origin access-control-expose-headers" +
		" access-control-max-age access-control-request-headers access-control-request-method age allow alt-svc a2a-extensions a2a-version" +
		" cache-control connection content-disposition content-encoding content-language content-length content-location" +
		" content-range content-security-policy content-type cross-origin-opener-policy cross-origin-resource-policy date etag" +
		" expect expires from host if-match if-modified-since if-none-match if-unmodified-since keep-alive last-event-id" +
		" last-modified link location mcp-protocol-version origin permissions-policy pragma proxy-connection range referer" +
		" referrer-policy retry-after ratelimit ratelimit-limit ratelimit-policy ratelimit-remaining ratelimit-reset" +
		" sec-fetch-dest sec-fetch-mode sec-fetch-site server server-timing strict-transport-security te traceparent trailer" +
		" transfer-encoding upgrade user-agent vary via warning www-authenticate proxy-authenticate x-a2a-extensions" +
		" x-accel-buffering x-content-type-options x-correlation-id x-frame-options x-powered-by x-ratelimit-limit" +
		" x-ratelimit-remaining x-ratelimit-reset x-request-id x-response-time x-xss-protection "
	addressHeaders = " content-location location origin referer "
	shownParams    = " a2aversion acceptedoutputmodes alt audience binding blocking clientid contextid count cursor dialect extended" +
		" filter format from granttype historylength id includeartifacts lang language lastupdatedafter limit locale method" +
		" mode name nextpagetoken offset order page pagesize pagetoken path protocol q query redirecturi resource responsetype" +
		" scope search sort state status statustimestampafter stream task taskid tenant to type v version "
	// A segment behind one of these is an ID of the protocol's, which is shown.
	collections   = " tasks contexts pushnotificationconfigs "
	shownSegments = collections + " a2a agent agentcard.json agent.json card extendedagentcard jsonrpc mcp message message:send message:stream" +
		" rpc rest sse stream v0 v1 v2 wellknown wellknown.json api executecommand listcommands "
	shownSettings = " approvalmode command contextid cwd enabled id kind language locale mode model name protocol protocolversion" +
		" sessionid timeout timeoutms transport trust type uri url version workspace workspacepath workspacepaths "
)

// listed reports whether a list has a name, in lower case.
func listed(list, name string) bool {
	return name != "" && !strings.Contains(name, " ") && strings.Contains(list, " "+name+" ")
}

func shownHeader(name string) bool { return listed(shownHeaders, strings.ToLower(name)) }
func shownParam(name string) bool {
	return listed(shownParams, normalName(name)) && !secretName(name) || normalName(name) == "nextpagetoken"
}
func shownSetting(name string) bool { return listed(shownSettings, normalName(name)) }

// shownSegment reports whether a segment of a path is shown, behind another one.
func shownSegment(before, segment string) bool {
	if segment == "" || segment == "." || segment == ".." || listed(collections, normalName(before)) {
		return true
	}
	return listed(shownSegments, strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(segment, ".")), "-", ""), "_", ""))
}
