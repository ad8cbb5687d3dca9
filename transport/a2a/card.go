package a2a

import (
	"mime"
	"slices"
	"strings"
)

// Card is what an agent says about itself, whichever version of A2A its card is written
// in.
type Card struct {
	Name             string
	Description      string
	Version          string
	DocumentationURL string
	Provider         string
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
	// Requirements say which schemes are needed: any one of them is enough. An empty
	// list means that the card asks for nothing; a gateway before the agent may still
	// ask.
	Requirements []Requirement
	// Security are the schemes that Requirements name.
	Security []SecurityScheme
	// Schemes are all that the card declares. Some declare one and forget to
	// require it.
	Schemes []SecurityScheme
	// Extended says that this is the fuller card for callers that the agent knows.
	Extended bool
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
	// Requirements are what it needs in place of the card's, if it says.
	Requirements []Requirement
}

// Takes reports whether the agent takes files of a media type, by its input modes, or
// some of those of "image/*". The modes should be media types, but agents also write
// "image", "file" or "*"; text alone means the text of a prompt. A card that names none
// may take any.
func (c *Card) Takes(media string) bool {
	major, minor, _ := strings.Cut(media, "/")
	return len(c.InputModes) == 0 || slices.ContainsFunc(c.InputModes, func(mode string) bool {
		if parsed, _, err := mime.ParseMediaType(mode); err == nil {
			mode = parsed
		}
		switch mode {
		case "*", "*/*", "file", media, major + "/*":
			return true
		case major:
			return major != "text"
		}
		return minor == "*" && strings.HasPrefix(mode, major+"/")
	})
}

// IsExtensionKey reports whether a key of metadata is a URI: an extension's, not the agent's own.
func IsExtensionKey(key string) bool {
	return strings.Contains(key, "://") || strings.HasPrefix(key, "urn:")
}

// SecurityScheme is a way to authenticate (specification 0.3, §5.5.3; 1.0,
// §4.5.2).
type SecurityScheme struct {
	// Name is the card's own name for it.
	Name string
	// Type is apiKey, http, oauth2, openIdConnect or mutualTLS; "" if it is none of
	// them, or if the card names the scheme without declaring it.
	Type string
	// Scheme is the HTTP authentication scheme of an http one, in lower case:
	// bearer, basic.
	Scheme string
	// Location and Key say where an apiKey goes: header, query or cookie, and
	// under which name.
	Location string
	Key      string
	// Flows are the OAuth flows of an oauth2 one.
	Flows []OAuthFlow
	// MetadataURL is where an oauth2 or openIdConnect one describes its provider;
	// for openIdConnect it is always there.
	MetadataURL string
}

// The types of OAuth flows. Implicit and password are obsolete: OAuth 2.1 has
// neither, and A2A 1.x keeps them for old cards.
const (
	FlowAuthorizationCode = "authorizationCode"
	FlowClientCredentials = "clientCredentials"
	FlowDeviceCode        = "deviceCode"
	FlowImplicit          = "implicit"
	FlowPassword          = "password"
)

// OAuthFlow is one way to get an OAuth token. What does not belong to its type is
// empty.
type OAuthFlow struct {
	Type             string
	AuthorizationURL string
	TokenURL         string
	DeviceURL        string
	// Scopes are those that the card describes.
	Scopes []string
}

// A Requirement names schemes that are needed together. A card's requirements are
// alternatives; one without schemes lets everybody in.
type Requirement []SchemeUse

// SchemeUse is a scheme that a requirement names, and the scopes it wants.
type SchemeUse struct {
	Scheme string
	Scopes []string
}
