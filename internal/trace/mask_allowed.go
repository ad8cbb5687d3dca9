package trace

import "strings"

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
	return listed(shownParams, plain(name)) && !secretName(name) || plain(name) == "nextpagetoken"
}
func shownSetting(name string) bool { return listed(shownSettings, plain(name)) }

// shownSegment reports whether a segment of a path is shown, behind another one.
func shownSegment(before, segment string) bool {
	if segment == "" || segment == "." || segment == ".." || listed(collections, plain(before)) {
		return true
	}
	return listed(shownSegments, strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(segment, ".")), "-", ""), "_", ""))
}
