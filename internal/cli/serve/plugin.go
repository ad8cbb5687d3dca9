package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/internal/companion"
	"github.com/a2astdio/a2astdio/transport/stdio"
)

// companionFlush bounds how long the editor may take at the end to read its last lines.
const companionFlush = 400 * time.Millisecond

// serveCompanion runs a companion for the editor at in and out. It returns nil at the
// end of input, and when ctx ends.
func serveCompanion(ctx context.Context, in io.Reader, out io.Writer, tap func(bool, []byte), opts *companion.Options) error {
	pipe := stdio.NewConn(in, out, &stdio.Options{Tap: tap})
	editor := &companionEditor{log: opts.Log, ready: make(chan struct{}), gone: make(chan struct{})}
	pipe.Handle(editor.take)
	logger := slog.NewLogLogger(opts.Log.Handler(), slog.LevelDebug)
	editor.conn = jsonrpc2.NewConn(context.WithoutCancel(ctx), pipe, nil, jsonrpc2.SetLogger(logger))
	defer editor.conn.Close()
	defer close(editor.gone)
	server, err := companion.Start(editor, opts)
	if err != nil {
		return err
	}
	editor.server = server
	close(editor.ready)

	select {
	case <-pipe.InputDone():
	case <-pipe.OutputDone():
		err = errors.New("editor: stdout is closed")
	case <-ctx.Done():
	}
	err = errors.Join(err, server.Close())
	flush, stop := context.WithTimeout(context.WithoutCancel(ctx), companionFlush)
	defer stop()
	if flushErr := pipe.Flush(flush); flushErr != nil {
		opts.Log.Debug("the editor did not read its last replies", "err", flushErr)
	}
	return err
}

// A companionEditor is the editor at the other end of stdin and stdout.
type companionEditor struct {
	conn  *jsonrpc2.Conn
	log   *slog.Logger
	calls atomic.Uint64
	// ready is closed when conn and server are set, gone at the end.
	ready, gone chan struct{}
	server      *companion.Server
}

// Request implements [companion.Editor].
func (e *companionEditor) Request(ctx context.Context, method string, params, result any) error {
	return e.conn.Call(ctx, method, params, result, jsonrpc2.PickID(jsonrpc2.ID{Num: e.calls.Add(1)}))
}

// Notify implements [companion.Editor].
func (e *companionEditor) Notify(ctx context.Context, method string, params any) error {
	return e.conn.Notify(ctx, method, params)
}

// take takes the editor's messages in the read loop, which keeps their order. It
// waits only while the server starts.
func (e *companionEditor) take(id *stdio.ID, method string, params json.RawMessage) {
	select {
	case <-e.ready:
	case <-e.gone:
		return
	}
	result, err := e.server.Handle(method, params)
	if id == nil {
		if err != nil {
			e.log.Warn("the editor has sent a notification that cannot be used", "err", err)
		}
		return
	}
	if err == nil {
		err = e.conn.Reply(context.Background(), jsonrpc2.ID(*id), result)
	} else {
		answer := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		if coded := interface{ Code() int }(nil); errors.As(err, &coded) {
			answer.Code = int64(coded.Code())
		}
		err = e.conn.ReplyWithError(context.Background(), jsonrpc2.ID(*id), answer)
	}
	if err != nil {
		e.log.Debug("replying", "method", method, "err", err)
	}
}
