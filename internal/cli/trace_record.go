package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

// openTrace records both wires, if the user asks for a trace.
func (p *program) openTrace(c *cli.Context, l *link, client *transport.ClientOptions, secrets *trace.Options) error {
	mode := "client"
	switch {
	case isServe(c), c.Command.Name == "replay":
		mode = "bridge"
	case c.Command.Name == "proxy":
		mode = "proxy"
	}
	r, err := p.record(c, mode, secrets)
	if err != nil || r == nil {
		return err
	}
	l.closers = append(l.closers, func() error { return p.closeTrace(c, r) })
	l.options.Tap, client.Wrap = r.Tap, r.Wrap
	l.options.Observe = Observer(r)
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

// record begins the trace of --trace; nil without one. The caller ends it by
// closeTrace.
func (p *program) record(c *cli.Context, mode string, secrets *trace.Options) (*trace.Recorder, error) {
	file := stringOf(c, "trace")
	if file == "" {
		return nil, nil
	}
	opts := *secrets
	opts.Mode, opts.Redact, opts.Limit = mode, where(c, "trace-redact").Bool("trace-redact"), trace.FullLimit
	if file == "-" {
		return trace.New(p.stderr, &opts), nil
	}
	r, err := trace.Create(strings.ReplaceAll(file, "{pid}", strconv.Itoa(os.Getpid())), &opts)
	if err != nil {
		return nil, usagef("--%v", err)
	}
	return r, nil
}

// closeTrace ends a trace. It reports one that ended early as incomplete, which would
// otherwise look complete.
func (p *program) closeTrace(c *cli.Context, r *trace.Recorder) error {
	err := r.Close()
	if err != nil {
		p.say("the trace %s is not complete: %v", stringOf(c, "trace"), err)
	}
	return err
}
