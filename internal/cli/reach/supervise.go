package reach

import (
	"fmt"
	"io"
	"os"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

// SuperviseWord begins the command line of the process that holds an agent for us. The
// app does not list it as a command: people have no use for it, and options and
// variables before a command must not reach it.
const SuperviseWord = "supervise"

// Supervise runs the agent in args, as [agentproc.Supervise] defines them, until stdin
// ends, and returns its exit status. It writes nothing on stdout.
func Supervise(args []string, stdin io.Reader, stderr io.Writer) int {
	out, ok := stderr.(*os.File)
	if !ok || len(args) == 0 {
		fmt.Fprintln(stderr, "a2astdio: supervise is how a2astdio holds the agent of --agent-command: use that")
		return frame.ExitUsage
	}
	return agentproc.Supervise(args, stdin, out)
}
