package agentproc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

const (
	// grace is the time between SIGTERM and SIGKILL. All of it must be over within a second,
	// of which cancelling the agent's work may have taken a part.
	grace = 300 * time.Millisecond

	removeWord = "--remove"

	// Exit statuses of a command that could not run, as in shells.
	statusMisuse    = 2
	statusNotFound  = 127
	statusCannotRun = 126
)

// SuperviseWord begins the command line of the process that holds an agent. It is no
// command of the app: people have no use for it, and options and variables before a command
// must not reach it.
const SuperviseWord = "supervise"

// Supervise runs an agent until it ends or the leash does, and returns its exit status
// when all of its processes have ended; 128+n if signal n ended it. The hidden command
// supervise runs it in a process of its own, because it changes how that handles
// signals and children.
//
// The end of the leash is the order to end the agent. The agent's stdout and stderr are
// both stderr; its stdin is empty.
//
// The command follows a "--". Before it may stand "--remove DIR": a directory that the
// supervisor removes if the bridge was killed, and so wrote nothing before the leash's end.
func Supervise(args []string, leash io.Reader, stderr io.Writer) int {
	remove, argv := "", args
	if len(argv) > 1 && argv[0] == removeWord {
		remove, argv = argv[1], argv[2:]
	}
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	out, ok := stderr.(*os.File)
	if !ok || len(argv) == 0 {
		fmt.Fprintln(stderr, "a2astdio: supervise is how a2astdio holds the agent of --agent-command: use that")
		return statusMisuse
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		fmt.Fprintf(out, "a2astdio: there is no program to run: %v\n", err)
		return statusNotFound
	}
	var orphaned atomic.Bool
	order := make(chan struct{})
	// Ends with the leash, or with the process: nothing else is sure to end a read of a
	// pipe.
	go func() {
		n, _ := io.Copy(io.Discard, leash) // an error ends it, too
		orphaned.Store(n == 0)
		close(order)
	}()
	status := supervise(path, argv, order, out)
	if remove != "" && orphaned.Load() {
		if err := os.RemoveAll(remove); err != nil {
			fmt.Fprintf(out, "a2astdio: what was made for the agent is not removed: %v\n", err)
		}
	}
	return status
}
