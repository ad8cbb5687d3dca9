// Package replay plays a recorded conversation again: the agent's side as an A2A
// server ([Agent]), for any client, or the editor's side against a bridge
// ([PlayEditor]).
//
// Requests are matched by what they mean, because IDs differ from run to run: what
// the client calls its messages and contexts now is put in the place of what they
// were called then. What was not recorded is answered from what was, as far as that
// goes: a task that is asked for, or subscribed to after a connection that was cut
// on purpose, is as the events so far have made it.
// A task that is held whole is not enough for a bridge that knows a dialect whose agents
// keep part of what they say (Gemini's): after a cut it says, as with the agent that was
// recorded, that something may be missing, and shows all the same.
package replay
