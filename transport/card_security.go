package transport

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxSchemes is how many security schemes, alternatives and scopes are read of a
// card, each: more than anybody declares, and few enough that no card makes a
// sign-in ask for thousands of things.
const maxSchemes = 64

// requirements reads what a card, or a skill, needs: 1.x's member, or 0.3's. A
// card of both generations says the same in both.
func requirements(r gjson.Result) (list []a2a.Requirement) {
	for _, member := range []string{"securityRequirements", "security"} {
		for _, alternative := range limited(elements(r.Get(member))) {
			// 1.x: {"schemes":{"name":{"list":["scope"]}}}; a2a-go leaves out the list.
			if s := alternative.Get("schemes"); s.IsObject() {
				alternative = s
			}
			if !alternative.IsObject() {
				continue
			}
			requirement := a2a.Requirement{}
			alternative.ForEach(func(name, scopes gjson.Result) bool {
				if scopes.IsObject() {
					scopes = scopes.Get("list")
				}
				requirement = append(requirement, a2a.SchemeUse{Scheme: name.Str, Scopes: limited(texts(scopes))})
				return len(requirement) < maxSchemes
			})
			list = append(list, requirement)
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

func limited[T any](list []T) []T { return list[:min(len(list), maxSchemes)] }

// schemes reads all that the card declares.
func schemes(r gjson.Result) (list []a2a.SecurityScheme) {
	r.Get("securitySchemes").ForEach(func(name, v gjson.Result) bool {
		list = append(list, securityScheme(name.Str, v))
		return len(list) < maxSchemes
	})
	return list
}

// required are the schemes that requirements name, in that order; those that are
// not declared have a name only.
func required(declared []a2a.SecurityScheme, requirements []a2a.Requirement) (list []a2a.SecurityScheme) {
	named := func(list []a2a.SecurityScheme, name string) int {
		return slices.IndexFunc(list, func(s a2a.SecurityScheme) bool { return s.Name == name })
	}
	for _, r := range requirements {
		for _, use := range r {
			if named(list, use.Scheme) >= 0 {
				continue
			}
			s := a2a.SecurityScheme{Name: use.Scheme}
			if i := named(declared, use.Scheme); i >= 0 {
				s = declared[i]
			}
			list = append(list, s)
		}
	}
	return list
}

// schemeType reads the names of security schemes: 1.x's member, the short form of
// a2a-go's hybrid cards, and 0.3's type.
func schemeType(name string) (string, bool) {
	switch name {
	case "apiKeySecurityScheme", "apiKey":
		return "apiKey", true
	case "httpAuthSecurityScheme", "http":
		return "http", true
	case "oauth2SecurityScheme", "oauth2":
		return "oauth2", true
	case "openIdConnectSecurityScheme", "openIdConnect":
		return "openIdConnect", true
	case "mtlsSecurityScheme", "mutualTLS":
		return "mutualTLS", true
	}
	return "", false
}

func securityScheme(name string, v gjson.Result) a2a.SecurityScheme {
	s := a2a.SecurityScheme{Name: name, Raw: a2a.JSON(v.Raw)}
	inner := v
	if c := v.Get("scheme"); c.IsObject() {
		// {"scheme":{"$case":"httpAuthSecurityScheme","value":{…}}}
		s.Type, _ = schemeType(text(c.Get(`\$case`)))
		inner = c.Get("value")
	} else if t := text(v.Get("type")); t != "" {
		s.Type, _ = schemeType(t)
	}
	// The member of a type is 1.x's form; a hybrid card says it both ways.
	v.ForEach(func(k, value gjson.Result) bool {
		t, ok := schemeType(k.Str)
		if !ok || !value.IsObject() || s.Type != "" && s.Type != t {
			return true
		}
		s.Type = t
		if !says(inner) {
			inner = value
		}
		return false
	})
	switch s.Type {
	case "http":
		s.Scheme = strings.ToLower(text(inner.Get("scheme")))
	case "apiKey":
		s.Location = strings.ToLower(cmp.Or(text(inner.Get("location")), text(inner.Get("in"))))
		s.Key = text(inner.Get("name"))
	case "oauth2":
		s.MetadataURL = text(inner.Get("oauth2MetadataUrl"))
		s.Flows = flows(inner.Get("flows"))
	case "openIdConnect":
		s.MetadataURL = text(inner.Get("openIdConnectUrl"))
	}
	return s
}

// says reports whether a scheme is described by this object itself, and not in a member
// of it.
func says(v gjson.Result) bool {
	return slices.ContainsFunc([]string{"name", "scheme", "flows", "openIdConnectUrl"}, func(member string) bool { return v.Get(member).Exists() })
}

// flows reads OAuth flows: several in 0.3, one in 1.x.
func flows(v gjson.Result) (list []a2a.OAuthFlow) {
	if c := v.Get("flow"); c.IsObject() { // {"flow":{"$case":"authorizationCode","value":{…}}}
		list = append(list, flow(text(c.Get(`\$case`)), c.Get("value")))
		return list
	}
	for _, t := range []string{a2a.FlowAuthorizationCode, a2a.FlowDeviceCode, a2a.FlowClientCredentials, a2a.FlowImplicit, a2a.FlowPassword} {
		if f := v.Get(t); f.IsObject() {
			list = append(list, flow(t, f))
		}
	}
	return list
}

func flow(flowType string, v gjson.Result) a2a.OAuthFlow {
	f := a2a.OAuthFlow{
		Type:             flowType,
		AuthorizationURL: text(v.Get("authorizationUrl")),
		TokenURL:         text(v.Get("tokenUrl")),
		DeviceURL:        text(v.Get("deviceAuthorizationUrl")),
	}
	v.Get("scopes").ForEach(func(name, _ gjson.Result) bool {
		f.Scopes = append(f.Scopes, name.Str)
		return len(f.Scopes) < maxSchemes
	})
	return f
}
