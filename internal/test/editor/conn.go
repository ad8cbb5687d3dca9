package editor

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/transport"
)

// Ended is the error of a turn whose bridge has ended.
const Ended = "the bridge has ended without a reply"

// A conn is the editor's way to a bridge.
type conn struct {
	opts   *Options
	client *transport.Client
	to     *io.PipeWriter
	from   *io.PipeReader
	kill   context.CancelFunc
	gone   chan struct{} // closed when the bridge has ended, and all that it wrote was read
	err    error         // of its end
	wg     sync.WaitGroup

	mu      sync.Mutex
	nextID  int
	replies map[int]chan gjson.Result
	editor  *Editor
	lines   int      // that the bridge has written
	wrong   []string // what no editor should get
}

// bridge is a bridge in this process.
func (c *conn) bridge(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	b := &bridge.Options{Version: "test", Name: c.opts.URL, Workspace: "/", Client: c.client, Store: c.opts.Store,
		Protocol: bridge.ProtocolACP, OnEOF: bridge.OnEOFCancel, NewID: c.opts.NewID, Dialect: c.opts.Dialect}
	if c.opts.Protocol == Lines {
		b.Protocol = bridge.ProtocolA2A
	}
	return bridge.Serve(ctx, in, out, b)
}

// Close ends the input, as an editor that ends, and waits for the bridge.
func (c *conn) Close() error {
	c.to.Close()
	<-c.gone
	c.from.Close()
	if c.client != nil {
		c.client.Close()
	}
	c.wg.Wait()
	return c.err
}

// Terminate ends the bridge as a signal does. Close has to follow.
func (c *conn) Terminate() { c.kill() }

// Lines is how many lines the bridge has written. Wrong are those that no editor should get.
func (c *conn) Lines() (n int, wrong []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines, c.wrong
}

// read takes lines until the bridge ends.
func (c *conn) read() {
	defer close(c.gone)
	for r := bufio.NewReader(c.from); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return // half a line: the bridge was killed
		}
		c.take(line)
	}
}

func (c *conn) take(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lines++; c.opts.OnLine != nil {
		c.opts.OnLine(c.lines)
	}
	m := gjson.Parse(line)
	method, to := m.Get("method").Str, c.editor
	if problem := to.problem(m); problem != "" {
		c.wrong = append(c.wrong, problem+": "+line[:min(len(line), 600)])
	}
	switch method {
	case "":
		id := int(m.Get("id").Int())
		if reply := c.replies[id]; reply != nil {
			delete(c.replies, id)
			reply <- m // it has room for one
		}
	case "session/update":
		if c.opts.Protocol == ACP2 {
			to.update2(m.Get("params.update"))
			return
		}
		to.update(m.Get("params.update"))
	case "session/request_permission":
		to.permission(m)
	default:
		to.event(method, m.Get("params"))
	}
}

// send writes a line.
func (c *conn) send(format string, args ...any) {
	_, _ = io.WriteString(c.to, fmt.Sprintf(format, args...)+"\n") // fails when the bridge has ended
}

// request sends a request; its reply comes on the channel.
func (c *conn) request(method, params string) (int, <-chan gjson.Result) {
	c.mu.Lock()
	c.nextID++
	id, reply := c.nextID, make(chan gjson.Result, 1)
	c.replies[id] = reply
	c.mu.Unlock()
	c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	return id, reply
}

// Call waits for the reply, for a minute and a half.
func (c *conn) Call(method, params string) gjson.Result {
	_, reply := c.request(method, params)
	timer := time.AfterFunc(90*time.Second, func() { c.from.Close() }) // which reads no more
	defer timer.Stop()
	m, _ := c.wait(reply)
	return m
}

// wait waits for a reply; false: the bridge has ended.
func (c *conn) wait(reply <-chan gjson.Result) (gjson.Result, bool) {
	select {
	case m := <-reply:
		return m, true
	case <-c.gone:
	}
	select { // it may have come before the end
	case m := <-reply:
		return m, true
	default:
		return gjson.Result{}, false
	}
}
