// Package credentials knows who the user is to an agent: it finds credentials
// where the user has put them, or signs in and keeps what comes of that.
//
// A [Source] is transport.ClientOptions.Credentials. It asks, in this order,
//
//	what was given     a bare token (a variable, a file), or a command
//	                   (command.go): command line, environment, configuration;
//	                   which of them counts is decided by who fills [Options]
//	the client itself  a client ID, its secret and an issuer (provider.go)
//	a sign-in          what [Source.SignIn] has stored (login.go, store.go)
//
// and places what it gets where the agent's card wants it (place.go): in a header,
// the query or a cookie. Where a card needs several schemes together, what was
// given and what is stored are put together.
//
// # Whom what is told
//
// A credential for the agent goes to the agent's origin: transport sees to that.
// What belongs to an identity provider (codes, client secrets, refresh tokens) goes
// to the endpoints of a provider that the user has configured, or has confirmed at
// a sign-in; these endpoints are stored with the sign-in and not read from a card
// again (package oauth, signin.go).
//
// # Renewal
//
// One caller renews, the others wait for it and use what it got (cache.go); a
// renewal goes on when whoever asked for it has given up, because a provider that
// gives a new refresh token each time ends the sign-in if an old one is used again.
// For the same reason bridges that run side by side renew under a lock of the
// file. What fails for the moment is not tried again at once.
//
// # Goroutines
//
// One a renewal, ended by its time limit, or by [Source.Close].
package credentials
