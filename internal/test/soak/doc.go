// Package soak tests the whole program against a world that is not kind: a
// network that loses connections, and processes that are killed. It has tests
// only. The bridge is a process of its own; it is the test's binary, executed
// again, so that -race looks at it, too.
//
//	go test ./internal/test/soak                          some seconds of both
//	go test ./internal/test/soak -run Soak -soak=10m      ten minutes of bad network
//	go test ./internal/test/soak -run Kill -kills=200     two hundred deaths
//	go test ./internal/test/soak -run Soak -seed=N        the faults of N again
//
// (The package comes first: what follows a flag that the go command does not know
// is the test's.)
//
// With -artifacts TestSoak leaves a trace of all that was said, some megabytes a
// second (see -outputdir).
//
// TestSoak has editors talk to the demo agent through a proxy that delays, cuts
// up, stalls, resets and half-closes its connections. What it does is drawn from
// a generator that a seed begins. So are the prompts; how they fall together is
// up to the scheduler, which is why a seed makes a failure likely, not certain.
//
// TestKill kills the bridge, the editor or the agent somewhere in the demo's
// edit story, and goes on with the session in another bridge.
package soak
