//go:build !unix

package cli

import "os"

// passedOn are the signals that a command gets which is listened to.
func passedOn() []os.Signal { return []os.Signal{os.Interrupt} }
