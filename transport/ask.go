package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A way is how an agent is called: as its card says, or as was found by asking.
type way struct {
	iface    a2a.Interface // as the card has it; url is where it is called
	protocol protocol
	binding  namedBinding
	why      string // in half a sentence
	url      *url.URL
	// unary: messages are sent with the method that does not stream.
	unary bool
	// joined: extensions are named in one header line. a2a-go's servers do not split one,
	// others read the first line only.
	joined bool
	// news say how the way differs from the card. The user is told once, when the agent has taken it.
	news []string
}

// A timeLimit says what of an operation [ClientOptions.Timeout] bounds.
type timeLimit uint8

const (
	limitCall timeLimit = iota // all of it; of a stream, the time until it begins
	limitBody                  // the body of an answer that is no stream: the agent may work before that
	limitNone                  // nothing: it takes as long as the agent works
)

// do performs an operation in the way that the agent takes. Its answer is a stream, or one result:
// see [Stream.Unstreamed].
func (c *Client) do(ctx context.Context, op *operation) (*Stream, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, e, []way{e.currentWay()}, op, nil)
}

// ask performs an operation in the first of the ways that the agent takes, and keeps that way. An agent
// that refuses a way has not begun, so that the next may be tried. first is the refusal that led to these
// ways, which ask returns if there are none; nil for the way that is kept.
func (c *Client) ask(ctx context.Context, e *endpoint, ways []way, given *operation, first error) (*Stream, error) {
	if len(ways) == 0 {
		e.noteOutcome(given, first)
		return nil, e.explain(e.currentWay(), first)
	}
	w := ways[0]
	op := given.forWay(w)
	askOtherwise := func(refusal error) (*Stream, error) {
		switch {
		case first == nil:
			return c.ask(ctx, e, c.otherWays(e, w, op, refusal), given, refusal)
		case refusesWay(refusal):
			if op.answered && w.why == whyMoved { // an agent is there, and where its card says nothing is
				c.keepWay(e, w, op)
				first = refusal
			}
			return c.ask(ctx, e, append(ways[1:], e.unaryWay(w, op, refusal)...), given, first)
		}
		e.noteOutcome(op, refusal)
		return nil, e.explain(w, refusal)
	}
	s, err := c.request(ctx, e, w, op)
	switch {
	case err == nil && s.reader != nil:
		op.streamed = true
		s.accepted, s.askOtherwise = func() { c.keepWay(e, w, op) }, askOtherwise
	case err == nil, takesWay(op, err):
		c.keepWay(e, w, op)
	}
	if err != nil {
		return askOtherwise(err)
	}
	e.noteOutcome(op, nil)
	return s, nil
}

// takesWay reports whether a refusal shows that the agent has taken the way: it looked for the task.
// Most refusals tell nothing of the way; [refusesWay] has those that do.
func takesWay(op *operation, refusal error) bool {
	agent := a2a.ErrorOf(refusal)
	return agent.Has(a2a.CodeTaskNotFound) || agent.Has(a2a.CodeInvalidParams) && op.kind == opGet
}

// otherWays returns the ways that a refusal of w may call for; none for most. The other version, or
// another URL, is among them only as long as the agent has not answered in this one.
func (c *Client) otherWays(e *endpoint, w way, op *operation, refusal error) (list []way) {
	agent := a2a.ErrorOf(refusal)
	if agent == nil || op.kind == opMethod {
		return nil
	}
	fresh := op.kind.essential() && !e.isProven()
	switch code := agent.Code; {
	case agent.HTTPStatus == http.StatusNotFound && !op.answered && !op.streamed: // nothing is there
		if fresh {
			list = c.otherPlaces(e, w)
		}
		if fresh && op.ownURL { // so that the version is in it
			list = append(list, c.otherVersion(e, w)...)
		}
		list = append(list, e.unaryWay(w, op, refusal)...)
	case code == a2a.CodeExtensionSupportRequired && len(c.active())+len(op.activate) > 1:
		w.joined = !w.joined
		list = append(list, w)
	case code == a2a.CodeMethodNotFound || code == a2a.CodeUnsupportedOperation && op.kind == opStream:
		if fresh {
			list = c.otherVersion(e, w)
		}
		list = append(list, e.unaryWay(w, op, refusal)...)
	}
	return list
}

// unaryWay returns w without streaming, as a list of one, where the refusal of a stream may mean that
// the agent does not stream; else nil. "Method not found" that comes in a stream is left out: it may be
// what has come of the message, as of an agent that asks another one and passes its error on.
func (e *endpoint) unaryWay(w way, op *operation, refusal error) []way {
	agent := a2a.ErrorOf(refusal)
	if op.kind != opStream || agent == nil {
		return nil
	}
	noURL := op.ownURL && agent.HTTPStatus == http.StatusNotFound && agent.Code != a2a.CodeTaskNotFound
	if agent.Code != a2a.CodeUnsupportedOperation && !(agent.Code == a2a.CodeMethodNotFound && op.answered) && !noURL {
		return nil
	}
	if w.unary = true; e.card.Streaming {
		w.news = append(slices.Clip(w.news), "its card says that it streams, and it refuses to: its answers come at once, and its tasks are looked at")
	}
	return []way{w}
}

// essential reports whether every agent must offer an operation: one that does not know it most
// likely knows that of the other version.
func (kind opKind) essential() bool {
	return slices.Contains([]opKind{opSend, opStream, opGet, opCancel, opSubscribe}, kind)
}

// otherVersion returns the way in the version that w does not have, over the same binding, as a list
// of one; nil if the user has named a version, or the card has no such interface.
func (c *Client) otherVersion(e *endpoint, w way) []way {
	if c.opts.Version != "" {
		return nil
	}
	was, other := w.protocol.name(), protocol{v03: !w.protocol.v03}.name()
	found, err := c.wayOf(e, wish{other, w.binding.option})
	if err != nil {
		return nil
	}
	found.unary, found.joined, w = w.unary, w.joined, found
	w.news = []string{"it does not know the methods of A2A " + was + ", which its card names, and is called in " + other +
		": --a2a-version " + other + " says so from the start"}
	w.why = "the agent does not know what its card names"
	return []way{w}
}

// userURL returns the URL that the user has given, nil if it is no agent's, or the way has it already.
func (c *Client) userURL(e *endpoint, w way) *url.URL {
	u := e.agentURL
	if u == nil || isCardURL(u) || c.cardAt != (location{}) ||
		strings.TrimRight(u.String(), "/") == strings.TrimRight(w.url.String(), "/") {
		return nil
	}
	return u
}

// usualPath is where agents are called whose cards name their host only.
const usualPath = "/a2a"

// otherPlaces returns w at the user's URL, and at the usual path, where nothing is at the card's.
func (c *Client) otherPlaces(e *endpoint, w way) (list []way) {
	if u := c.userURL(e, w); u != nil {
		list = append(list, w.movedTo(u, ", where --agent is"))
	}
	if strings.Trim(w.url.Path, "/") == "" {
		list = append(list, w.movedTo(w.url.JoinPath(usualPath), ""))
	}
	return list
}

const whyMoved = "nothing is where its card says"

// movedTo returns the way at another URL. which says in the news what that URL is.
func (w way) movedTo(u *url.URL, which string) way {
	w.news = []string{"nothing is at " + safe.Shown(w.url) + ", which its card names: it is called at " + safe.Shown(u) + which}
	w.url, w.why = u, whyMoved
	return w
}

// refusesWay reports whether an error is about the way in which the agent was asked, or says that
// no agent is there: the next way may be tried.
func refusesWay(err error) bool {
	agent := a2a.ErrorOf(err)
	if agent == nil {
		ours, ok := errors.AsType[*failure](err)
		return ok && ours.is == nil
	}
	return agent.Has(a2a.CodeMethodNotFound, a2a.CodeUnsupportedOperation, a2a.CodeVersionNotSupported, a2a.CodeExtensionSupportRequired) ||
		agent.Code == 0 && noRoute(agent.HTTPStatus)
}

// keepWay keeps the way that the agent has taken, with the card, and tells the user its news. That
// the agent knows a method which is none of A2A's says nothing about the way.
func (c *Client) keepWay(e *endpoint, w way, op *operation) {
	if op.kind == opMethod {
		return
	}
	e.mu.Lock()
	news := w.news
	w.news = nil
	e.way, e.proven = w, e.proven || op.kind.essential()
	e.mu.Unlock()
	for _, text := range news {
		c.opts.Log.Warn("agent: " + cardName(e.card) + ": " + text)
	}
}

func (e *endpoint) currentWay() way {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.way
}

// isProven reports whether the agent has answered an essential operation in the version of its way.
func (e *endpoint) isProven() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.proven
}

// forWay returns the operation as it is in a way, op itself or a copy, with no answer yet.
func (op *operation) forWay(w way) *operation {
	if w.unary && op.kind == opStream {
		unary := *op
		unary.kind, unary.stream = opSend, false
		op = &unary
	}
	op.answered, op.streamed = false, false
	return op
}

// request sends an operation, and returns what it is answered with: a stream, as soon as that has
// begun, or a Stream that has the result and has ended.
func (c *Client) request(ctx context.Context, e *endpoint, w way, op *operation) (*Stream, error) {
	life := c.newLife(ctx)
	if op.limit == limitCall {
		defer life.limit(c.timeout).Stop()
	}
	x, err := c.exchange(ctx, life.ctx, e, w, op)
	if err != nil {
		life.end()
		return nil, err
	}
	if x.resp.StatusCode < 300 && op.stream {
		if events := x.isStream(); events || x.mediaType() == jsonLines {
			x.life = life
			r := newFrameReader(x.resp.Body, c.poison)
			r.max, r.ndjson, r.usual = c.maxMessage(), !events, c.reads.most()
			return &Stream{endpoint: e, way: w, x: x, reader: r}, nil
		}
	}
	defer life.end()
	if op.limit == limitBody {
		// It is no stream, so its body has an end, and soon.
		defer life.limit(c.timeout).Stop()
	}
	result, err := x.result(w)
	if err != nil {
		return nil, err
	}
	s := &Stream{endpoint: e, way: w, x: x, result: result, err: io.EOF, ended: true}
	if op.message != nil || op.kind == opSubscribe {
		err = s.checkAnswer()
	}
	return s, err
}

// exchange sends an operation, unless that is known to be missing, and returns when its response has
// begun. It completes op. caller is the caller's context, ctx its [life]'s.
func (c *Client) exchange(caller, ctx context.Context, e *endpoint, w way, op *operation) (*exchange, error) {
	op.id, op.effective = c.lastID.Add(1), op.kind
	r, err := op.spell(w)
	if err != nil {
		return nil, err
	}
	if refusal := e.missing(op.effective); refusal != nil {
		return nil, refusal
	}
	op.ownURL = r.path != "" && op.path == ""
	header := http.Header{"Accept": {r.accept}}
	if w.protocol.header(header); r.body != nil {
		header.Set("Content-Type", "application/json")
	}
	if op.message != nil {
		setTrace(header, op.message.Trace)
	}
	extensions := append(c.active(), op.activate...)
	if w.joined && len(extensions) > 0 {
		extensions = []string{strings.Join(extensions, ", ")}
	}
	for _, uri := range extensions {
		header.Add(w.protocol.extensionHeader(), uri)
	}
	x, err := c.send(caller, ctx, op, r.verb, r.below(w.url), header, r.body)
	if err != nil {
		return nil, err
	}
	c.noteEcho(x.resp.Header.Values(w.protocol.extensionHeader()))
	return x, nil
}

// active returns the extensions of [Client.Activate]. The list may be appended to.
func (c *Client) active() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.extensions) // replaced as a whole
}

// spell makes the HTTP request of an operation, and sets op.what. One that has a path is none of
// A2A's: a plain request below the agent's URL. Gemini's server has its slash commands there.
func (op *operation) spell(w way) (*request, error) {
	if op.path == "" {
		return w.binding.request(w.protocol, op)
	}
	op.what = op.path
	r := &request{verb: http.MethodGet, path: op.path, accept: acceptStream}
	if op.params != nil {
		r.verb = http.MethodPost
	}
	var err error
	r.body, err = w.protocol.params(op)
	return r, err
}

// result reads the answer to an operation, which is no stream, to its end. It sets op.answered.
func (x *exchange) result(w way) (json.RawMessage, error) {
	body, err := x.body()
	if err != nil {
		return nil, err
	}
	status, valid := x.resp.StatusCode, rawjson.Valid(body)
	var result json.RawMessage
	var refusal *a2a.Error
	if x.op.path == "" {
		result, refusal = w.binding.result(x.op, status, rawjson.View(body), valid)
	} else if valid && status < 300 {
		result = body
	}
	x.op.answered = refusal != nil
	switch {
	case refusal != nil:
		return nil, x.agentError(refusal)
	case result == nil:
		return nil, x.notA2A(body)
	}
	return result, nil
}
