// Package demo is an A2A agent that needs no model: an HTTP server that
// tells a fixed set of stories. It answers `--agent demo`, it serves
// `a2astdio demo --listen`, and it is the agent that the tests of every other
// package talk to.
//
// It speaks A2A over JSON-RPC and SSE and the whole of the development-tool
// extension, in both directions: whatever the extension can say is said by at
// least one story, which a test proves field by field.
//
// It shares no code with transport or mapping on purpose. A server that used
// the client's structs would agree with the client's mistakes.
//
// # The life of a task
//
// A prompt that names no task creates one, and a goroutine tells the story
// that the prompt's first word picks. A story is a straight-line function: when
// it needs an answer it pauses the task (input-required, final) and blocks, so
// the program counter is the story's state. Everything it says is appended to
// the task's log. A stream is a reader of that log, by index: it can be slow, or
// gone, and neither the story nor another stream notices. Nothing but
// tasks/cancel and [Agent.Close] ends a story early.
//
// # Spellings
//
// Tasks, events and stories know no version of A2A. wire_v03.go and wire_v1.go
// read and write them; [Options] and the A2A-Version header pick one for each
// request, so clients of both versions can follow the same task, too.
//
// # With and without the extension
//
// Every event is kept in one neutral form and spelled for each reader. A reader
// that activated the extension by header sees thoughts, tool calls and metadata;
// another sees text and states only, and is asked in prose where the first one
// gets a confirmation request. The two can follow the same task.
//
// # Goroutines
//
// One a story, owned by the Agent, ended by [Agent.Close] or tasks/cancel; one
// a connection and one accepting them, owned by the http.Server of [Pipe] or
// [Agent.Listen], ended by closing it.
package demo
