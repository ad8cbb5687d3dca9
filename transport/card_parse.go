package transport

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file reads cards as agents serve them: of 0.3, of 1.x, of both at once (JS
// without an A2A-Version header), with the inner form of an SDK's types ("$case"), and
// without members that the specification requires. A card is refused only if it is no
// object; choose reports an agent that cannot be called.

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
			Requirements: requirements(s),
		})
	}
	card.Requirements = requirements(r)
	card.Schemes = schemes(r)
	card.Security = required(card.Schemes, card.Requirements)
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
			Version: cmp.Or(text(i.Get("protocolVersion")), version, "1.0"), // only 1.x has this list
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

// saysNoStreaming reports whether the card denies streaming. An agent whose card does
// not mention it is asked to stream: cards leave out abilities that their agents have.
func saysNoStreaming(card *a2a.Card) bool {
	return gjson.Get(string(card.Raw), "capabilities.streaming").Type == gjson.False
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
