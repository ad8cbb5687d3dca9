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
// # Between processes
//
// With [Options].Keep each task has a file, for the agents of other processes: keep.go
// reads and writes them, held.go says which process a task is in. A story that rests is
// on no disk: replay.go tells it again, silently, with what it had met on its way.
//
// # Spellings
//
// Tasks, events and stories know no version of A2A. wire_v03.go and wire_v1.go
// read and write them; [Options] and the A2A-Version header pick one for each
// request, so clients of both versions can follow the same task, too.
//
// # As strict as the specification
//
// A lenient agent hides what a client gets wrong, so this one is as strict as the
// specifications let an agent be. proto.go reads what a client says of the
// extension as a strict reader of proto3 JSON does; session.go wants AgentSettings
// in the first message and context IDs of its own; reply.go takes answers to what
// was asked, with an option that was offered, and nothing beside them. What is
// refused gets a sentence (-32602, -32008 without the extension) and has changed
// nothing.
//
// What the agent does, or would do, is recorded ([Agent.Executed]), and a story
// that asked for approval ends by saying it: an approval that nobody gave can be
// seen.
//
// # With and without the extension
//
// The extension is required, unless [Options].CoreClients says otherwise. Then every
// event, which is kept in one neutral form, is spelled for each reader: one that
// activated the extension by header sees thoughts, tool calls and metadata;
// another sees text and states only, and is asked in prose where the first one
// gets a confirmation request. The two can follow the same task.
//
// # Goroutines
//
// One a webhook, which posts what is in the log ([PushOptions]), ended by deleting it
// or by [Agent.Close]. One a story, owned by the Agent, ended by [Agent.Close] or tasks/cancel; one
// a connection and one accepting them, owned by the http.Server of [Pipe] or
// [Agent.Listen], ended by closing it.
package demo
