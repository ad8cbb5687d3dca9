// Package demo is an A2A agent without a model: an HTTP handler that tells a fixed set
// of stories. It serves `--agent demo`, `a2astdio demo --listen`, and the tests of all
// other packages.
//
// It speaks A2A over JSON-RPC and SSE, and the whole development-tool extension in both
// directions: at least one story uses each field, which a test checks.
//
// It shares no code with transport or mapping: a server with the client's structs would
// agree with the client's mistakes.
//
// # The life of a task
//
// A prompt without a task creates one, and a goroutine tells the story that the
// prompt's first word selects. A story is a straight-line function: when it needs an
// answer, it pauses the task (input-required, final) and blocks, so its program counter
// is its state. It appends all events to the task's log. A stream reads that log by
// index; if it is slow or ends, neither the story nor another stream notices. Only
// tasks/cancel and [Agent.Close] end a story early.
//
// # Spellings
//
// Tasks, events and stories are independent of A2A's version. spell.go reads and writes
// them; the A2A-Version header selects one for each request. So clients of
// both versions can follow the same task.
//
// # As strict as the specification
//
// A lenient agent hides a client's mistakes, so this one is as strict as the
// specifications allow. devtool.go reads the extension's objects: unknown fields are
// errors. session.go requires AgentSettings in the first message, and accepts only
// context IDs of its own. reply.go accepts only answers to open questions, with an
// offered option. It requires the extension. A refusal has a sentence (-32602, -32008
// without the extension), and changes nothing.
//
// A story with approvals reports at its end what it has done, or would have done. So an
// approval that nobody gave becomes visible.
//
// # Goroutines
//
// Each story has one, owned by the Agent;
// [Agent.Close] or tasks/cancel ends it. Each connection has one, and one accepts
// connections; the http.Server of whoever serves the agent owns them, and closing it ends
// them.
package demo
