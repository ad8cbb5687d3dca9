package reach

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

// OpenTrace records both wires, if the user asks for a trace.
func OpenTrace(p *frame.Program, c *cli.Context, l *Link, client *transport.ClientOptions, secrets *trace.Options) error {
	r, err := StartTrace(p, c, secrets)
	if err != nil || r == nil {
		return err
	}
	l.Closers = append(l.Closers, func() error { return CloseTrace(p, c, r) })
	l.Options.Tap, client.Wrap = r.Tap, r.Wrap
	l.Options.Observe = Observer(r)
	return nil
}

// Observer records what a bridge does; it is meant for bridge.Options.
func Observer(r *trace.Recorder) func(*bridge.Observation) {
	return func(o *bridge.Observation) {
		switch o.What {
		case bridge.ObservedEvent:
			r.Event(o.Event, string(o.Payload))
		case bridge.ObservedLines:
			r.Became(o.Events, o.Lines)
		default:
			r.Decide(&trace.Decision{What: string(o.What), Why: o.Why, Session: o.Session, Task: o.Task, Call: o.Call,
				Events: slices.Clone(o.Events), Attempt: o.Attempt, Option: o.Option, Outcome: o.Outcome, By: o.By})
		}
	}
}

// StartTrace begins the trace of --trace; nil without one. The caller ends it by
// [CloseTrace].
func StartTrace(p *frame.Program, c *cli.Context, secrets *trace.Options) (*trace.Recorder, error) {
	file := c.String("trace")
	if file == "" {
		return nil, nil
	}
	opts := *secrets
	opts.Mode, opts.Redact = "client", c.Bool("trace-redact")
	switch name := c.Command.Name; {
	case isServe(c):
		opts.Mode = "bridge"
	case name == "proxy", name == "tap":
		opts.Mode = name
	}
	if file == "-" {
		frame.AwaitSignals(c.Context)
		return trace.New(p.Stderr, &opts), nil
	}
	r, err := trace.Create(strings.ReplaceAll(file, "{pid}", strconv.Itoa(os.Getpid())), &opts)
	if err != nil {
		return nil, frame.Usagef("--%v", err)
	}
	return r, nil
}

// CloseTrace ends a trace. It reports one that ended early as incomplete, which would
// otherwise look complete.
func CloseTrace(p *frame.Program, c *cli.Context, r *trace.Recorder) error {
	err := r.Close()
	if err != nil {
		p.Say("the trace %s is not complete: %v", c.String("trace"), err)
	}
	return err
}
