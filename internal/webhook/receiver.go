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
	// DefaultMaxBody bounds one push. Agents of A2A 0.3 send the whole task with each
	// event, so it is more than an event needs.
	DefaultMaxBody = 4 << 20
	// DefaultTimeout bounds how long a request may take to arrive: agents give up after
	// some seconds, too.
	DefaultTimeout = 10 * time.Second
	// patience is how long a body may take beyond its time at the slowest rate. A sender
	// that drips bytes holds a place only for that long, not for all of Timeout.
	patience = 2 * time.Second
	slowest  = 64 << 10 // bytes a second
	// drained bounds how much of a push that is too large is still read, as a multiple of
	// MaxBody.
	drained = 8
	// retryAfter, in seconds, is for an agent that pushes too often.
	retryAfter = "1"
	// maxChallenge bounds what is echoed to an agent that verifies the address.
	maxChallenge = 256
)

// ErrFull is a [Queue]'s error when it cannot take a push now.
var ErrFull = errors.New("webhook: the queue is full")

// A Queue takes what a [Receiver] has checked. Its methods are called concurrently.
type Queue interface {
	// Token returns the token for requests to a name; ok is false if the name does not
	// exist. A name is the last segments of a request's path: see [Options.Segments].
	Token(name string) (token string, ok bool)
	// Put queues a push. It returns once the push is as safe as the queue can make it. A
	// non-empty id identifies repetitions, which are dropped. Any error becomes a 503.
	Put(ctx context.Context, name, id string, payload []byte) error
}

// Options tell how to receive. The zero value of each member is good.
type Options struct {
	// Segments is the number of path segments in a name; 0: one. What precedes them
	// belongs to the proxy in front.
	Segments int
	// MaxBody bounds a push, in bytes; 0: [DefaultMaxBody].
	MaxBody int64
	// Timeout bounds how long a request may take to arrive; 0: [DefaultTimeout].
	Timeout time.Duration
	// MediaTypes are the accepted content types; nil: application/json,
	// application/a2a+json and all others that end in +json.
	MediaTypes []string
	// Keys, if not nil, are the agent's: each push must carry a JWT signed by one of them,
	// beside the token.
	Keys *Keys
	// Log gets refusals, without secrets; nil: nothing.
	Log *slog.Logger
	// Now is the clock; nil: [time.Now].
	Now func() time.Time
}

// A Receiver is the HTTP handler for agents' pushes. The package comment lists its
// answers. It is safe for concurrent use.
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
		_, _ = io.WriteString(w, challenge) // the client may have left
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

// takes reports whether a content type is accepted.
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

// body reads the body; status is not 0 if it is refused.
func (r *Receiver) body(w http.ResponseWriter, req *http.Request) (body []byte, status int) {
	if enc := req.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, http.StatusUnsupportedMediaType // no agent compresses, and the body may be a bomb
	}
	// For another server ([http.ErrNotSupported]) its own timeouts hold.
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

// drain reads on and drops what it reads: many agents look for an answer only after
// they have sent all, and a closed connection would tell them nothing.
func (r *Receiver) drain(src io.Reader) {
	_, _ = io.CopyN(io.Discard, src, drained*r.opts.MaxBody) // until its end, or that of its time
}

// A paced body must keep a minimum rate.
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

// challengeOf returns what an agent that verifies the address wants echoed: the A2A
// samples ask for it by GET. It refuses all that a browser might take for more than
// text.
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
