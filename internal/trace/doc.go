// Package trace writes down what passes on both wires, one JSON object a line,
// so that a conversation can be looked at afterwards and handed to somebody
// else.
//
// A line has the time ("t"), the wire ("editor" or "agent") and the direction
// ("in" is towards the bridge, "out" from it). An editor's line is its
// "message". What happens on the agent's wire is an "event" of a numbered
// "exchange", which is one HTTP request and its response:
//
//	request   out   method, url, header, body
//	response  in    status, header
//	sse       in    an event of a stream: message, and its name and id
//	body      in    an answer that is no stream
//	end       in    bytes, ms, and what broke it off, if anything did
//	error     in    no response came
//
// JSON is under "message", what is not JSON under "text"; of what is longer than
// the limit, "cut" counts the bytes that are missing. The bridge's own first
// line (wire "bridge") names the format.
//
// # Credentials
//
// A trace is there to be shown to others, so no credential gets into it: see
// mask.go. Where a name or a shape makes a value look like a credential, it is
// masked: rather one value too many than one too few. What a user types into a
// prompt cannot be told from any other text, unless it is one of the program's
// own credentials.
//
// # What it costs the wires
//
// Bytes are looked at as they pass and never held back. What is being put
// together (a body, an event of a stream) is kept up to the limit and counted
// from there. An error of the file ends the trace, not the conversation.
package trace
