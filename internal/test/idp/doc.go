// Package idp is a small identity provider: OAuth 2.1 with OpenID Connect on top, in
// memory, for the tests of sign-ins and of what an agent does with tokens.
//
// It is as strict as the specifications allow. It requires PKCE with S256. A code works
// once, and a second use revokes the tokens of the first. Refresh tokens are new each
// time, and the use of an old one ends the family (RFC 9700, §4.14.2). Redirects must
// be registered, except for the port of a loopback address (RFC 8252, §7.3). It has one
// user without a password, who says yes unless the query has "allow=no".
//
// It shares no code with the client. Its tokens are worthless elsewhere.
package idp
