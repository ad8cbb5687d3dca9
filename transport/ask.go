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
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A way is how an agent is called: as its card says, or as was found by asking.
type way struct {
	at       a2a.Interface // of the card
	protocol protocol
	kind     bindingKind
	why      string
	url      *url.URL
	// plain: messages are sent with the method that does not stream.
	plain bool
	// joined: extensions are named in one header line. a2a-go's servers do not split one,
	// others read the first line only.
	joined bool
	// news are told, once, when the agent has taken a way that its card does not have.
	news []string
}

// waits says how long an operation may take.
type waits uint8

const (
	waitLimit    waits = iota // the time limit of a unary call; of a stream, until it begins
	waitResponse              // an agent may be silent while it works; what is no stream has the limit then
	waitLong                  // as long as the agent works
)

// do performs one operation. Its answer is a stream, or one result: see
// [Stream.Unstreamed].
func (c *Client) do(ctx context.Context, op *operation) (*Stream, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, e, []way{e.now()}, op, nil)
}

// ask performs an operation in the first of the ways that the agent takes. Where it
// refuses the way in which it was asked it has not begun, so that the next may be tried;
// first is the refusal that led to these ways. What the agent took is kept with the card.
func (c *Client) ask(ctx context.Context, e *endpoint, ways []way, given *operation, first error) (*Stream, error) {
	if len(ways) == 0 {
		e.learn(given, first)
		return nil, e.explain(e.now(), first)
	}
	w := ways[0]
	op := given.in(w)
	further := func(refusal error) (*Stream, error) {
		switch {
		case first == nil:
			return c.ask(ctx, e, c.others(e, w, op, refusal), given, refusal)
		case refusesWay(refusal):
			return c.ask(ctx, e, append(ways[1:], e.plainly(w, op, refusal)...), given, first)
		}
		e.learn(op, refusal)
		return nil, e.explain(w, refusal)
	}
	s, err := c.request(ctx, e, w, op)
	switch {
	case err == nil && s.frames != nil:
		op.streamed = true
		s.took, s.refused = func() { c.took(e, w, op) }, further
	case err == nil, hasLooked(op, err):
		c.took(e, w, op)
	}
	if err != nil {
		return further(err)
	}
	e.learn(op, nil)
	return s, nil
}

// hasLooked reports whether a refusal says that the agent has looked for the task.
func hasLooked(op *operation, refusal error) bool {
	var agent *a2a.Error
	return errors.As(refusal, &agent) && (agent.Code == a2a.CodeTaskNotFound || agent.Code == a2a.CodeInvalidParams && op.kind == opGet)
}

// others returns the ways that may be meant by a refusal. The other version, or another
// place, is tried only as long as the agent has not answered.
func (c *Client) others(e *endpoint, w way, op *operation, refusal error) (list []way) {
	var agent *a2a.Error
	if !errors.As(refusal, &agent) || op.kind == opMethod {
		return nil
	}
	fresh := op.kind.essential() && !e.isProven()
	switch code := agent.Code; {
	case agent.HTTPStatus == http.StatusNotFound && !op.answered && !op.streamed: // nothing is there
		if fresh {
			list = c.otherPlaces(w)
		}
		if fresh && op.ownURL { // so that the version is in it
			list = append(list, c.otherVersion(e, w)...)
		}
		list = append(list, e.plainly(w, op, refusal)...)
	case code == a2a.CodeExtensionSupportRequired && len(c.active())+len(op.activate) > 1:
		w.joined = !w.joined
		list = append(list, w)
	case code == a2a.CodeMethodNotFound || code == a2a.CodeUnsupportedOperation && op.kind == opStream:
		if fresh {
			list = c.otherVersion(e, w)
		}
		list = append(list, e.plainly(w, op, refusal)...)
	}
	return list
}

// plainly returns a way without streaming, where the refusal of a stream may mean that
// the agent does not stream. That it does not know a method, said in a stream that has begun,
// may be what has come of the message: an agent that asks another one passes its error on.
func (e *endpoint) plainly(w way, op *operation, refusal error) []way {
	var agent *a2a.Error
	if op.kind != opStream || !errors.As(refusal, &agent) {
		return nil
	}
	noURL := op.ownURL && agent.HTTPStatus == http.StatusNotFound && agent.Code != a2a.CodeTaskNotFound
	if agent.Code != a2a.CodeUnsupportedOperation && !(agent.Code == a2a.CodeMethodNotFound && op.answered) && !noURL {
		return nil
	}
	if w.plain = true; e.card.Streaming {
		w.news = append(slices.Clip(w.news), "its card says that it streams, and it refuses to: its answers come at once, and its tasks are looked at")
	}
	return []way{w}
}

// essential reports whether every agent has an operation, so that one that does not know
// it may know the other version's.
func (kind opKind) essential() bool {
	return slices.Contains([]opKind{opSend, opStream, opGet, opCancel, opSubscribe}, kind)
}

// otherVersion is the way in the version that the card does not name, at the same place;
// none if the user has named one.
func (c *Client) otherVersion(e *endpoint, w way) []way {
	if c.opts.Version != "" {
		return nil
	}
	was, other := w.protocol.name(), protocol{v03: !w.protocol.v03}.name()
	found, err := c.wayOf(e, wish{other, w.kind.option})
	if err != nil {
		return nil
	}
	found.plain, found.joined, w = w.plain, w.joined, found
	w.news = []string{"it does not know the methods of A2A " + was + ", which its card names, and is called in " + other +
		": --a2a-version " + other + " says so from the start"}
	w.why = "the agent does not know what its card names"
	return []way{w}
}

// userURL is the URL that the user has given, nil if it is no agent's, or what the way has already.
func (c *Client) userURL(w way) *url.URL {
	u := c.source.url
	if u == nil || isCardURL(u) || c.cardAt != (cardSource{}) || strings.TrimRight(u.String(), "/") == strings.TrimRight(w.url.String(), "/") {
		return nil
	}
	return u
}

// usualPath is where agents are called whose cards name their host only.
const usualPath = "/a2a"

// otherPlaces are the ways by the user's URL, and by the usual path, where nothing is at the card's.
func (c *Client) otherPlaces(w way) (list []way) {
	if u := c.userURL(w); u != nil {
		list = append(list, w.movedTo(u, ", where --agent is"))
	}
	if strings.Trim(w.url.Path, "/") == "" {
		list = append(list, w.movedTo(w.url.JoinPath(usualPath), ""))
	}
	return list
}

// movedTo is the way at another URL, where nothing is at the card's.
func (w way) movedTo(u *url.URL, which string) way {
	w.news = []string{"nothing is at " + shown(w.url) + ", which its card names: it is called at " + shown(u) + which}
	w.url, w.why = u, "nothing is where its card says"
	return w
}

// refusesWay reports whether an error is about how the agent was asked, or says that no
// agent is there.
func refusesWay(err error) bool {
	var agent *a2a.Error
	var ours *failure
	if !errors.As(err, &agent) {
		return errors.As(err, &ours) && ours.is == nil
	}
	switch agent.Code {
	case a2a.CodeMethodNotFound, a2a.CodeUnsupportedOperation, a2a.CodeVersionNotSupported, a2a.CodeExtensionSupportRequired:
		return true
	}
	return agent.Code == 0 && noRoute(agent.HTTPStatus)
}

// took keeps the way that the agent has taken. That it knows a method which is none of
// A2A's says nothing about the way.
func (c *Client) took(e *endpoint, w way, op *operation) {
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

func (e *endpoint) now() way {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.way
}

// isProven reports whether the agent has answered in the version that it is called in.
func (e *endpoint) isProven() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.proven
}

// in returns the operation as it is in a way.
func (op *operation) in(w way) *operation {
	if w.plain && op.kind == opStream {
		plain := *op
		plain.kind, plain.stream, plain.wait = opSend, false, waitResponse
		op = &plain
	}
	op.answered, op.streamed = false, false
	return op
}

// request makes the request of an operation, and reads what it is answered with: a
// stream, as soon as that has begun, or a result.
func (c *Client) request(ctx context.Context, e *endpoint, w way, op *operation) (*Stream, error) {
	life := c.newLife(ctx)
	if op.wait == waitLimit {
		defer life.limit(c.timeout).Stop()
	}
	x, err := c.post(ctx, life.ctx, e, w, op)
	if err != nil {
		life.end()
		return nil, err
	}
	if x.resp.StatusCode < 300 && op.stream {
		if events := x.isStream(); events || x.mediaType() == jsonLines {
			x.life = life
			return newStream(e, w, x, !events), nil
		}
	}
	defer life.end()
	if op.wait == waitResponse {
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

// post makes the request of an operation and returns when its response has begun.
func (c *Client) post(caller, ctx context.Context, e *endpoint, w way, op *operation) (*exchange, error) {
	op.id, op.as = c.lastID.Add(1), op.kind
	r, err := op.spell(w)
	if err != nil {
		return nil, err
	}
	if refusal := e.missing(op.as); refusal != nil {
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

// active returns the extensions of [Client.Activate].
func (c *Client) active() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.extensions) // replaced as a whole
}

// spell makes the HTTP request of an operation. One that has a path is none of A2A's: a
// plain request below the agent's URL. Gemini's server has its slash commands there.
func (op *operation) spell(w way) (*request, error) {
	if op.path == "" {
		return w.kind.request(w.protocol, op)
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

// result reads the answer to an operation.
func (x *exchange) result(w way) (json.RawMessage, error) {
	body, err := x.body()
	if err != nil {
		return nil, err
	}
	status, valid := x.resp.StatusCode, rawjson.Valid(body)
	var result json.RawMessage
	var refusal *a2a.Error
	if x.op.path == "" {
		result, refusal = w.kind.result(x.op, status, rawjson.View(body), valid)
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
