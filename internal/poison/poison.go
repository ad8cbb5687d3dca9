// Package poison lets tests of this module find who keeps an event for too long:
// events are views of a buffer, valid until the next read of their stream.
package poison

import "net/http"

// A RoundTripper, given as transport.ClientOptions.RoundTripper, makes the client
// overwrite what its streams have returned as soon as it is no longer valid. It costs
// time.
type RoundTripper struct{ http.RoundTripper }

func (RoundTripper) poisons() {}

// Wanted is what a RoundTripper is known by. It is an interface so that programs do not
// link the type.
type Wanted interface{ poisons() }
