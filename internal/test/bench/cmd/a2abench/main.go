// A2abench measures the bridge against baselines; see package bench.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/a2astdio/a2astdio/internal/test/bench"
)

func main() {
	// The editor's end of the pipe is the child's stdout, and the table's the
	// harness's: nothing else writes to it.
	stdout := os.NewFile(1, "stdout")
	if bench.IsChild() {
		os.Exit(bench.Child(os.Args[1:], os.Stdin, stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := bench.Main(ctx, os.Args[1:], stdout, os.Stderr)
	stop()
	os.Exit(code)
}
