// A2abench measures the bridge against baselines; see package bench.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/a2astdio/a2astdio/internal/test/bench"
)

func main() {
	// The child's stdout is the editor's pipe, the harness's the table: nothing else may
	// write to it.
	stdout := os.NewFile(1, "stdout")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	if bench.IsChild() {
		os.Exit(bench.Child(ctx, os.Args[1:], os.Stdin, stdout, os.Stderr))
	}
	code := bench.Main(ctx, os.Args[1:], stdout, os.Stderr)
	stop()
	os.Exit(code)
}
