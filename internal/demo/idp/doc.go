// Package idp is a small identity provider: OAuth 2.1 with OpenID Connect on top,
// in memory. The demo agent has one (a2astdio demo --auth oauth2), and the tests of
// signing in have theirs.
//
// It is as strict as the specifications let a provider be: PKCE with S256, each
// code once (a second use ends what the first one gave), refresh tokens that are
// new each time (the use of an old one ends the family: RFC 9700, §4.14.2),
// redirects that are registered, the port of a loopback one excepted (RFC 8252,
// §7.3). It knows one user, who has no password: its page asks whether to go on.
//
// It shares no code with the client. What it gives is worth nothing elsewhere.
package idp
