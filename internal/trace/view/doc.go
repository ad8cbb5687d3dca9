// Package view interprets the records of a trace for people: who said what to whom, in
// a line ([Item]); and what belongs together and how long it took ([Span]): turns,
// their requests to the agent, tool calls, approvals, reconnects.
//
// It shares no code with the bridge, whose fault may be the reason for the trace. It
// shows what it does not know by its name.
package view
