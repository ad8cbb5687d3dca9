// Package soak tests the whole program with killed processes, each of which is the test's
// binary, executed again. It has tests only. Connections that fail are worlds of package shapes,
// and cuts at each byte those of package bridge.
//
//	go test ./internal/test/soak -kills=200     two hundred deaths
//
// (The package comes first: what follows a flag that the go command does not know
// is the test's.)
//
// TestKill kills the bridge, the editor or the agent somewhere in the demo's edit
// story, and continues the session in another bridge.
package soak
