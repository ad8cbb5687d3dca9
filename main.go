// A2astdio lets an editor, or a shell, talk to an A2A agent.
package main

import (
	"io"
	"log"
	"os"

	"github.com/a2astdio/a2astdio/internal/cli"
	_ "github.com/a2astdio/a2astdio/internal/oneproc"
)

// version is set by -ldflags "-X main.version=v1.2.3"; the default is what the go
// command knows.
var version string

func main() {
	log.SetOutput(io.Discard) // net/http writes there what an agent sends behind its answer
	os.Exit(cli.Main(cli.UntilSignal(), os.Args, os.Stdin, os.Stdout, os.Stderr, version))
}
