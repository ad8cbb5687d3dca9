// Package credentials identifies the user to an agent: it finds the user's credentials,
// or signs in and stores the result.
//
// A [Source] is transport.ClientOptions.Credentials. It asks, in this order,
//
//	what was given     a bare token (a variable, a file), or a command
//	                   (command.go): command line, environment, configuration;
//	                   which of them counts is decided by who fills [Options]
//	the client itself  a client ID, its secret and an issuer (provider.go)
//	a sign-in          what [Source.SignIn] has stored (login.go, store.go)
//
// and places the credential where the agent's card wants it (place.go): in a header,
// the query or a cookie.
//
// # Where secrets go
//
// transport sends a credential for the agent only to the agent's origin. An identity
// provider's secrets (codes, client secrets, refresh tokens) go to the endpoints of a
// provider that the user has configured, or confirmed at a sign-in. These endpoints are
// stored with the sign-in, and not read from a card again (package oauth, signin.go).
//
// # Renewal
//
// One caller renews, and the others wait for its result (cache.go). A renewal goes on
// when its caller has given up: a provider that replaces refresh tokens ends the
// sign-in if an old one is used again. For the same reason parallel bridges renew under
// a lock of the file. After a passing failure nothing is tried for a moment.
//
// # Goroutines
//
// Each renewal has one. It ends by its time limit, or by [Source.Close].
package credentials
