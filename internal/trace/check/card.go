package check

import (
	"fmt"
	"net/url"
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
		{Error, [2]string{"5.6.1", "4.4.6"}, cardURLs},
		{Error, [2]string{"5.6.1", "4.4.6"}, cardTransports},
		{Error, [2]string{"5.5", "3.6"}, cardVersions},
		{Error, [2]string{"5.5.3", "4.5"}, cardSchemes},
		{Warning, [2]string{"5.6.4", "3.6"}, cardHabits},
		{Warning, [2]string{"5.5", "4.4.1"}, cardEmpty},
		{Warning, [2]string{"5.5", "4.4.1"}, cardModes},
		{Warning, [2]string{"5.5.4", "4.4.5"}, cardTwice},
		{Warning, [2]string{"5.5", "4.4.1"}, cardPlaces},
	} {
		text := rule.broken(doc, v1)
		w.broken(r, RuleSchema, rule.weight, "card", text, v1, rule.at, text)
	}
}

// faces are the interfaces of a card: their places in it, URLs, bindings and versions.
func faces(doc gjson.Result, v1 bool) (all [][4]string) {
	if v1 {
		for i, f := range doc.Get("supportedInterfaces").Array() {
			all = append(all, [4]string{fmt.Sprintf("supportedInterfaces[%d]", i), f.Get("url").Str, f.Get("protocolBinding").Str, f.Get("protocolVersion").Str})
		}
		return all
	}
	all = append(all, [4]string{"", doc.Get("url").Str, doc.Get("preferredTransport").Str, doc.Get("protocolVersion").Str})
	for i, f := range doc.Get("additionalInterfaces").Array() {
		all = append(all, [4]string{fmt.Sprintf("additionalInterfaces[%d]", i), f.Get("url").Str, f.Get("transport").Str, ""})
	}
	return all
}

func cardURLs(doc gjson.Result, v1 bool) string {
	for _, f := range faces(doc, v1) {
		u, err := url.Parse(f[1])
		if web := f[2] == "" || f[2] == "JSONRPC" || f[2] == "HTTP+JSON"; f[1] != "" && web && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Sprintf("%s: must be an absolute URL (https://…), and is %q", join(f[0], "url"), f[1])
		}
	}
	return ""
}

// cardPlaces: addresses that only the agent's own machine knows.
func cardPlaces(doc gjson.Result, v1 bool) string {
	for _, f := range faces(doc, v1) {
		if u, err := url.Parse(f[1]); err == nil && (u.Hostname() == "0.0.0.0" || u.Hostname() == "::") {
			return fmt.Sprintf("%s: %q is an address to listen at, and no other machine can call it", join(f[0], "url"), f[1])
		}
	}
	for _, path := range []string{"iconUrl", "documentationUrl", "provider.url"} {
		if v := doc.Get(path).Str; v != "" && !isURL(v) {
			return fmt.Sprintf("%s: is no absolute URL: %q", path, v)
		}
	}
	return ""
}

func cardTransports(doc gjson.Result, v1 bool) string {
	for i, f := range faces(doc, v1) {
		member := "transport"
		switch {
		case v1:
			member = "protocolBinding"
		case i == 0:
			member = "preferredTransport"
		}
		// Others may have any name, but not what looks like one of these: "JSON-RPC 2.0", "HTTP+JSON/REST".
		letters := strings.Map(func(r rune) rune {
			if r < 'A' || r > 'Z' {
				return -1
			}
			return r
		}, strings.ToUpper(f[2]))
		if slices.Contains([]string{"JSONRPC", "GRPC", "HTTPJSON", "HTTPJSONREST", "HTTPREST", "HTTP", "HTTPS", "REST", "JSON"}, letters) &&
			!slices.Contains([]string{"JSONRPC", "GRPC", "HTTP+JSON"}, f[2]) {
			return fmt.Sprintf("%s: must be JSONRPC, HTTP+JSON or GRPC, and is %q", join(f[0], member), f[2])
		}
	}
	return ""
}

func cardVersions(doc gjson.Result, v1 bool) string {
	for _, f := range faces(doc, v1) {
		if f[3] == "" {
			continue
		}
		numbers := strings.Split(f[3], ".")
		bad := len(numbers) < 2 || len(numbers) > 3 || slices.ContainsFunc(numbers, func(n string) bool {
			return n == "" || strings.Trim(n, "0123456789") != ""
		})
		switch {
		case bad:
			return fmt.Sprintf("%s: must be a version like 0.3.0 or 1.0, and is %q", join(f[0], "protocolVersion"), f[3])
		case !v1 && numbers[0] != "0":
			return fmt.Sprintf("protocolVersion: is %q, and the card is in the form of 0.3; one of 1.0 has supportedInterfaces", f[3])
		}
	}
	return ""
}

// cardHabits: what must or should be otherwise, and every client gets along with.
func cardHabits(doc gjson.Result, v1 bool) string {
	if !v1 && !doc.Get("preferredTransport").Exists() {
		return "preferredTransport: is missing; clients take it for JSONRPC"
	}
	for _, f := range faces(doc, v1) {
		if v1 && strings.Count(f[3], ".") == 2 {
			return fmt.Sprintf("%s: should be like 1.0, without a number behind that, and is %q", join(f[0], "protocolVersion"), f[3])
		}
	}
	return ""
}

// cardSchemes: a security requirement that names what securitySchemes has not.
func cardSchemes(doc gjson.Result, v1 bool) (wrong string) {
	member, inner := "security", ""
	if v1 {
		member, inner = "securityRequirements", "schemes"
	}
	schemes := doc.Get("securitySchemes")
	doc.Get(member).ForEach(func(_, one gjson.Result) bool {
		if inner != "" {
			one = one.Get(inner)
		}
		one.ForEach(func(name, _ gjson.Result) bool {
			found := false
			schemes.ForEach(func(key, _ gjson.Result) bool {
				found = found || key.Str == name.Str
				return !found
			})
			if !found {
				wrong = fmt.Sprintf("%s: names the scheme %q, which securitySchemes has not", member, name.Str)
			}
			return wrong == ""
		})
		return wrong == ""
	})
	return wrong
}

// cardEmpty: what must be there for a reader, and is empty.
func cardEmpty(doc gjson.Result, _ bool) string {
	for _, path := range []string{"name", "description", "version", "skills.0.id", "skills.0.name"} {
		if v := doc.Get(path); v.Type == gjson.String && strings.TrimSpace(v.Str) == "" {
			return path + ": must not be empty"
		}
	}
	for _, path := range []string{"skills", "defaultInputModes", "defaultOutputModes"} {
		if v := doc.Get(path); v.IsArray() && len(v.Array()) == 0 {
			return path + ": is empty, so nobody knows what the agent can do"
		}
	}
	return ""
}

func cardModes(doc gjson.Result, _ bool) string {
	for _, path := range []string{"defaultInputModes", "defaultOutputModes"} {
		for _, mode := range doc.Get(path).Array() {
			if mode.Str != "" && !strings.Contains(mode.Str, "/") {
				return fmt.Sprintf("%s: %q is no media type: they are like text/plain", path, mode.Str)
			}
		}
	}
	return ""
}

func cardTwice(doc gjson.Result, _ bool) string {
	return thereTwice(doc, "skills.#.id", "capabilities.extensions.#.uri")
}
