package a2a

import "strings"

// Card is what an agent says about itself, from whatever generation of card it
// serves.
type Card struct {
	Name             string
	Description      string
	Version          string
	DocumentationURL string
	Provider         string
	IconURL          string
	// Interfaces are where the agent is reached, in its order of preference.
	Interfaces []Interface
	Streaming  bool
	Push       bool
	// ExtendedCard: an authenticated caller may ask for a fuller card.
	ExtendedCard bool
	Extensions   []Extension
	InputModes   []string
	OutputModes  []string
	Skills       []Skill
	// Security names the schemes of which one set must be met; empty: open.
	Security []SecurityScheme
	// Raw is the card as served.
	Raw JSON
}

// Interface is one way to reach an agent.
type Interface struct {
	URL string
	// Binding is JSONRPC, GRPC, HTTP+JSON, or a URI.
	Binding string
	// Version is the protocol version, as the card writes it; empty if it does
	// not say.
	Version string
	// Tenant is echoed in each 1.x request, if the card names one.
	Tenant string
}

// Extension is an extension that an agent declares.
type Extension struct {
	URI         string
	Description string
	Required    bool
	Params      JSON
}

// Skill is something that an agent says it can do.
type Skill struct {
	ID          string
	Name        string
	Description string
}

// SecurityScheme is a way to authenticate.
type SecurityScheme struct {
	// Name is the card's own name for it.
	Name string
	// Type is apiKey, http, oauth2, openIdConnect or mutualTLS.
	Type string
	// Scheme is the HTTP authentication scheme of an http one: bearer, basic.
	Scheme string
	// Location and Key say where an apiKey goes: header, query or cookie, and
	// under which name.
	Location string
	Key      string
	Raw      JSON
}

// Accepts reports whether the agent's input modes have a media type of this
// major type ("image", "audio"), or take anything.
func (c *Card) Accepts(major string) bool {
	for _, mode := range c.InputModes {
		if mode == "*/*" || mode == major || strings.HasPrefix(mode, major+"/") {
			return true
		}
	}
	return false
}
