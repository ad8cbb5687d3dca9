// Package replay plays a recorded conversation: the agent's side as an A2A server
// ([Agent]) for any client, or the editor's side against a bridge ([PlayEditor]).
//
// It matches requests by their meaning, because IDs differ from run to run: it replaces
// the recorded IDs of messages and contexts by the client's current ones. It answers an
// unrecorded request from the record, as far as possible: a task that is asked for, or
// subscribed to after a deliberate cut, is in the state of the events so far. That is
// not enough for a bridge that knows a dialect whose agents keep only part of what they
// say (Gemini's). After a cut it shows everything, but says that something may be
// missing, as with the recorded agent.
package replay
