package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/a2astdio/a2astdio/internal/agentproc"
)

// superviseWord begins the command line of the process that holds an agent for
// us. It is no command of the app's: people have no use for it, and the options
// and variables that come before a command must not be able to disturb it.
const superviseWord = "supervise"

// supervise runs the agent in args, as [agentproc.Supervise] has them, until stdin ends, and returns
// its exit status. It writes nothing on stdout.
func supervise(args []string, stdin io.Reader, stderr io.Writer) int {
	out, ok := stderr.(*os.File)
	if !ok || len(args) == 0 {
		fmt.Fprintln(stderr, "a2astdio: supervise is how a2astdio holds the agent of --agent-command: use that")
		return exitUsage
	}
	return agentproc.Supervise(args, stdin, out)
}
