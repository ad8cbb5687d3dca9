// Package tap runs a program that speaks on stdin and stdout, such as an ACP agent or
// an MCP server, and listens. Each byte passes at once and unchanged; lines are handed
// over.
package tap

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// MaxLine bounds how much of a line is handed over. All of it passes.
const MaxLine = 64 << 20

// grace is the time that the program gets to end after we have closed its input, and
// that the ended program's output may take to be read, if it has left another program
// behind that holds it.
const grace = 5 * time.Second

// Options tell what to run, and who listens.
type Options struct {
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Line is called with each line, without its newline, before it is passed on;
	// fromCommand tells the direction. OnErr is called with each line of stderr. Both may
	// be called concurrently, and must not keep the line.
	Line   func(fromCommand bool, line []byte)
	OnErr  func(line []byte)
	Signal <-chan os.Signal // signals for the program
}

// Run runs the program until it ends, and returns its exit status: 128 and the signal's
// number, like shells, after a signal. When ctx ends, Run closes the program's input,
// and kills the program some seconds later. An error means that the program did not
// start.
//
// A blocked read of stdin is left behind when the program ends.
func Run(ctx context.Context, opts *Options) (status int, err error) {
	cmd := exec.CommandContext(ctx, opts.Command[0], opts.Command[1:]...)
	out := &lineTee{to: opts.Stdout, line: func(line []byte) { opts.Line(true, line) }}
	errs := &lineTee{to: opts.Stderr, line: opts.OnErr}
	cmd.Stdout, cmd.Stderr = out, errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, grace
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { // ends with stdin, or with a write to a program that has ended
		to := &lineTee{to: in, line: func(line []byte) { opts.Line(false, line) }}
		_, _ = io.Copy(to, opts.Stdin)
		to.end()
		in.Close()
	}()
	done := make(chan struct{})
	go func() { // ends with the program
		for {
			select {
			case s := <-opts.Signal:
				_ = cmd.Process.Signal(s) // it may have ended
			case <-done:
				return
			}
		}
	}()
	_ = cmd.Wait() // the status says what is to say
	close(done)
	out.end()
	errs.end()
	if ended, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ended.Signaled() {
		return 128 + int(ended.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// A lineTee passes bytes on, and calls line with each line.
type lineTee struct {
	to   io.Writer
	line func([]byte)
	rest []byte // of an unfinished line
}

func (p *lineTee) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		p.rest = append(p.rest, line[:min(len(line), MaxLine-len(p.rest))]...)
		if line[len(line)-1] == '\n' {
			p.line(bytes.TrimSuffix(p.rest, []byte{'\n'}))
			p.rest = p.rest[:0]
		}
	}
	return p.to.Write(b)
}

// end calls line with an unfinished last line.
func (p *lineTee) end() {
	if len(p.rest) > 0 {
		p.line(p.rest)
	}
}
