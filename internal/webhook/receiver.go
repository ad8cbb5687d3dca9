package webhook

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// DefaultMaxBody is how much one push may hold. Agents of A2A 0.3 send the whole
	// task with each event, so it is more than an event needs.
	DefaultMaxBody = 4 << 20
	// DefaultTimeout is how long a request may take to arrive: agents give up after
	// some seconds themselves.
	DefaultTimeout = 10 * time.Second
	// patience is how long a body may take beside what it takes at slowest: who sends
	// a byte now and then holds a place for that long, and not for all of Timeout.
	patience = 2 * time.Second
	slowest  = 64 << 10 // bytes a second
	// drained is how much of a push that is too large is read all the same, in times of
	// what it may hold.
	drained = 8
	// retryAfter is what an agent is told that comes too often, in seconds.
	retryAfter = "1"
	// maxChallenge bounds what is sent back to an agent that checks the address.
	maxChallenge = 256
)

// ErrFull is what a [Queue] returns that cannot take a push now.
var ErrFull = errors.New("webhook: the queue is full")

// A Queue is where a [Receiver] puts what it has checked. Its methods are called
// concurrently.
type Queue interface {
	// Token returns what a request to this name has to show; ok is false if there
	// is no such name. Names are the path of a request's URL behind [Options.Prefix].
	Token(name string) (token string, ok bool)
	// Put queues a push. It returns once the push is as safe as the queue can make
	// it. id, if it is not empty, is the same for a repetition, which is dropped.
	// Any error becomes a 503.
	Put(ctx context.Context, name, id string, payload []byte) error
}

// Options are how to receive. The zero value of each member is good.
type Options struct {
	// Segments is of how many segments of a path a name consists; 0: one. What is
	// before them is the business of the proxy in front.
	Segments int
	// MaxBody is how many bytes a push may hold; 0: [DefaultMaxBody].
	MaxBody int64
	// Timeout is how long a request may take to arrive; 0: [DefaultTimeout].
	Timeout time.Duration
	// MediaTypes are the content types that are taken; nil: application/json,
	// application/a2a+json and anything else that ends in +json.
	MediaTypes []string
	// Keys, if not nil, are the agent's: each push has to carry a JWT that one of
	// them has signed, beside the token.
	Keys *Keys
	// Log gets what was refused, without anything secret; nil: nothing.
	Log *slog.Logger
	// Now is the clock; nil: [time.Now].
	Now func() time.Time
}

// A Receiver is the HTTP handler that agents push to. The package comment says what
// it answers. It is safe for concurrent use.
type Receiver struct {
	queue  Queue
	opts   Options
	limits *limiter
}

// NewReceiver returns a Receiver in front of a queue. opts is copied; it may be nil.
func NewReceiver(queue Queue, opts *Options) *Receiver {
	r := &Receiver{queue: queue}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Segments == 0 {
		r.opts.Segments = 1
	}
	if r.opts.MaxBody == 0 {
		r.opts.MaxBody = DefaultMaxBody
	}
	if r.opts.Timeout == 0 {
		r.opts.Timeout = DefaultTimeout
	}
	if r.opts.Log == nil {
		r.opts.Log = slog.New(slog.DiscardHandler)
	}
	if r.opts.Now == nil {
		r.opts.Now = time.Now
	}
	r.limits = newLimiter(r.opts.Now)
	return r
}

// ServeHTTP implements [http.Handler].
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	name := lastSegments(req.URL.Path, r.opts.Segments)
	token, ok := r.queue.Token(name)
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if challenge, ok := challengeOf(req); ok {
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, challenge) // its client is gone, if this fails
		return
	}
	status, why := r.receive(w, req, name, token)
	if status != http.StatusOK {
		r.opts.Log.Debug("a push was refused", "from", req.RemoteAddr, "status", status, "why", why)
	}
	w.WriteHeader(status)
}

// receive checks a request and queues what it brings.
func (r *Receiver) receive(w http.ResponseWriter, req *http.Request, name, token string) (status int, why string) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, req.Method
	}
	proof, err := r.authenticate(req, token)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return http.StatusUnauthorized, err.Error()
	}
	leave, ok := r.limits.enter(name)
	if !ok {
		w.Header().Set("Retry-After", retryAfter)
		return http.StatusTooManyRequests, "too many at once, or in a second"
	}
	defer leave()
	if !r.takes(req.Header.Get("Content-Type")) {
		return http.StatusUnsupportedMediaType, req.Header.Get("Content-Type")
	}
	body, status := r.body(w, req)
	if status != 0 {
		return status, "its body"
	}
	if !proof.covers(body) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return http.StatusUnauthorized, "the JWT was signed for another body"
	}
	shape, err := readShape(body)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if err := r.queue.Put(req.Context(), name, identity(proof, shape, body), body); err != nil {
		w.Header().Set("Retry-After", retryAfter)
		return http.StatusServiceUnavailable, err.Error()
	}
	return http.StatusOK, ""
}

// takes reports whether a content type is one of those that are taken.
func (r *Receiver) takes(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	if r.opts.MediaTypes != nil {
		return slices.Contains(r.opts.MediaTypes, kind)
	}
	return kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
}

// body reads the body; status is not 0 if it cannot be taken.
func (r *Receiver) body(w http.ResponseWriter, req *http.Request) (body []byte, status int) {
	if enc := req.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, http.StatusUnsupportedMediaType // no agent compresses, and a bomb would be
	}
	// Of a server that is not ours ([http.ErrNotSupported]) the timeouts count.
	now := r.opts.Now()
	src := &paced{ReadCloser: req.Body, c: http.NewResponseController(w), begun: now, limit: now.Add(r.opts.Timeout)}
	if req.ContentLength > r.opts.MaxBody {
		r.drain(src)
		return nil, http.StatusRequestEntityTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, src, r.opts.MaxBody))
	var large *http.MaxBytesError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &large):
		r.drain(src)
		return nil, http.StatusRequestEntityTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, http.StatusRequestTimeout
	case err != nil:
		return nil, http.StatusBadRequest
	}
	return body, 0
}

// drain reads on, to nowhere: many agents look for an answer once they have sent all,
// and of a connection that was closed before they would learn nothing.
func (r *Receiver) drain(src io.Reader) {
	_, _ = io.CopyN(io.Discard, src, drained*r.opts.MaxBody) // its end, or that of its time
}

// A paced body has to come at a pace.
type paced struct {
	io.ReadCloser
	c            *http.ResponseController
	begun, limit time.Time
	n            int64
}

// Read implements [io.Reader].
func (p *paced) Read(b []byte) (int, error) {
	due := p.begun.Add(patience + time.Duration(p.n)*time.Second/slowest)
	if p.limit.Before(due) {
		due = p.limit
	}
	_ = p.c.SetReadDeadline(due)
	n, err := p.ReadCloser.Read(b)
	p.n += int64(n)
	return n, err
}

// lastSegments returns the last n segments of a path, "" if it has fewer.
func lastSegments(path string, n int) string {
	at := len(path)
	for range n {
		if at = strings.LastIndexByte(path[:at], '/'); at < 0 {
			return ""
		}
	}
	return path[at+1:]
}

// challengeOf returns what an agent that checks the address wants to see again: the
// samples of the A2A project ask for it with a GET. Nothing that a browser would
// take for more than text is sent back.
func challengeOf(req *http.Request) (string, bool) {
	if req.Method != http.MethodGet {
		return "", false
	}
	challenge := req.URL.Query().Get("validationToken")
	if challenge == "" || len(challenge) > maxChallenge {
		return "", false
	}
	for _, b := range []byte(challenge) {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', strings.IndexByte("-._~", b) >= 0:
		default:
			return "", false
		}
	}
	return challenge, true
}
