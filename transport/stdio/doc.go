// Package stdio is the editor's end of the bridge: newline-delimited JSON-RPC 2.0
// over two byte streams, as the library needs it to survive real editors. [Conn]
// says what it holds. [NewConn] makes one, which is an ObjectStream for
// sourcegraph/jsonrpc2.
package stdio
