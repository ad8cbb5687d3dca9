// Package companion is the IDE companion that terminal agents such as Gemini CLI
// and Qwen Code look for: an MCP server on this machine that tells them which
// files the user has open, and has their edits shown as diffs in the editor.
// The contract is Gemini CLI's "companion plugin: Interface specification";
// docs/companion.md says where the real CLIs differ from it, and that they win.
//
// # For a caller
//
// [Start] listens, writes the discovery files and tells the [Editor] where it is
// ([MethodStarted]). Give the editor's messages to [Server.Handle]; requests to the
// editor come by [Editor.Request]. [Server.Close] removes the files and ends the server.
// It knows nothing of the bridge: an Editor takes a few lines.
//
// # How it works inside
//
//	editor ── Handle ──▶ hub ── sendContext, sendDecision ──▶ session ── SSE ──▶ CLI
//	editor ◀─ Request ── hub ◀─ openDiff, closeDiff, end ──── session ◀─ POST ── CLI
//
// The hub (hub.go, context.go, diffs.go) owns the context and the open diffs. It
// knows an Editor, and the sessions of the MCP server (session.go,
// http.go), which knows neither files nor diffs; MCP's words are in mapping/mcp, and who may ask is decided in
// internal/mcphttp. The discovery files (discovery.go) are apart from both.
//
// # Goroutines, and who ends them
//
//	HTTP server, and one per       Server.Close
//	connection (net/http)
//	one per stream (its GET)       its connection, its session's end, Server.Close
//	publisher of the context       Server.Close
//	one per diff that the editor   the editor's answer, editorWait, Server.Close
//	is asked to close
//
// # Why there is no MCP SDK in it
//
// github.com/modelcontextprotocol/go-sdk v1.8.0 was tried. It would do, but Go
// initialises what is linked, used or not: encoding/gob and the schemas of the
// SDK made each start of the program 1.1 to 1.3 times as long and took 1.5 MiB more
// memory, with the companion off. The server needs five methods of MCP, and
// notifications that the SDK has no call for.
package companion
