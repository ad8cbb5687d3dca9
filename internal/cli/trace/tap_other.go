//go:build !unix

package trace

import "os"

// passedOn are the signals that tap passes on to the command.
func passedOn() []os.Signal { return []os.Signal{os.Interrupt} }
