package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/a2astdio/a2astdio/internal/agentproc"
)

// superviseWord begins the command line of the process that holds an agent for us. The
// app does not list it as a command: people have no use for it, and options and
// variables before a command must not reach it.
const superviseWord = "supervise"

// supervise runs the agent in args, as [agentproc.Supervise] defines them, until stdin
// ends, and returns its exit status. It writes nothing on stdout.
func supervise(args []string, stdin io.Reader, stderr io.Writer) int {
	out, ok := stderr.(*os.File)
	if !ok || len(args) == 0 {
		fmt.Fprintln(stderr, "a2astdio: supervise is how a2astdio holds the agent of --agent-command: use that")
		return exitUsage
	}
	return agentproc.Supervise(args, stdin, out)
}
