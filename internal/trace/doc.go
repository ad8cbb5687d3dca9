// Package trace records what crosses the wires, and reads the records.
//
// A [Recorder] is handed the editor's lines ([Recorder.Tap]), wraps the way to the
// agent ([Recorder.Wrap]), and is told what the bridge decides ([Recorder.Decide]).
// The wires only copy bytes into its queue. One goroutine frames, masks and writes
// them; docs/trace-format.md says what it writes. A [Reader] gives back a [Record] a
// line, whatever has happened to the file.
//
// What is done with traces is in packages of their own:
//
//   - view: what a record means, and what belongs together;
//   - web: the page, and HAR;
//   - check: the schemas and laws of the protocols;
//   - replay: the agent, or the editor, of a trace;
//   - proxy: what else can be recorded (and tap, which is in internal/cli/trace);
//   - fault: what can be made to go wrong.
//
// The writing goroutine alone has the masker and the file; [Recorder.Close] ends it, and waits. What other
// goroutines call (the queue, a masked log, the list of secrets) has a mutex each.
package trace
