// Package agent is an A2A agent for tests. It says what a [Script] tells, in A2A 0.3 or
// 1.0, keeps its tasks as the A2A SDKs do, and fails where the script wants it to. It is an
// [http.Handler]; package memnet is the network for it.
//
// It shares no code with the program, so that it cannot agree with its mistakes.
//
// Each task that goes on has a goroutine, which plays its steps; [Agent.Close] ends them, and waits.
package agent
