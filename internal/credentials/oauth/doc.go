// Package oauth gets tokens from an identity provider: it finds the provider's
// endpoints, signs a user in by browser or by device code, gets tokens for a program,
// renews tokens and revokes them.
//
// It does not decide whom to trust: the caller vouches for a [Provider], and secrets (a
// code, a client secret, a refresh token) go to its endpoints only. Package credentials
// has the rules, and stores the tokens.
//
// golang.org/x/oauth2 makes the requests of the token endpoint, github.com/coreos/
// go-oidc verifies ID tokens. What neither has is here: the metadata of RFC 8414,
// the loopback redirect of RFC 8252, the issuer in the answer
// (RFC 9207), registration (RFC 7591) and revocation (RFC 7009).
//
// A sign-in by browser has a goroutine that serves the redirect; the sign-in ends it, and waits for it.
package oauth
