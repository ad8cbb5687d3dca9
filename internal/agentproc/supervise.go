package agentproc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

const (
	// lastGrace is what the agent gets between SIGTERM and SIGKILL if nobody says
	// otherwise: the bridge is dead, or the agent has ended and left children. All
	// of it is to be over within a second.
	lastGrace = 400 * time.Millisecond

	// Exit statuses of a command that could not be run, as shells have them.
	statusNotFound  = 127
	statusCannotRun = 126
)

// Supervise runs an agent until it ends or the leash does, and returns its exit
// status when nothing is left of it; 128+n if signal n ended it. It is what the
// hidden command supervise does, in a process of its own: it changes how that
// handles signals and children.
//
// Each line of the leash is a number: the agent is to be ended, and gets so many
// milliseconds. The agent's stdout and stderr are both out; its stdin is empty.
func Supervise(argv []string, leash io.Reader, out *os.File) int {
	if len(argv) == 0 {
		fmt.Fprintln(out, "a2astdio: supervise needs a command; --agent-command is what people use")
		return statusNotFound
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		fmt.Fprintf(out, "a2astdio: there is no program to run: %v\n", err)
		return statusNotFound
	}
	orders := make(chan time.Duration)
	// Ends with the leash, or with the process: a read of a pipe cannot be
	// relied on to end otherwise.
	go readOrders(leash, orders)
	return supervise(path, argv, orders, out)
}

// readOrders passes on after how long the agent is to be gone. The end of the
// leash is an order, too.
func readOrders(leash io.Reader, orders chan<- time.Duration) {
	lines := bufio.NewScanner(leash)
	for lines.Scan() {
		if ms, err := strconv.ParseUint(lines.Text(), 10, 31); err == nil {
			orders <- time.Duration(ms) * time.Millisecond
		}
	}
	orders <- lastGrace
}
