// Package view says what the records of a trace mean, for people: who said what to
// whom, in a line ([Item]); and what belongs together and how long it took: turns,
// the requests to the agent that they caused, tool calls, approvals, reconnects
// ([Span]).
//
// It reads the wires by itself and shares no code with the bridge, which may be
// what is wrong. What it does not know it shows by its name.
package view
