package agentproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	// stopTime is the time that stop gives the supervisor. It is for one that hangs, and longer
	// than a busy machine stands still: what the agent has started outlives a supervisor that
	// is killed.
	stopTime = grace + 5*time.Second
	// lastResort is how long stop waits for a killed supervisor's agent to end. Nothing
	// more can be done then.
	lastResort   = 3 * time.Second
	outputMargin = 200 * time.Millisecond // how long the last output may take to arrive
)

// wait takes the agent's output from a pipe until all of the agent's processes have ended,
// and sets p.err.
func (p *process) wait(pipe *os.File) {
	copying, copied := context.WithCancel(context.Background())
	// Ends with the output, or at the deadline below; if the log blocks, with the log.
	go func() {
		defer copied()
		defer pipe.Close()
		_, _ = io.Copy(p.output, pipe) // until each process that holds the other end has ended
	}()
	err := p.cmd.Wait()
	// A process that has left the agent's group may hold the pipe.
	_ = pipe.SetReadDeadline(time.Now().Add(outputMargin))
	defer time.AfterFunc(2*outputMargin, copied).Stop()
	<-copying.Done()
	p.finder.stop()
	before, advice := "", ""
	if !p.isFound() {
		before = " before it had a card"
	}
	p.mu.Lock()
	if p.advice != "" {
		advice = "; " + p.advice
	}
	p.mu.Unlock()
	p.err = fmt.Errorf("agent: %q ended %s%s%s%s", p.name, ending(err), before, p.lastWords(), advice)
}

// ending puts into words how the supervisor has ended, which passes on how the agent has.
func ending(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "with status 0"
	case !errors.As(err, &exit):
		return "(" + err.Error() + ")"
	case exit.ExitCode() < 0:
		return "because its supervisor was killed (" + exit.String() + ")"
	}
	return fmt.Sprintf("with status %d%s", exit.ExitCode(), signalName(exit.ExitCode()))
}

// stop ends the agent, and returns when all of its processes have ended: SIGTERM first,
// SIGKILL after the grace period. An error means that the supervisor had to be killed.
func (p *process) stop() error {
	_, _ = io.WriteString(p.leash, "stop\n") // if it is closed, the supervisor is about to end
	p.leash.Close()
	if p.endsWithin(stopTime) {
		return nil
	}
	_ = p.cmd.Process.Kill()
	if p.endsWithin(lastResort) {
		return fmt.Errorf("agent: the supervisor of %q did not end it within %v and was killed", p.name, stopTime)
	}
	return fmt.Errorf("agent: %q cannot be ended: look for process %d and its children", p.name, p.cmd.Process.Pid)
}

func (p *process) endsWithin(limit time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(limit):
		return false
	}
}
