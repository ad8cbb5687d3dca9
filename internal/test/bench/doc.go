// Package bench measures what the bridge costs, and shows that it loses nothing.
//
// The harness is a fake agent and the editor's end of the pipe. Between them is a
// process, in turns one of these: a raw copy of the response to stdout (the limit), a
// frame scan (server-sent events joined into one write, no JSON), and the bridge,
// driven over ACP. All read the same bytes from the same server over loopback TCP, and
// write to the same kind of pipe. Only ratios within a round are meaningful: a round
// runs each process once, and the figure is the median of the rounds.
//
// Each run counts the marks in the texts, so that a loss is seen. That the text is the
// agent's, byte by byte and in order, is what FuzzHotPath and other tests hold.
//
//	go run ./internal/test/bench/cmd/a2abench            every scenario
//	go run ./internal/test/bench/cmd/a2abench -list      which there are
//
// CI checks only the number of allocations for each event, which is exact: see
// TestAllocations.
//
// # Goroutines
//
// The agent has one that serves, until it is closed. A baseline has one for each message, until its answer has ended.
package bench
