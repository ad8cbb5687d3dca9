package check

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// cardRules checks what no schema can say of a card.
func (w *agentWire) cardRules(r *trace.Record, doc gjson.Result, v1 bool) {
	for _, rule := range [...]struct {
		weight string
		at     [2]string // sections of A2A 0.3 and 1.0
		broken func(doc gjson.Result, v1 bool) string
	}{
		{Error, [2]string{"5.6.1", "4.4.6"}, eachInterface(wrongURL)},
		{Error, [2]string{"5.6.1", "4.4.6"}, eachInterface(wrongBinding)},
		{Error, [2]string{"5.5", "3.6"}, eachInterface(wrongVersion)},
		{Error, [2]string{"5.5.3", "4.5"}, unknownScheme},
		{Error, [2]string{"5.5.6", "8.4.2"}, wrongSignature},
		{Warning, [2]string{"5.6.4", "3.6"}, eachInterface(oddInterface)},
		{Warning, [2]string{"5.5.4", "4.4.5"}, func(doc gjson.Result, _ bool) string {
			return thereTwice(doc, "skills.#.id", "capabilities.extensions.#.uri")
		}},
		{Warning, [2]string{"5.5", "4.4.1"}, eachInterface(wrongPlace)},
	} {
		text := rule.broken(doc, v1)
		w.broken(r, RuleSchema, rule.weight, "card", text, v1, rule.at, text)
	}
}

// An agentInterface is one of a card, at a path; member names the member that has its binding.
type agentInterface struct{ at, member, url, binding, version string }

func interfaces(doc gjson.Result, v1 bool) (all []agentInterface) {
	list, member := "supportedInterfaces", "protocolBinding"
	if !v1 {
		all = append(all, agentInterface{"", "preferredTransport", doc.Get("url").Str, doc.Get("preferredTransport").Str, doc.Get("protocolVersion").Str})
		list, member = "additionalInterfaces", "transport"
	}
	for i, f := range doc.Get(list).Array() {
		version := ""
		if v1 {
			version = f.Get("protocolVersion").Str
		}
		all = append(all, agentInterface{fmt.Sprintf("%s[%d]", list, i), member, f.Get("url").Str, f.Get(member).Str, version})
	}
	return all
}

// eachInterface makes a rule about cards of one about interfaces.
func eachInterface(wrong func(f agentInterface, v1 bool) string) func(gjson.Result, bool) string {
	return func(doc gjson.Result, v1 bool) string {
		for _, f := range interfaces(doc, v1) {
			if text := wrong(f, v1); text != "" {
				return text
			}
		}
		return ""
	}
}

func wrongURL(f agentInterface, _ bool) string {
	u, err := url.Parse(f.url)
	if web := f.binding == "" || f.binding == "JSONRPC" || f.binding == "HTTP+JSON"; f.url != "" && !redacted(f.url) && web &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Sprintf("%s: must be an absolute URL (https://…), and is %q", join(f.at, "url"), f.url)
	}
	return ""
}

// wrongPlace: an address that only the agent's own machine knows, or one operation's.
func wrongPlace(f agentInterface, _ bool) string {
	u, err := url.Parse(f.url)
	switch {
	case err != nil:
	case u.Hostname() == "0.0.0.0" || u.Hostname() == "::":
		return fmt.Sprintf("%s: %q is an address to listen at, and no other machine can call it", join(f.at, "url"), f.url)
	case strings.Contains(u.Path, "/message:") || strings.Contains(u.Path, "/.well-known/"):
		return fmt.Sprintf("%s: must be the URL before the paths of all operations, and is %q", join(f.at, "url"), f.url)
	}
	return ""
}

// wrongBinding: a binding may have any name, but not what looks like one of A2A's: "JSON-RPC 2.0",
// "HTTP+JSON/REST".
func wrongBinding(f agentInterface, _ bool) string {
	letters := regexp.MustCompile("[^A-Z]").ReplaceAllString(strings.ToUpper(f.binding), "")
	if slices.Contains([]string{"JSONRPC", "GRPC", "HTTPJSON", "HTTPJSONREST", "HTTPREST", "HTTP", "HTTPS", "REST", "JSON"}, letters) &&
		!slices.Contains([]string{"JSONRPC", "GRPC", "HTTP+JSON"}, f.binding) {
		return fmt.Sprintf("%s: must be JSONRPC, HTTP+JSON or GRPC, and is %q", join(f.at, f.member), f.binding)
	}
	return ""
}

func wrongVersion(f agentInterface, v1 bool) string {
	switch {
	case f.version == "":
	case !regexp.MustCompile(`^[01]\.[0-9]+(\.[0-9]+)?$`).MatchString(f.version):
		return fmt.Sprintf("%s: must be a version of A2A like 0.3.0 or 1.0, and is %q", join(f.at, "protocolVersion"), f.version)
	case !v1 && !regexp.MustCompile(`^0+\.`).MatchString(f.version):
		return fmt.Sprintf("protocolVersion: is %q, and the card is in the form of 0.3; one of 1.0 has supportedInterfaces", f.version)
	}
	return ""
}

// oddInterface: what should be otherwise, and every client gets along with.
func oddInterface(f agentInterface, v1 bool) string {
	switch {
	case f.member == "preferredTransport" && f.binding == "":
		return "preferredTransport: is missing; clients take it for JSONRPC"
	case v1 && strings.Count(f.version, ".") == 2:
		return fmt.Sprintf("%s: should be like 1.0, without a number behind that, and is %q", join(f.at, "protocolVersion"), f.version)
	}
	return ""
}

// unknownScheme: a security requirement that names what securitySchemes has not.
func unknownScheme(doc gjson.Result, v1 bool) (wrong string) {
	member, inner := "security", "@this"
	if v1 {
		member, inner = "securityRequirements", "schemes"
	}
	for _, one := range doc.Get(member).Array() {
		one.Get(inner).ForEach(func(name, _ gjson.Result) bool {
			if !slices.ContainsFunc(doc.Get("securitySchemes.@keys").Array(), func(key gjson.Result) bool { return key.Str == name.Str }) {
				wrong = fmt.Sprintf("%s: names the scheme %q, which securitySchemes has not", member, name.Str)
			}
			return wrong == ""
		})
	}
	return wrong
}

// wrongSignature: a signature whose header is not in the form of a JWS (RFC 7515).
func wrongSignature(doc gjson.Result, _ bool) string {
	for i, p := range doc.Get("signatures.#.protected").Array() {
		header, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p.Str, "="))
		if p.Type == gjson.String && (err != nil || !gjson.ParseBytes(header).Get("alg").Exists()) {
			return fmt.Sprintf("signatures[%d].protected: must be an object with alg, in base64url, and is %s", i, quote(p))
		}
	}
	return ""
}
