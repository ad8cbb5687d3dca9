package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// longMethods may take as long as the agent works.
var longMethods = []string{"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}

// streamMethods have streams whose end the protocol defines: see [a2a.Event.EndsLeg].
var streamMethods = []string{"message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask", "command/execute"}

func callCommand(p *frame.Program) *cli.Command {
	return p.AgentCommand("call METHOD [PARAMS|-]", reach.Reached(call))
}

func call(p *frame.Program, c *cli.Context, l *reach.Link) (err error) {
	args := c.Args().Slice()
	method := args[0]
	var params any
	if len(args) > 1 {
		text := args[1]
		if text == "-" {
			if text, err = p.ReadPrompt(c.Context); err != nil {
				return err
			}
		}
		if err := json.Unmarshal([]byte(text), new(any)); err != nil {
			return frame.Usagef("the parameters are not JSON: %s", err)
		}
		params = json.RawMessage(text)
	}
	ctx, cancel := context.WithCancelCause(c.Context)
	defer cancel(nil)
	stream, result, err := open(ctx, cancel, l, method, params)
	switch {
	case err != nil:
		return withData(err)
	case stream == nil:
		return p.Document(result)
	}
	return withData(readAll(p, stream, slices.Contains(streamMethods, method)))
}

// open calls the method. The time limit holds until the first answer.
func open(ctx context.Context, cancel context.CancelCauseFunc, l *reach.Link, method string, params any) (*transport.Stream, json.RawMessage, error) {
	if !slices.Contains(longMethods, method) {
		limit := l.HTTP.Timeout
		timer := time.AfterFunc(limit, func() {
			cancel(frame.Mark(context.DeadlineExceeded, fmt.Errorf("agent: %s was not answered within %v: --timeout allows more", method, limit)))
		})
		defer timer.Stop()
	}
	stream, result, err := l.Client.Call(ctx, transport.Call{Method: method, Params: params, Long: true})
	if late := context.Cause(ctx); err != nil && errors.Is(late, context.DeadlineExceeded) {
		err = late
	}
	return stream, result, err
}

// readAll writes what a stream brings. ends: the protocol defines how the stream ends,
// so that a stream that just stops was cut.
func readAll(p *frame.Program, stream *transport.Stream, ends bool) error {
	defer stream.Close()
	out := p.JSONOut()
	over := false
	for {
		events, err := stream.Read()
		var lines bytes.Buffer
		for i := range events {
			ev := &events[i]
			if err := json.Compact(&lines, []byte(ev.Raw)); err != nil {
				return err
			}
			lines.WriteByte('\n')
			over = ev.EndsLeg || ev.Kind == a2a.EventMessage || ev.State == a2a.StateInputRequired || over && ev.State == ""
		}
		if _, err := out.Write(lines.Bytes()); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF) && ends && !over:
			return errors.New("agent: the stream ended in the middle: the task may go on; task subscribe follows it over lost connections")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// withData adds the data of an agent's error to its message.
func withData(err error) error {
	if agent := a2a.ErrorOf(err); agent != nil && agent.Data != "" && agent.Code != 0 {
		return fmt.Errorf("%w\n%s", err, agent.Data)
	}
	return err
}
