// Package poison lets this module's tests find code that keeps an event for too long:
// events are views of a buffer, valid until the next read of their stream.
package poison

import "net/http"

// A RoundTripper, given as transport.ClientOptions.RoundTripper, makes the client
// overwrite what its streams have returned once it is no longer valid. It costs time.
type RoundTripper struct{ http.RoundTripper }

func (RoundTripper) poisons() {}

// Wanted identifies a RoundTripper. It is an interface so that programs do not link the
// type.
type Wanted interface{ poisons() }
