package bridge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/transport/stdio"
)

const (
	// cancelWait is how long, at the end, the agent may take to hear that its
	// work is cancelled, flushWait how long the editor may take to read what it
	// is owed. Together they stay below the second after which editors kill.
	cancelWait = 450 * time.Millisecond
	flushWait  = 400 * time.Millisecond
)

// The values of [Options.Protocol] and [Options.OnEOF], beside auto.
const (
	ProtocolACP = "acp"
	ProtocolA2A = "a2a"
	ProtocolMCP = "mcp"

	OnEOFCancel = "cancel"
	OnEOFFinish = "finish"
)

// Protocols lists the values of [Options.Protocol].
func Protocols() []string { return []string{"auto", ProtocolACP, ProtocolA2A, ProtocolMCP} }

// ACPVersions lists the values of [Options.ACPVersion].
func ACPVersions() []string { return []string{"auto", "1", "2"} }

// Serve serves one editor, which writes to in and reads from out, until in ends,
// out fails or ctx ends. Work that is under way then is cancelled, or finished
// if opts say so and the editor is still there; replies that are owed are
// written first.
//
// It returns nil at the end of input, ctx's error if ctx ended, and an error if
// out has failed. A goroutine that is blocked in in.Read or out.Write at that
// time is left behind: there is no portable way to end it, and the process is
// about to exit.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts *Options) error {
	agent := NewAgent(opts)
	defer agent.Close()
	pipe := stdio.NewConn(in, out, &stdio.Options{Tap: opts.Tap, MaxPerSecond: opts.MaxEventsPerSecond})
	server := newServer(agent, pipe)
	log := slog.NewLogLogger(agent.opts.Log.Handler(), slog.LevelDebug) // for what jsonrpc2 would write to stderr
	conn := jsonrpc2.NewConn(context.WithoutCancel(ctx), pipe, nil, server.attach, jsonrpc2.SetLogger(log))
	defer conn.Close()
	if server.isLines.Load() {
		server.ide.open(server.opts.workspace())
	}

	var err error
	select {
	case <-pipe.InputDone():
		if opts.OnEOF == OnEOFFinish || opts.OnEOF != OnEOFCancel && server.isLines.Load() {
			server.finish(ctx, pipe.OutputDone())
		}
	case <-pipe.OutputDone():
		err = errors.New("editor: stdout is closed")
	case <-ctx.Done():
		err = ctx.Err()
	}
	server.shutdown()
	flush, stop := context.WithTimeout(context.WithoutCancel(ctx), flushWait)
	defer stop()
	if flushErr := pipe.Flush(flush); flushErr != nil {
		agent.opts.Log.Debug("the editor did not read its last replies", "err", flushErr)
	}
	return err
}
