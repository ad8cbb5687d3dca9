package transport

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file reads cards as agents serve them: of 0.3, of 1.x, of both at once (JS
// without an A2A-Version header), with the inner form of an SDK's types ("$case"), with
// members in snake_case, and without members that the specification requires. A card is
// refused only if it is no object; choose reports an agent that cannot be called.

const (
	// maxListed is how many security schemes, alternatives and scopes are read of a card,
	// each: more than anybody declares, and few enough that no card makes a sign-in ask for
	// thousands of things.
	maxListed = 64
	// maxInterfaces is how many of its interfaces are read. Each is compared with those
	// before it; a gateway may name one for each tenant, and the first that we speak may be
	// behind many others.
	maxInterfaces = 256
)

// A node is a value in a card, or in another answer that speed does not matter for. What
// has a wrong type reads as absent.
type node struct{ gjson.Result }

// parseNode reads JSON that is valid. Its strings are views, unless they have escapes.
func parseNode(raw []byte) node { return node{gjson.Parse(rawjson.View(raw))} }

// at returns the value at a path, which is in camelCase; or else at the same path in snake_case.
func (n node) at(path string) node {
	if v := n.Get(path); v.Exists() {
		return node{v}
	}
	var snake strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			snake.WriteByte('_')
		}
		snake.WriteRune(unicode.ToLower(r))
	}
	return node{n.Get(snake.String())}
}

// text is the string at a path; "" for anything else: a number as a name is no name.
func (n node) text(path string) string {
	if v := n.at(path); v.Type == gjson.String {
		return v.Str
	}
	return ""
}

// id is text, or a number as it is written: some agents number their tasks.
func (n node) id(path string) string {
	if v := n.at(path); v.Type == gjson.Number {
		return v.Raw
	}
	return n.text(path)
}

// list are the elements of the array at a path.
func (n node) list(path string) []node { return n.at(path).elements() }

// elements are those of an array; none of anything else.
func (n node) elements() (list []node) {
	if !n.IsArray() { // gjson makes one of anything
		return nil
	}
	for _, e := range n.Array() {
		list = append(list, node{e})
	}
	return list
}

// texts are the strings in an array.
func (n node) texts() (list []string) {
	for _, e := range n.elements() {
		if e.Type == gjson.String {
			list = append(list, e.Str)
		}
	}
	return list
}

// each calls f with the first [maxListed] members of an object.
func (n node) each(f func(name string, value node)) {
	left := maxListed
	n.ForEach(func(name, value gjson.Result) bool {
		f(name.Str, node{value})
		left--
		return left > 0
	})
}

// parseCard reads a card from raw, a valid JSON object, which it keeps. Its URLs may be relative to base.
func parseCard(raw string, base *url.URL) *a2a.Card {
	n := node{gjson.Parse(raw)}
	card := &a2a.Card{
		Name:             n.text("name"),
		Description:      n.text("description"),
		Version:          n.text("version"),
		DocumentationURL: n.text("documentationUrl"),
		Provider:         n.text("provider.organization"),
		Interfaces:       interfaces(n, base, ""),
		Streaming:        n.at("capabilities.streaming").Bool(),
		Push:             n.at("capabilities.pushNotifications").Bool(),
		ExtendedCard:     n.at("supportsAuthenticatedExtendedCard").Bool() || n.at("capabilities.extendedAgentCard").Bool(),
		InputModes:       n.at("defaultInputModes").texts(),
		OutputModes:      n.at("defaultOutputModes").texts(),
		Requirements:     requirements(n),
		Raw:              a2a.JSON(raw),
	}
	for _, e := range n.list("capabilities.extensions") {
		if uri := e.text("uri"); uri != "" {
			card.Extensions = append(card.Extensions, a2a.Extension{URI: uri, Description: e.text("description"),
				Required: e.at("required").Bool(), Params: a2a.JSON(e.at("params").Raw)})
		}
	}
	for _, s := range n.list("skills") {
		card.Skills = append(card.Skills, a2a.Skill{ID: s.text("id"), Name: s.text("name"), Description: s.text("description"),
			Requirements: requirements(s)})
	}
	n.at("securitySchemes").each(func(name string, v node) { card.Schemes = append(card.Schemes, securityScheme(name, v)) })
	card.Security = namedSchemes(card.Schemes, card.Requirements)
	return card
}

// interfaces lists a card's interfaces, each once, 1.x's first: they have an order of preference, and a
// card of both generations repeats them in 0.3's members. at, if any, is the URL of those that name none.
func interfaces(n node, base *url.URL, at string) (list []a2a.Interface) {
	add := func(i a2a.Interface) {
		if i.URL = cmp.Or(i.URL, at); i.URL == "" || len(list) == maxInterfaces {
			return
		}
		if u, err := url.Parse(i.URL); err == nil && base != nil {
			i.URL = base.ResolveReference(u).String()
		}
		// 0.3's default; trpc-a2a-go and Gemini leave it out.
		i.Binding = cmp.Or(i.Binding, bindingJSONRPC)
		same := func(j a2a.Interface) bool {
			return i.URL == j.URL && i.Binding == j.Binding && isV03(i.Version) == isV03(j.Version)
		}
		if !slices.ContainsFunc(list, same) {
			list = append(list, i)
		}
	}
	version := n.text("protocolVersion")
	for _, i := range n.list("supportedInterfaces") {
		add(a2a.Interface{
			URL:     i.text("url"),
			Binding: i.text("protocolBinding"),
			Version: cmp.Or(i.text("protocolVersion"), version, "1.0"), // only 1.x has this list
			Tenant:  i.text("tenant"),
		})
	}
	if len(list) == 0 && !isV03(version) {
		// A card of 0.3's form is of 0.3: the agent's own version is found here, and "latest".
		version = "0.3"
	}
	if u := n.text("url"); u != "" || len(list) == 0 {
		add(a2a.Interface{URL: u, Binding: n.text("preferredTransport"), Version: version})
	}
	for _, i := range n.list("additionalInterfaces") {
		add(a2a.Interface{URL: i.text("url"), Binding: i.text("transport"), Version: version})
	}
	return list
}

// cardName names the agent of a card, for errors.
func cardName(card *a2a.Card) string { return cmp.Or(card.Name, "the agent") }

// saysNoStreaming reports whether the card denies streaming. An agent whose card does
// not mention it is asked to stream: cards leave out abilities that their agents have.
func saysNoStreaming(card *a2a.Card) bool {
	return gjson.Get(string(card.Raw), "capabilities.streaming").Type == gjson.False
}

// requirements reads what a card, or a skill, needs: 1.x's member, or 0.3's. A
// card of both generations says the same in both.
func requirements(n node) (list []a2a.Requirement) {
	alternatives := n.list("securityRequirements")
	if len(alternatives) == 0 {
		alternatives = n.list("security")
	}
	for _, alternative := range alternatives {
		// 1.x: {"schemes":{"name":{"list":["scope"]}}}; a2a-go leaves out the list.
		if s := alternative.at("schemes"); s.IsObject() {
			alternative = s
		}
		if !alternative.IsObject() || len(list) == maxListed {
			continue
		}
		requirement := a2a.Requirement{}
		alternative.each(func(name string, scopes node) {
			if scopes.IsObject() {
				scopes = scopes.at("list")
			}
			words := scopes.texts()
			requirement = append(requirement, a2a.SchemeUse{Scheme: name, Scopes: words[:min(len(words), maxListed)]})
		})
		list = append(list, requirement)
	}
	return list
}

// namedSchemes are the schemes that requirements name, in that order, each once; those that are
// not declared have a name only.
func namedSchemes(declared []a2a.SecurityScheme, requirements []a2a.Requirement) (list []a2a.SecurityScheme) {
	for _, use := range slices.Concat(requirements...) {
		named := func(s a2a.SecurityScheme) bool { return s.Name == use.Scheme }
		if i := slices.IndexFunc(declared, named); slices.ContainsFunc(list, named) {
			continue
		} else if i >= 0 {
			list = append(list, declared[i])
		} else {
			list = append(list, a2a.SecurityScheme{Name: use.Scheme})
		}
	}
	return list
}

// schemeTypes are the names of security schemes: 0.3's type or the short form of a2a-go's
// hybrid cards, and 1.x's member.
var schemeTypes = map[string]string{
	"apiKey": "apiKey", "apiKeySecurityScheme": "apiKey", "api_key_security_scheme": "apiKey",
	"http": "http", "httpAuthSecurityScheme": "http", "http_auth_security_scheme": "http",
	"oauth2": "oauth2", "oauth2SecurityScheme": "oauth2", "oauth2_security_scheme": "oauth2",
	"openIdConnect": "openIdConnect", "openIdConnectSecurityScheme": "openIdConnect", "open_id_connect_security_scheme": "openIdConnect",
	"mutualTLS": "mutualTLS", "mtlsSecurityScheme": "mutualTLS", "mtls_security_scheme": "mutualTLS",
}

// securityScheme reads a scheme in any of the forms that cards have. Its type is "" if that is unknown.
func securityScheme(name string, n node) a2a.SecurityScheme {
	s := a2a.SecurityScheme{Name: name}
	inner := n
	if c := n.at("scheme"); c.IsObject() {
		// {"scheme":{"$case":"httpAuthSecurityScheme","value":{…}}}
		s.Type, inner = schemeTypes[c.text(`\$case`)], c.at("value")
	} else {
		s.Type = schemeTypes[n.text("type")]
	}
	// The member of a type is 1.x's form; a hybrid card says it both ways.
	described := slices.ContainsFunc([]string{"name", "scheme", "flows", "openIdConnectUrl"}, func(member string) bool { return inner.at(member).Exists() })
	found := false
	n.each(func(member string, value node) {
		if t := schemeTypes[member]; t != "" && value.IsObject() && !found && (s.Type == "" || s.Type == t) {
			if s.Type, found = t, true; !described {
				inner = value
			}
		}
	})
	switch s.Type {
	case "http":
		s.Scheme = strings.ToLower(inner.text("scheme"))
	case "apiKey":
		s.Location, s.Key = strings.ToLower(cmp.Or(inner.text("location"), inner.text("in"))), inner.text("name")
	case "oauth2":
		s.MetadataURL, s.Flows = inner.text("oauth2MetadataUrl"), flows(inner.at("flows"))
	case "openIdConnect":
		s.MetadataURL = inner.text("openIdConnectUrl")
	}
	return s
}

// flows reads OAuth flows: several in 0.3, one in 1.x.
func flows(n node) (list []a2a.OAuthFlow) {
	if c := n.at("flow"); c.IsObject() { // {"flow":{"$case":"authorizationCode","value":{…}}}
		return append(list, flow(c.text(`\$case`), c.at("value")))
	}
	for _, t := range []string{a2a.FlowAuthorizationCode, a2a.FlowDeviceCode, a2a.FlowClientCredentials, a2a.FlowImplicit, a2a.FlowPassword} {
		if f := n.at(t); f.IsObject() {
			list = append(list, flow(t, f))
		}
	}
	return list
}

func flow(flowType string, n node) a2a.OAuthFlow {
	f := a2a.OAuthFlow{Type: flowType, AuthorizationURL: n.text("authorizationUrl"), TokenURL: n.text("tokenUrl"), DeviceURL: n.text("deviceAuthorizationUrl")}
	n.at("scopes").each(func(name string, _ node) { f.Scopes = append(f.Scopes, name) })
	return f
}
