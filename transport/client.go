package transport

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// DefaultTimeout bounds connecting and unary calls. An agent that starts a
// container for its first request takes some seconds; beyond half a minute a
// person has given up.
const DefaultTimeout = 30 * time.Second

// ClientOptions are how to reach an agent. Zero values mean the defaults.
type ClientOptions struct {
	// Header is added to each request that goes to the origin of the agent's URL
	// or to a trusted one, and to no other: credentials, mostly.
	Header http.Header
	// TrustOrigins are further origins, like https://host:port, that the card or
	// a redirect may lead to.
	TrustOrigins []string
	// Timeout bounds connecting, and unary calls as a whole. A stream has no
	// limit once its connection is there: nobody knows how long an agent works.
	Timeout time.Duration
	// Version is the protocol version to use: "auto" or "" for the best that the
	// card and we have in common, or "1.0" or "0.3".
	Version string
	// RoundTripper takes the place of the client's own transport. With it, the
	// client cannot see whether a byte was written to a connection, and takes a
	// request for possibly delivered as soon as its body has been read.
	RoundTripper http.RoundTripper
	// Wrap sees every request as it goes out and every response as it comes: the
	// trace.
	Wrap func(http.RoundTripper) http.RoundTripper
	// Log gets details about retries.
	Log *slog.Logger
	// UserAgent names the program.
	UserAgent string
	// Resolve finds out where the agent is if [NewClient] was not told, because
	// it is only being started: what it returns is then what NewClient would have
	// been given. It is called before the card is first fetched, and never twice
	// at a time; the answer is remembered, an error is not. Its context ends with
	// the client, and not with who waits for it: that may take minutes.
	Resolve func(ctx context.Context) (string, error)
	// Process is the agent's, if it was started for this client. Once it has ended
	// every call says so at once ([ErrGone]).
	Process Process
	// Poison is for tests: what [Stream.Read] returned is overwritten as soon as
	// it is no longer valid, so that whoever keeps it finds out.
	Poison bool
}

// A Client talks to one agent. Its methods may be called concurrently.
type Client struct {
	opts    ClientOptions
	source  cardSource
	origins *origins
	retry   *retryablehttp.Client
	own     *http.Transport // nil if it is somebody else's
	timeout time.Duration

	// base is done when the client is closed; wg counts its goroutines.
	base  context.Context
	close context.CancelFunc

	lastID atomic.Uint64

	mu         sync.Mutex
	wg         sync.WaitGroup
	closed     bool
	extensions []string
	known      *endpoint   // nil until the card is there
	flight     *cardFlight // the fetch that is under way
}

// NewClient makes a client for an agent: a base URL below which the card is at
// its well-known path, the URL of a card (which ends in .json), or a card as a
// file. It does not use the network. An empty one is found out by
// [ClientOptions.Resolve].
func NewClient(agent string, opts *ClientOptions) (*Client, error) {
	c := new(Client)
	if opts != nil {
		c.opts = *opts
	}
	header := make(http.Header)
	for name, values := range c.opts.Header {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	c.opts.Header = header
	if c.opts.Version == "auto" {
		c.opts.Version = ""
	}
	if v := c.opts.Version; v != "" && !slices.ContainsFunc(versions(), func(known version) bool { return known.name == v }) {
		return nil, failf(nil, "A2A version %q is not one that we speak", v)
	}
	if c.timeout = c.opts.Timeout; c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	var err error
	if c.origins, err = newOrigins(c.opts.TrustOrigins); err != nil {
		return nil, err
	}
	if agent != "" || c.opts.Resolve == nil {
		if err := c.setAgent(agent); err != nil {
			return nil, err
		}
	}
	next := c.opts.RoundTripper
	if next == nil {
		c.own = newTransport(c.timeout)
		next = c.own
	}
	if c.opts.Wrap != nil {
		next = c.opts.Wrap(next)
	}
	c.retry = newRetry(&http.Client{
		Transport:     &guard{next: next, origins: c.origins, header: c.opts.Header},
		CheckRedirect: c.origins.checkRedirect,
	}, c.opts.Log)
	c.base, c.close = context.WithCancel(context.Background())
	return c, nil
}

// setAgent reads the agent's URL, or finds the file.
func (c *Client) setAgent(agent string) error {
	scheme, rest, isURL := strings.Cut(agent, "://")
	switch {
	case isURL && scheme == "file":
		path, err := url.PathUnescape(rest)
		if err != nil {
			return failf(nil, "%s is no file URL", agent)
		}
		if len(path) > 2 && path[0] == '/' && path[2] == ':' {
			path = path[1:] // file:///C:/card.json
		}
		c.source.file = filepath.FromSlash(path)
	case isURL:
		u, err := url.Parse(agent)
		if err != nil || !webURL(u) {
			return failf(nil, "%q is no http or https URL", redactString(agent))
		}
		if u.User != nil {
			// As a header it goes where the other credentials go, and into no text.
			if c.opts.Header.Get("Authorization") == "" {
				password, _ := u.User.Password()
				c.opts.Header.Set("Authorization", "Basic "+
					base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
			}
			u.User = nil
		}
		u.Fragment, u.RawFragment = "", ""
		c.source.url = u
		c.origins.own.Store(u)
	default:
		if _, err := os.Stat(agent); err != nil && !strings.HasSuffix(agent, ".json") {
			return failf(nil, "%q is neither a URL nor a file: a URL begins with http:// or https://", redactString(agent))
		}
		c.source.file = agent
	}
	return nil
}

// resolve finds out where the agent is, if that is not known. Only the fetch of
// the card calls it, so it never runs twice at a time, and no request goes out
// before it: what it sets needs no lock.
func (c *Client) resolve() error {
	if c.source != (cardSource{}) {
		return nil
	}
	agent, err := c.opts.Resolve(c.base)
	switch {
	case err == nil:
		return c.setAgent(agent)
	case c.base.Err() != nil:
		return failf(errors.Join(ErrEnded, err), "the client was closed before the agent was there")
	case c.ended() != nil:
		return c.ended()
	}
	return failf(errors.Join(ErrUnreachable, err), "%s", strings.TrimPrefix(err.Error(), "agent: "))
}

// Activate names the extensions, by URI, that every later call asks for.
func (c *Client) Activate(extensions []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extensions = slices.Clone(extensions)
}

// Send sends a message, and returns what the agent says about it as it comes.
// If the agent cannot stream, that is the one answer it has.
//
// A message is delivered at most once. It is sent again only where it is certain
// that nothing of it was written, or where the agent has refused it with a 429
// and said when to come back; if it may have been delivered, the error wraps
// [ErrPossiblyDelivered].
//
// ctx governs the stream too, until it has ended or was given to [Stream.Drain].
func (c *Client) Send(ctx context.Context, m *a2a.Outgoing) (*Stream, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.sendStream(ctx, e, m)
}

// Resubscribe follows a task that is under way. It is tried once: whoever
// follows a task has waits of its own.
//
// lastEventID is the [Stream.LastEventID] of the stream before it, "" if there
// was none. Nobody who was tried resumes from it, so it is sent and not relied on.
func (c *Client) Resubscribe(ctx context.Context, taskID, lastEventID string) (*Stream, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	method, params := e.protocol.resubscribe(taskID)
	op := opRestore
	op.lastEventID = lastEventID
	return c.stream(ctx, e, op, method, params)
}

// Get looks a task up. A historyLength below 0 is left out, which servers
// understand differently: as all of it, or as none.
func (c *Client) Get(ctx context.Context, taskID string, historyLength int) (*a2a.Event, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	method, params := e.protocol.get(taskID, historyLength)
	return c.task(ctx, e, method, params)
}

// Cancel asks the agent to stop work on a task.
func (c *Client) Cancel(ctx context.Context, taskID string) (*a2a.Event, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	method, params := e.protocol.cancel(taskID)
	return c.task(ctx, e, method, params)
}

// Call calls any other method and returns its result as it is; null for an
// answer that has neither result nor error, which is how some agents say that
// they are done. Params are marshaled; nil leaves them out. What the method does
// is not known, so it is repeated no more than a message is.
func (c *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.unary(ctx, e, opOnce, method, params)
}

// CallStream calls a method that may answer with a stream of events, or with a
// plain result.
func (c *Client) CallStream(ctx context.Context, method string, params any) (*Stream, json.RawMessage, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	return c.open(ctx, e, opOnce, method, params)
}

// Close ends streams and drains, and what else is under way. When it returns,
// no goroutine of the client is left.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.close()
	c.wg.Wait()
	if c.own != nil {
		// Only now, when no task can want its connection any more (idlePerHost).
		c.own.CloseIdleConnections()
	}
	return nil
}

// spawn runs f in a goroutine that Close waits for, unless it is too late.
// f ends when c.base is done.
func (c *Client) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Go(f)
	return true
}
