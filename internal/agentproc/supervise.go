package agentproc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// lastGrace is the time between SIGTERM and SIGKILL without an order: the bridge has
	// ended, or the agent has, and has left children. All of it must be over within a
	// second.
	lastGrace = 400 * time.Millisecond

	removeWord = "--remove"

	// Exit statuses of a command that could not run, as in shells.
	statusNotFound  = 127
	statusCannotRun = 126
)

// Supervise runs an agent until it ends or the leash does, and returns its exit status
// when all of its processes have ended; 128+n if signal n ended it. The hidden command
// supervise runs it in a process of its own, because it changes how that handles
// signals and children.
//
// Each line of the leash is an order to end the agent, with its grace in milliseconds.
// The agent's stdout and stderr are both out; its stdin is empty.
//
// The command follows a "--". Before it may stand "--remove DIR": a directory that the
// supervisor removes if the bridge was killed.
func Supervise(args []string, leash io.Reader, out *os.File) int {
	remove, argv := "", args
	if len(argv) > 1 && argv[0] == removeWord {
		remove, argv = argv[1], argv[2:]
	}
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
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
	var orphaned atomic.Bool
	// Ends with the leash, or with the process: nothing else is sure to end a read of a
	// pipe.
	go readOrders(leash, orders, &orphaned)
	status := supervise(path, argv, orders, out)
	if remove != "" && orphaned.Load() {
		if err := os.RemoveAll(remove); err != nil {
			fmt.Fprintf(out, "a2astdio: what was made for the agent is not removed: %v\n", err)
		}
	}
	return status
}

// readOrders passes orders on. The end of the leash is an order, too; without one
// before it the bridge was killed.
func readOrders(leash io.Reader, orders chan<- time.Duration, orphaned *atomic.Bool) {
	lines, told := bufio.NewScanner(leash), false
	for lines.Scan() {
		told = true
		if ms, err := strconv.ParseUint(lines.Text(), 10, 31); err == nil {
			orders <- time.Duration(ms) * time.Millisecond
		}
	}
	orphaned.Store(!told)
	orders <- lastGrace
}
