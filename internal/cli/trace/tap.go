package trace

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/trace"
)

// exitNotRun is what shells return for a command that does not exist.
const exitNotRun = 127

func TapCommand(p *frame.Program) *cli.Command { return p.AgentCommand("tap [COMMAND...]", runTap) }

func runTap(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 {
		return frame.Usagef("which command? Write it behind --: a2astdio tap --trace FILE -- COMMAND")
	}
	if c.String("trace") == "" {
		return frame.Usagef("where is what they say to be recorded? Name a file with --trace FILE")
	}
	if strings.HasPrefix(args[0], "-") {
		return frame.Usagef("options go before --: %s is taken for the command", args[0])
	}
	r, err := reach.StartTrace(p, c, &trace.Options{Version: p.Version})
	if err != nil {
		return err
	}
	defer func() { _ = reach.CloseTrace(p, c, r) }() // it has reported its error
	// In a terminal an interrupt from the keyboard reaches the command without us: it goes
	// to the whole foreground.
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	if frame.IsTerminal(p.Stdin) {
		list = slices.DeleteFunc(list, func(s os.Signal) bool { return s == os.Interrupt })
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, list...)
	defer signal.Stop(signals)
	t := &tap{command: args, stdin: p.Stdin, stdout: p.Stdout, stderr: p.Stderr, line: r.Tap, onErr: r.Stderr, signal: signals}
	status, err := t.run(c.Context)
	if err != nil {
		p.Say("%v", err)
		return &frame.CommandEnded{Status: exitNotRun}
	}
	if status != 0 {
		return &frame.CommandEnded{Status: status}
	}
	return nil
}

// maxTapped bounds how much of a line is handed over. All of it passes.
const maxTapped = 64 << 20

// tapGrace is the time that the program gets to end after we have closed its input, and
// that the ended program's output may take to be read, if it has left another program
// behind that holds it.
const tapGrace = 5 * time.Second

// A tap runs a program that speaks on stdin and stdout, such as an ACP agent or an MCP server, and
// listens. Each byte passes at once and unchanged; lines are handed over.
type tap struct {
	command        []string
	stdin          io.Reader
	stdout, stderr io.Writer
	// line is called with each line, without its newline, before it is passed on;
	// fromCommand tells the direction. onErr is called with each line of stderr. Both may
	// be called concurrently, and must not keep the line.
	line   func(fromCommand bool, line []byte)
	onErr  func(line []byte)
	signal <-chan os.Signal // signals for the program
}

// run runs the program until it ends, and returns its exit status: 128 and the signal's
// number, like shells, after a signal. When ctx ends, run closes the program's input,
// and kills the program some seconds later. An error means that the program did not
// start.
//
// A blocked read of stdin is left behind when the program ends.
func (t *tap) run(ctx context.Context) (status int, err error) {
	cmd := exec.CommandContext(ctx, t.command[0], t.command[1:]...)
	out := &lineTee{to: t.stdout, line: func(line []byte) { t.line(true, line) }}
	errs := &lineTee{to: t.stderr, line: t.onErr}
	cmd.Stdout, cmd.Stderr = out, errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, tapGrace
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { // ends with stdin, or with a write to a program that has ended
		to := &lineTee{to: in, line: func(line []byte) { t.line(false, line) }}
		_, _ = io.Copy(to, t.stdin)
		to.end()
		in.Close()
	}()
	done := make(chan struct{})
	go func() { // ends with the program
		for {
			select {
			case s := <-t.signal:
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
		p.rest = append(p.rest, line[:min(len(line), maxTapped-len(p.rest))]...)
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
