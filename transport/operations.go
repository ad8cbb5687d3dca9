package transport

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Send sends a message, and returns what the agent says about it as it comes.
// If the agent cannot stream, that is the one answer it has.
//
// A message is delivered at most once. It is sent again only where it is certain
// that nothing of it was written, or where the agent has refused it: with a 429
// and said when to come back, or for how it was sent, and not for what it says. If it
// may have been delivered, the error wraps [ErrPossiblyDelivered].
//
// ctx governs the stream too, until it has ended or was given to [Stream.Drain].
func (c *Client) Send(ctx context.Context, m *a2a.Outgoing) (*Stream, error) {
	// An agent that cannot stream is asked to answer at once, and its task is looked
	// up afterwards: with blocking, nothing could be shown, and no task cancelled,
	// before all of it is over. One whose card does not say whether it streams is asked
	// to: a2a-go leaves a "streaming":false out of its cards, and others leave it out
	// and stream.
	s, err := c.do(ctx, c.newSend(opStream, m))
	if err != nil {
		return nil, c.causeOf500(ctx, m, err)
	}
	return s, nil
}

// SendOnce sends a message and returns the one answer to it: the task as it then
// is, or a message. Blocking asks the agent to answer when the task has ended or
// waits for somebody; agents are known to answer before that all the same, so
// [a2a.Event.State] says. It has no time limit but ctx then, once the connection
// is there; otherwise it has that of any unary call.
//
// It is delivered as Send delivers, with the same errors. The event is the
// caller's: it is no view of a stream.
func (c *Client) SendOnce(ctx context.Context, m *a2a.Outgoing, blocking bool) (*a2a.Event, error) {
	op := c.newSend(opSend, m)
	if op.blocking = blocking; blocking {
		op.limit = limitNone
	}
	s, err := c.do(ctx, op)
	if err != nil {
		return nil, err
	}
	return s.event(), nil
}

// newSend makes an operation that sends a message, with the client's output modes if it has none.
func (c *Client) newSend(kind opKind, m *a2a.Outgoing) *operation {
	op := newOperation(kind)
	if len(m.AcceptedOutputModes) == 0 && len(c.opts.AcceptedOutputModes) > 0 {
		with := *m
		with.AcceptedOutputModes = c.opts.AcceptedOutputModes
		m = &with
	}
	op.message = m
	return op
}

// Resubscribe follows a task that is under way. It is tried once: the caller repeats
// it, with waits of its own.
// (Rejected: Last-Event-ID. No agent that was tried resumes from it.)
func (c *Client) Resubscribe(ctx context.Context, taskID string) (*Stream, error) {
	return c.do(ctx, aboutTask(ctx, opSubscribe, taskID))
}

// A Call is a request that [Client.Call] makes: of a method that is not among the
// client's own, or of a path below the agent's URL that is none of A2A's.
type Call struct {
	Method string
	// Path is for a call without a method. It begins with a slash; without Params the
	// request is a GET.
	Path string
	// Params are marshaled; nil leaves them out.
	Params any
	// Long: the answer may take as long as the agent works, and may be a stream.
	// Otherwise it has the time limit of any unary call.
	Long bool
}

// Call returns what the agent answers: a stream of events, or a result as it is, null for
// an answer that has neither result nor error, which is how some agents say that they are
// done. What the call does is not known, so it is delivered like a message: at most once.
func (c *Client) Call(ctx context.Context, call Call) (*Stream, json.RawMessage, error) {
	op := newOperation(opMethod)
	op.method, op.params, op.stream = call.Method, call.Params, call.Long
	if call.Method == "" {
		op.path = call.Path
	}
	if call.Long {
		op.limit = limitBody
	}
	if op.path != "" && call.Params == nil {
		op.delivery = deliverRepeatable
	}
	s, err := c.do(ctx, op)
	if err != nil || s.reader != nil {
		return s, nil, err
	}
	return nil, s.result, nil
}

type metadataKey struct{}

// WithMetadata has [Client.Get], [Client.Cancel] and [Client.Resubscribe] send metadata of the
// request, JSON values by their names. They refuse it where the agent's version of A2A has
// no place for it: 1.x has one for Cancel, 0.3's HTTP+JSON none.
func WithMetadata(ctx context.Context, metadata map[string]json.RawMessage) context.Context {
	return context.WithValue(ctx, metadataKey{}, metadata)
}

// aboutTask makes an operation about a task, with the metadata of [WithMetadata].
func aboutTask(ctx context.Context, kind opKind, taskID string) *operation {
	op := newOperation(kind)
	op.taskID = taskID
	op.metadata, _ = ctx.Value(metadataKey{}).(map[string]json.RawMessage)
	return op
}

// AllHistory has [Client.Get] ask for the whole of a task's history. Without a length, the SDK for JS and
// Gemini's server send none of it; 0 means none to some agents and all to others.
const AllHistory = 1 << 20

// Get looks a task up. A historyLength below 0 is left out, which servers
// understand differently: as all of it, or as none. So AllHistory is where it is refused:
// LangGraph's server takes 10 at most. That is not kept, since others refuse so a task that is not there yet.
func (c *Client) Get(ctx context.Context, taskID string, historyLength int) (*a2a.Event, error) {
	op := aboutTask(ctx, opGet, taskID)
	op.history = historyLength
	ev, err := c.task(ctx, op)
	if historyLength == AllHistory && a2a.ErrorOf(err).Has(a2a.CodeInvalidParams) {
		if ev, again := c.task(ctx, aboutTask(ctx, opGet, taskID)); again == nil {
			return ev, nil
		}
	}
	return ev, err
}

// Cancel asks the agent to stop work on a task.
func (c *Client) Cancel(ctx context.Context, taskID string) (*a2a.Event, error) {
	return c.task(ctx, aboutTask(ctx, opCancel, taskID))
}

// task performs an operation that returns a task.
func (c *Client) task(ctx context.Context, op *operation) (*a2a.Event, error) {
	s, err := c.do(ctx, op)
	if err != nil {
		return nil, err
	}
	ev := s.event()
	if ev.Kind != a2a.EventTask {
		return nil, s.wrongResult("task")
	}
	return ev, nil
}

// wrongResult is the error for a result that is no task, or whatever was asked for.
func (s *Stream) wrongResult(what string) error {
	return failf(nil, "%s answered %s with something that is no %s: %s", s.x.shownURL(), s.x.op.what, what, quote(s.result))
}

// event decodes the result. It is no view of a stream.
func (s *Stream) event() *a2a.Event { return s.way.protocol.redecoded(rawjson.View(s.result)) }

// checkAnswer returns an error for a result that is neither a task nor a message. (A stream is checked
// while it is read.)
func (s *Stream) checkAnswer() error {
	if s.event().Kind != a2a.EventUnknown {
		return nil
	}
	cure := ""
	if rawjson.IsArray(rawjson.View(s.result)) { // Google's front ends have streams so
		cure = ": if it is a stream in an array, ?alt=sse behind the URL in its card asks for events: --card takes one that is corrected"
	}
	return failf(ErrPossiblyDelivered, "%s answered with a result that is neither a task nor a message: %s%s", s.x.shownURL(), quote(s.result), cure)
}

// causeOf500 asks for the task of a message that was refused with HTTP status 500, and returns the error if
// it does not exist any more, as behind a restart of the agent; else err. a2a-js 0.3.14 refuses streams so.
func (c *Client) causeOf500(ctx context.Context, m *a2a.Outgoing, err error) error {
	agent := a2a.ErrorOf(err)
	if m.TaskID == "" || !agent.Has(a2a.CodeInvalidRequest) || agent.HTTPStatus != http.StatusInternalServerError {
		return err
	}
	if _, why := c.Get(ctx, m.TaskID, 1); a2a.ErrorOf(why).Has(a2a.CodeTaskNotFound) {
		return why
	}
	return err
}

// List looks up tasks, one page at a time. 0.3 agents need not have the method,
// and most have not: their refusal is an [*a2a.Error] with
// [a2a.CodeMethodNotFound]. Some want to know who is asking
// ([a2a.Error.Unauthenticated]). A query that the agent's version has no words
// for is refused before anything is sent.
func (c *Client) List(ctx context.Context, q a2a.TaskQuery) (*a2a.TaskPage, error) {
	op := newOperation(opList)
	op.query = &q
	s, err := c.do(ctx, op)
	if err != nil {
		return nil, err
	}
	page := readPage(s.way.protocol, parseNode(s.result))
	if page == nil {
		return nil, s.wrongResult("list of tasks")
	}
	return page, nil
}

// readPage reads a page of tasks, nil if it is none. A member that is missing is
// no mistake: a2a-go 0.3.15 leaves out an empty list.
func readPage(p protocol, n node) *a2a.TaskPage {
	tasks := n.elements()
	switch {
	case n.IsObject():
		tasks = n.list("tasks")
	case !n.IsArray():
		return nil
	}
	page := &a2a.TaskPage{Tasks: make([]a2a.Event, len(tasks)), NextPageToken: n.id("nextPageToken")}
	page.TotalSize, _ = strconv.Atoi(n.id("totalSize"))
	for i, t := range tasks {
		p.decode(t.Raw, &page.Tasks[i])
	}
	return page
}

// SetPush asks the agent to report on a task. It is sent once, because an agent may
// keep two of what comes twice. An agent that cannot push refuses it with
// [a2a.CodePushNotSupported].
func (c *Client) SetPush(ctx context.Context, config a2a.PushConfig) error {
	op := newOperation(opSetPush)
	op.push = &config
	_, err := c.do(ctx, op)
	return err
}

// ListPush asks where a task is reported. What comes may hold credentials, and is not
// returned.
func (c *Client) ListPush(ctx context.Context, taskID string) error {
	_, err := c.do(ctx, aboutTask(ctx, opListPush, taskID))
	return err
}

// DeletePush removes one configuration of a task. Whatever result the agent
// gives, or none, means that it is gone.
func (c *Client) DeletePush(ctx context.Context, taskID, id string) error {
	op := aboutTask(ctx, opDeletePush, taskID)
	op.pushID = id
	_, err := c.do(ctx, op)
	return err
}

// ReadPushed reads what an agent has pushed to a webhook: a Task, or an event, as 0.3
// writes it, or a StreamResponse of 1.x, whatever version the agent was spoken to in
// (a2a-go pushes 1.x's to those who asked in 0.3). The event is a view of payload.
func ReadPushed(payload []byte) *a2a.Event {
	raw := strings.TrimSpace(rawjson.View(payload))
	// The versions take nothing but a status otherwise.
	return protocol{v03: rawjson.Member(raw, "statusUpdate") == ""}.redecoded(raw)
}

// File gets a file that a task points to, with the user's credentials, from the agent's
// origin or one that the user trusts. The caller closes it.
func (c *Client) File(ctx context.Context, from *url.URL) (io.ReadCloser, error) {
	op := &operation{delivery: deliverIfReached, what: "the request for a file"}
	x, err := c.send(ctx, ctx, op, http.MethodGet, from, http.Header{"Accept": {"*/*"}}, nil)
	if err != nil {
		return nil, err
	}
	if x.resp.StatusCode < 300 {
		return x.resp.Body, nil
	}
	b, _ := x.body() // the status tells enough
	return nil, x.notA2A(b)
}
