package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/serve"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace/fault"
	"github.com/a2astdio/a2astdio/internal/trace/local"
	"github.com/a2astdio/a2astdio/internal/trace/replay"
)

// commandGrace bounds how long a replayed-against command may take to end after its
// input.
const commandGrace = 5 * time.Second

// replayPatience is how long a replayed editor waits for a message that was recorded.
const replayPatience = 30 * time.Second

func traceReplay(p *frame.Program, c *cli.Context) (err error) {
	if c.Bool("editor") {
		return replayEditor(p, c)
	}
	args := c.Args().Slice()
	if len(args) > 1 {
		return frame.Usagef("trace replay takes FILE and nothing more without --editor, and got %q", args[1])
	}
	opts := &replay.Options{}
	if opts.Speed, err = speedOf(c.String("speed")); err != nil {
		return err
	}
	if opts.Faults, err = fault.Parse(frame.ListOf(c, "fault")); err != nil {
		return frame.Usagef("--fault: %v", err)
	}
	var mu sync.Mutex
	opts.Note = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		p.Say("%s", text)
	}
	agent, err := replay.NewAgent(args[0], opts)
	if err != nil {
		return err
	}
	defer agent.Close()
	err = local.Serve(c.Context, c.String("listen"), func(url string) http.Handler {
		agent.At(url)
		return agent
	}, func(url string) { fmt.Fprintln(p.Stdout, url) })
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

func speedOf(s string) (float64, error) {
	if s == "max" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n <= 0 {
		return 0, frame.Usagef("--speed does not take %q: it takes a number like 2 or 0.5, or max", s)
	}
	return n, nil
}

// replayEditor replays the editor's side.
func replayEditor(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	var command []string
	if i := p.Before; i >= 0 {
		args, command = args[:i], args[i:]
		if len(command) == 0 {
			return frame.Usagef("which command? Write it behind --")
		}
	}
	if len(args) != 1 {
		return frame.Usagef("trace replay --editor needs FILE, one, before --")
	}
	play := func(c *cli.Context, play func(io.WriteCloser, io.Reader) error) error { return playBridge(p, c, play) }
	if command != nil {
		play = func(c *cli.Context, play func(io.WriteCloser, io.Reader) error) error {
			return playCommand(p, c, command, play)
		}
	}
	return play(c, func(in io.WriteCloser, out io.Reader) error {
		same, err := replay.PlayEditor(c.Context, args[0], in, out, replayPatience)
		if d := (*replay.Difference)(nil); errors.As(err, &d) {
			fmt.Fprintln(p.Stdout, safe.Plain(d.Error()))
			return frame.ErrFailed
		}
		if err == nil {
			fmt.Fprintf(p.Stdout, "no difference: %d messages are as recorded\n", same)
		}
		return err
	})
}

// playBridge replays against a bridge in this process.
func playBridge(p *frame.Program, c *cli.Context, play func(io.WriteCloser, io.Reader) error) error {
	l, err := reach.Open(p, c)
	if err != nil {
		return err
	}
	defer l.Close()
	// The bridge can load sessions like the recorded one, but not the user's own.
	dir, err := os.MkdirTemp("", "a2astdio-replay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sessions, err := store.Open(dir)
	if err != nil {
		return err
	}
	serve.Serves(l, c, sessions)
	toBridge, in := io.Pipe()
	out, fromBridge := io.Pipe()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	go func() { // ends with the editor's input, or its output
		err := bridge.Serve(ctx, toBridge, fromBridge, &l.Options)
		fromBridge.Close()
		ended <- err
	}()
	err = play(in, out)
	in.Close()
	out.Close()
	<-ended
	return err
}

// playCommand replays against a program.
func playCommand(p *frame.Program, c *cli.Context, command []string, play func(io.WriteCloser, io.Reader) error) error {
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr, cmd.Env = p.Stderr, os.Environ()
	cmd.WaitDelay = commandGrace
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = cmd.StdoutPipe(); err == nil {
			if err = cmd.Start(); err == nil {
				err = play(in, out)
			}
		}
	}
	if cmd.Process == nil {
		return err
	}
	in.Close()
	timer := time.AfterFunc(commandGrace, cancel) // for a command that does not end with its input
	defer timer.Stop()
	if waitErr := cmd.Wait(); err == nil && waitErr != nil {
		err = fmt.Errorf("%s: %w", command[0], waitErr)
	}
	return err
}
