// Package bench measures what the bridge costs, and shows that it loses nothing.
//
// A fake agent and the editor's end of the pipe live in the harness; what is
// between them is a process of its own, in turns: a raw copy of the response to
// stdout (the limit), a frame scan (server-sent events joined into one write for
// what has arrived, no JSON), and the bridge, driven over ACP. All of them read
// the same bytes from the same server over loopback TCP and write to the same
// kind of pipe. Only ratios within a round mean something: a round runs each of
// them once, and the figure is the median of the rounds.
//
// Nothing lost is checked twice: each timed run counts the marks that the texts
// hold, and before the first round a small run of the same scenario is decoded
// and its text compared, byte by byte and in order.
//
//	go run ./internal/test/bench/cmd/a2abench            every scenario
//	go run ./internal/test/bench/cmd/a2abench -list      which there are
//	go run ./internal/test/bench/cmd/a2abench -short     a smoke test for CI: no times that count
//	go test -bench . ./internal/test/bench               the hot path inside the process
//
// What CI holds against regressions is the number of allocations for each event,
// which is exact: see TestAllocations.
package bench
