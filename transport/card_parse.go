package transport

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file reads cards as they are met: of 0.3, of 1.x, of both at once (JS
// without an A2A-Version header), with what an SDK's own types look like inside
// ("$case"), and without what the specification asks for. Nothing in a card is
// worth refusing it for, except that it is no object; what cannot be called is
// found out by choose.

// parseCard reads a card. base is where it came from: its URLs may be relative
// to that; nil if it has no such place. raw is a valid JSON object that the
// card keeps.
func parseCard(raw string, base *url.URL) *a2a.Card {
	r := gjson.Parse(raw)
	card := &a2a.Card{
		Name:             text(r.Get("name")),
		Description:      text(r.Get("description")),
		Version:          text(r.Get("version")),
		DocumentationURL: text(r.Get("documentationUrl")),
		IconURL:          text(r.Get("iconUrl")),
		Provider:         text(r.Get("provider.organization")),
		Streaming:        r.Get("capabilities.streaming").Bool(),
		Push:             r.Get("capabilities.pushNotifications").Bool(),
		ExtendedCard: r.Get("supportsAuthenticatedExtendedCard").Bool() ||
			r.Get("capabilities.extendedAgentCard").Bool(),
		InputModes:  texts(r.Get("defaultInputModes")),
		OutputModes: texts(r.Get("defaultOutputModes")),
		Raw:         a2a.JSON(raw),
	}
	card.Interfaces = interfaces(r, base)
	for _, e := range elements(r.Get("capabilities.extensions")) {
		if uri := text(e.Get("uri")); uri != "" {
			card.Extensions = append(card.Extensions, a2a.Extension{
				URI:         uri,
				Description: text(e.Get("description")),
				Required:    e.Get("required").Bool(),
				Params:      a2a.JSON(e.Get("params").Raw),
			})
		}
	}
	for _, s := range elements(r.Get("skills")) {
		card.Skills = append(card.Skills, a2a.Skill{
			ID: text(s.Get("id")), Name: text(s.Get("name")), Description: text(s.Get("description")),
		})
	}
	card.Security = security(r)
	return card
}

// interfaces lists 1.x's interfaces first: they have an order of preference, and
// a card of both generations repeats them in 0.3's members.
func interfaces(r gjson.Result, base *url.URL) (list []a2a.Interface) {
	add := func(i a2a.Interface) {
		if i.URL == "" {
			return
		}
		if u, err := url.Parse(i.URL); err == nil && base != nil {
			i.URL = base.ResolveReference(u).String()
		}
		if i.Binding == "" {
			// 0.3's default; trpc-a2a-go and Gemini leave it out.
			i.Binding = bindingJSONRPC
		}
		same := func(j a2a.Interface) bool {
			iMajor, iMinor := majorMinor(i.Version)
			jMajor, jMinor := majorMinor(j.Version)
			return i.URL == j.URL && i.Binding == j.Binding && iMajor == jMajor && iMinor == jMinor
		}
		if !slices.ContainsFunc(list, same) {
			list = append(list, i)
		}
	}
	version := text(r.Get("protocolVersion"))
	for _, i := range elements(r.Get("supportedInterfaces")) {
		add(a2a.Interface{
			URL:     text(i.Get("url")),
			Binding: text(i.Get("protocolBinding")),
			Version: cmp.Or(text(i.Get("protocolVersion")), version),
			Tenant:  text(i.Get("tenant")),
		})
	}
	add(a2a.Interface{URL: text(r.Get("url")), Binding: text(r.Get("preferredTransport")), Version: version})
	for _, i := range elements(r.Get("additionalInterfaces")) {
		add(a2a.Interface{URL: text(i.Get("url")), Binding: text(i.Get("transport")), Version: version})
	}
	return list
}

// cardName is for errors.
func cardName(card *a2a.Card) string { return cmp.Or(card.Name, "the agent") }

// saysNoStreaming reports whether the card denies streaming. One that does not
// mention it is asked to stream: cards forget more than agents lack.
func saysNoStreaming(card *a2a.Card) bool {
	return gjson.Get(string(card.Raw), "capabilities.streaming").Type == gjson.False
}

// security lists the schemes that the card's requirements name, in that order.
// Schemes that no requirement names are not needed.
func security(r gjson.Result) (list []a2a.SecurityScheme) {
	schemes := r.Get("securitySchemes")
	need := func(name, _ gjson.Result) bool {
		if !slices.ContainsFunc(list, func(s a2a.SecurityScheme) bool { return s.Name == name.Str }) {
			s := a2a.SecurityScheme{Name: name.Str}
			schemes.ForEach(func(k, v gjson.Result) bool {
				if k.Str == name.Str {
					s = securityScheme(name.Str, v)
				}
				return k.Str != name.Str
			})
			list = append(list, s)
		}
		return true
	}
	for _, member := range []string{"securityRequirements", "security"} {
		for _, requirement := range elements(r.Get(member)) {
			if s := requirement.Get("schemes"); s.IsObject() {
				requirement = s
			}
			if requirement.IsObject() {
				requirement.ForEach(need)
			}
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
	if s.Type == "" {
		v.ForEach(func(k, value gjson.Result) bool {
			t, ok := schemeType(k.Str)
			if ok && value.IsObject() {
				s.Type, inner = t, value
			}
			return !ok
		})
	}
	switch s.Type {
	case "http":
		s.Scheme = strings.ToLower(cmp.Or(text(inner.Get("scheme")), text(v.Get("http.scheme"))))
	case "apiKey":
		s.Location = cmp.Or(text(inner.Get("location")), text(inner.Get("in")))
		s.Key = text(inner.Get("name"))
	}
	return s
}

// text returns a string, and "" for anything else: a number as a name is no name.
func text(r gjson.Result) string {
	if r.Type != gjson.String {
		return ""
	}
	return r.Str
}

func texts(r gjson.Result) (list []string) {
	for _, e := range elements(r) {
		if e.Type == gjson.String {
			list = append(list, e.Str)
		}
	}
	return list
}

// elements returns an array's elements; gjson.Array makes one of anything else.
func elements(r gjson.Result) []gjson.Result {
	if !r.IsArray() {
		return nil
	}
	return r.Array()
}
