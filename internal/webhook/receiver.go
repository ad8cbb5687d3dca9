package webhook

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxBody bounds one push. Agents of A2A 0.3 send the whole task with each event, so it
	// is more than an event needs.
	maxBody = 4 << 20
	// pushTimeout bounds how long a push may take to arrive: agents give up after some
	// seconds, too.
	pushTimeout = 10 * time.Second
	// maxAtOnce bounds the pushes that are read at once, and so the memory that slow ones
	// hold.
	maxAtOnce = 8
	// retryAfter, in seconds, is for an agent whose push was not taken.
	retryAfter = "1"
)

// errFull is returned when a push cannot be taken now.
var errFull = errors.New("too many pushes are waiting")

// Options tell how to receive. Issuers are needed with Keys.
type Options struct {
	// Keys, if not nil, are the agent's: each push must carry a JWT signed by one of them.
	Keys *cardsign.Keys
	// Issuers returns URLs of the agent. A JWT that names its issuer must name the origin
	// of one.
	Issuers func(context.Context) []string
	// Log gets refusals, without secrets; nil: nothing.
	Log *slog.Logger
}

// A Receiver has the addresses of a bridge's turns: the bridge opens them by
// [bridge.Webhooks]. It is the HTTP handler for what agents push there. The package
// comment lists its answers. It is safe for concurrent use.
type Receiver struct {
	opts    Options
	base    string // the public URL in front of the addresses
	reading chan struct{}

	mu    sync.Mutex
	bytes int // queued bytes of all boxes
	boxes map[string]*box
	ended []string // names of closed boxes, the oldest first
}

// NewReceiver returns a Receiver without addresses, for which SetBase is called first.
func NewReceiver(opts Options) *Receiver {
	r := &Receiver{opts: opts, reading: make(chan struct{}, maxAtOnce), boxes: map[string]*box{}}
	if r.opts.Log == nil {
		r.opts.Log = slog.New(slog.DiscardHandler)
	}
	return r
}

// ServeHTTP implements [http.Handler].
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	// What precedes the name belongs to the proxy in front.
	x := r.named(req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:])
	if x == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	status, why := r.receive(w, req, x)
	r.opts.Log.Debug("a push has come", "from", req.RemoteAddr, "status", status, "why", why)
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(status)
}

// receive checks a request and queues what it brings.
func (r *Receiver) receive(w http.ResponseWriter, req *http.Request, x *box) (status int, why string) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, req.Method
	}
	claims, err := r.authenticate(req, x)
	if err != nil {
		return http.StatusUnauthorized, err.Error()
	}
	if !isJSON(req.Header.Get("Content-Type")) {
		return http.StatusUnsupportedMediaType, req.Header.Get("Content-Type")
	}
	select {
	case r.reading <- struct{}{}:
		defer func() { <-r.reading }()
	default:
		return http.StatusServiceUnavailable, errFull.Error()
	}
	body, status := readBody(w, req)
	if status != 0 {
		return status, "its body"
	}
	if !claims.covers(body) {
		return http.StatusUnauthorized, "its JWT was signed for another body"
	}
	if !isPush(body) {
		return http.StatusBadRequest, "neither a task nor an event of A2A"
	}
	id := claims.ID
	if id != "" {
		id = hashed([]byte(id)) // it may be long
	}
	if err := x.put(id, body); err != nil {
		return http.StatusServiceUnavailable, err.Error()
	}
	return http.StatusOK, ""
}

// isJSON reports whether a content type is JSON of any kind.
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// readBody reads the body; status is not 0 if it is refused.
func readBody(w http.ResponseWriter, req *http.Request) (body []byte, status int) {
	if enc := req.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, http.StatusUnsupportedMediaType // no agent compresses, and the body may be a bomb
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, http.StatusRequestEntityTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, http.StatusRequestTimeout
	case err != nil:
		return nil, http.StatusBadRequest
	}
	return body, 0
}

// isPush reports whether a body is a task or an event of A2A, of any version, that names
// its task, or its message. The bridge reads the rest.
func isPush(body []byte) bool {
	if !utf8.Valid(body) || !rawjson.Valid(body) {
		return false
	}
	ev := transport.ReadPushed(body)
	if ev.Kind == a2a.EventMessage {
		return ev.Message.ID != ""
	}
	return ev.Kind != a2a.EventUnknown && ev.TaskID != ""
}
