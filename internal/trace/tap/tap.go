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
	"sync"
	"time"
)

// MaxLine bounds how much of a line is handed over. Longer lines pass, too.
const MaxLine = 64 << 20

// grace is the time that the program gets to end after we have closed its input.
const grace = 5 * time.Second

// linger is how long the ended program's output may take to be read.
const linger = time.Second

// Options tell what to run, and who listens.
type Options struct {
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Line is called with each line, without its newline, before it is passed on;
	// fromCommand tells the direction. Stderr is called with each line of stderr. Both may
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
	cmd := exec.Command(opts.Command[0], opts.Command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { // ends with stdin, or with a write to a program that has ended
		_ = pass(in, opts.Stdin, func(line []byte) { opts.Line(false, line) })
		in.Close()
	}()
	var reading sync.WaitGroup
	reading.Go(func() {
		if pass(opts.Stdout, out, func(line []byte) { opts.Line(true, line) }) != nil {
			out.Close() // nobody reads us: the program has to notice
		}
	})
	reading.Go(func() { _ = pass(opts.Stderr, errs, opts.OnErr) })
	done := make(chan struct{})
	go signals(ctx, opts.Signal, cmd.Process, in, done) // ends with the program
	state, err := cmd.Process.Wait()
	close(done)
	read := make(chan struct{})
	go func() { // ends when both have been closed
		reading.Wait()
		close(read)
	}()
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C: // a program that it has left behind holds them
	}
	in.Close()
	out.Close()
	errs.Close()
	<-read
	return statusOf(state), err
}

// signals passes signals on until the program ends.
func signals(ctx context.Context, list <-chan os.Signal, process *os.Process, in io.Closer, done <-chan struct{}) {
	ended := ctx.Done()
	var timeout <-chan time.Time
	for {
		select {
		case s := <-list:
			_ = process.Signal(s) // it may have ended
		case <-ended:
			ended = nil
			in.Close()
			timer := time.NewTimer(grace)
			defer timer.Stop()
			timeout = timer.C
		case <-timeout:
			_ = process.Kill()
			timeout = nil
		case <-done:
			return
		}
	}
}

// pass copies bytes as they come, and hands over lines before they are passed on.
func pass(w io.Writer, r io.Reader, line func([]byte)) error {
	buf := make([]byte, 64<<10)
	var rest []byte // of an unfinished line
	for {
		n, err := r.Read(buf)
		rest = lines(rest, buf[:n], line)
		if n > 0 {
			if _, writeErr := w.Write(buf[:n]); writeErr != nil {
				return writeErr
			}
		}
		if err != nil {
			if len(rest) > 0 {
				line(rest)
			}
			return nil
		}
	}
}

// lines hands over the lines that b completes, and returns the rest.
func lines(rest, b []byte, line func([]byte)) []byte {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return append(rest, b[:min(len(b), MaxLine-len(rest))]...)
		}
		if len(rest) == 0 {
			line(b[:i])
		} else {
			line(append(rest, b[:min(i, MaxLine-len(rest))]...))
			if rest = rest[:0]; cap(rest) > 1<<20 {
				rest = nil
			}
		}
		b = b[i+1:]
	}
}
