// Package soak tests the bridge with a bad network, and the whole program with killed
// processes, each of which is the test's binary, executed again. It has tests only.
//
//	go test ./internal/test/soak                          some seconds of both
//	go test ./internal/test/soak -run Soak -soak=10m -timeout=15m   ten minutes of bad network
//	go test ./internal/test/soak -run Kill -kills=200     two hundred deaths
//	go test ./internal/test/soak -run Soak -seed=N        the faults of N again
//
// (The package comes first: what follows a flag that the go command does not know
// is the test's.)
//
// With -artifacts TestSoak leaves a trace, some megabytes a second (see -outputdir).
//
// In TestSoak editors talk to the demo agent through a proxy that delays,
// stalls, resets and half-closes connections. A seeded generator chooses faults and
// prompts. The scheduler decides how they coincide, so a seed makes a failure likely,
// not certain.
//
// TestKill kills the bridge, the editor or the agent somewhere in the demo's edit
// story, and continues the session in another bridge.
package soak
