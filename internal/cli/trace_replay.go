package cli

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
	"github.com/a2astdio/a2astdio/internal/trace/fault"
	"github.com/a2astdio/a2astdio/internal/trace/local"
	"github.com/a2astdio/a2astdio/internal/trace/replay"
)

// commandGrace bounds how long a replayed-against command may take to end after its
// input.
const commandGrace = 5 * time.Second

// replayPatience is how long a replayed editor waits for a message that was recorded.
const replayPatience = 30 * time.Second

func (p *program) traceReplay(c *cli.Context) error {
	if c.Bool("editor") {
		return p.replayEditor(c)
	}
	args, err := p.arguments(c, "FILE")
	if err != nil {
		return err
	}
	opts := &replay.Options{}
	if opts.Speed, err = speedOf(c.String("speed")); err != nil {
		return err
	}
	if opts.Faults, err = fault.Parse(listOf(c, "fault")); err != nil {
		return usagef("--fault: %v", err)
	}
	var mu sync.Mutex
	opts.Note = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		p.say("%s", text)
	}
	agent, err := replay.NewAgent(args[0], opts)
	if err != nil {
		return err
	}
	defer agent.Close()
	err = local.Serve(c.Context, c.String("listen"), func(url string) http.Handler {
		agent.At(url)
		return agent
	}, func(url string) { fmt.Fprintln(p.stdout, url) })
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
		return 0, usagef("--speed does not take %q: it takes a number like 2 or 0.5, or max", s)
	}
	return n, nil
}

// replayEditor replays the editor's side.
func (p *program) replayEditor(c *cli.Context) error {
	args := c.Args().Slice()
	var command []string
	if i := p.before; i >= 0 {
		args, command = args[:i], args[i:]
		if len(command) == 0 {
			return usagef("which command? Write it behind --")
		}
	}
	if len(args) != 1 {
		return usagef("trace replay --editor needs FILE, one, before --")
	}
	play := p.playBridge
	if command != nil {
		play = func(c *cli.Context, play func(io.WriteCloser, io.Reader) error) error {
			return p.playCommand(c, command, play)
		}
	}
	return play(c, func(in io.WriteCloser, out io.Reader) error {
		same, err := replay.PlayEditor(c.Context, args[0], in, out, replayPatience)
		if d := (*replay.Difference)(nil); errors.As(err, &d) {
			fmt.Fprintln(p.stdout, plainText(d.Error()))
			return errFailed
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "no difference: %d messages are as recorded\n", same)
		}
		return err
	})
}

// playBridge replays against a bridge in this process.
func (p *program) playBridge(c *cli.Context, play func(io.WriteCloser, io.Reader) error) error {
	l, err := p.link(c)
	if err != nil {
		return err
	}
	defer l.close()
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
	l.serves(c, sessions)
	toBridge, in := io.Pipe()
	out, fromBridge := io.Pipe()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	go func() { // ends with the editor's input, or its output
		err := bridge.Serve(ctx, toBridge, fromBridge, &l.options)
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
func (p *program) playCommand(c *cli.Context, command []string, play func(io.WriteCloser, io.Reader) error) error {
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr, cmd.Env = p.stderr, os.Environ()
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
