package a2a

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
	Raw         JSON
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
