// Package oauth gets tokens from an identity provider: it finds out where the
// provider's endpoints are, signs a user in by browser or by device code, gets
// tokens for a program, renews them and gives them back.
//
// Who may be trusted is not decided here: a [Provider] is what somebody vouches
// for, and everything secret (a code, a client secret, a refresh token) goes to its
// endpoints alone. Package credentials has the rules, and keeps the tokens.
//
// golang.org/x/oauth2 makes the requests of the token endpoint, github.com/coreos/
// go-oidc verifies ID tokens. What neither has is here: the metadata of RFC 8414
// and RFC 9728, the loopback redirect of RFC 8252, the issuer in the answer
// (RFC 9207), registration (RFC 7591) and revocation (RFC 7009).
package oauth
