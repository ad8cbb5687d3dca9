//go:build !linux

package serve

import "io"

// polled is for Linux only: see the other one.
func polled(r io.Reader) io.Reader { return r }
