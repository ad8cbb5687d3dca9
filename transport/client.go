package transport

import (
	"cmp"
	"context"
	"crypto/tls"
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

	"github.com/a2astdio/a2astdio/internal/poison"
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
	// Credentials, if it is set, returns what each such request carries beside Header.
	// Header wins where both have a header of one name.
	Credentials CredentialSource
	// TLS says which certificates of agents are trusted, and which one the client has;
	// nil: the system's authorities, and none. Where certificates are not verified,
	// credentials are sent to this machine alone.
	TLS *tls.Config
	// TrustOrigins are further origins, like https://host:port, that the card or
	// a redirect may lead to.
	TrustOrigins []string
	// Timeout bounds connecting, and unary calls as a whole. A stream has no
	// limit once its connection is there: nobody knows how long an agent works.
	Timeout time.Duration
	// Version is the protocol version to use: "auto" or "" for the best that the
	// card and we have in common, or "1.0" or "0.3".
	Version string
	// Binding is how operations are to travel: "auto" or "" for what the card prefers
	// among what we speak, or "jsonrpc" or "http+json". An agent without a card is
	// called at the URL that NewClient was given if Version and Binding both say how.
	Binding string
	// Card is where the agent's card is, if not where agents have it: a URL, or a
	// file. Credentials go there only if it is at the agent's origin, or a trusted one.
	Card string
	// RoundTripper takes the place of the client's own transport. With it, the client need not see
	// whether a byte was written to a connection, and takes a request for possibly delivered unless
	// the error is a [net.OpError] of dialing.
	RoundTripper http.RoundTripper
	// Wrap sees every request as it goes out and every response as it comes: the
	// trace.
	Wrap func(http.RoundTripper) http.RoundTripper
	// Log gets details about retries.
	Log *slog.Logger
	// MaxMessage is how many MiB an event of a stream, or an answer, may have; 0: 64.
	MaxMessage int
	// AcceptedOutputModes are those of messages that name none.
	AcceptedOutputModes []string
	// UserAgent names the program.
	UserAgent string
	// Resolve returns the agent's URL if [NewClient] got none, because the agent is
	// only being started. It is called before the card is first fetched, and never
	// twice at a time. The URL is remembered until Process is revived; an error is not.
	// Its context ends with the client, and not with the caller that waits for it: a
	// start may take minutes.
	Resolve func(ctx context.Context) (string, error)
	// Process is the agent's, if it was started for this client. Once it has ended
	// every call says so at once ([ErrExited]).
	Process Process
	// CheckCard is given each card, as it came, before anything is read from
	// it. It returns the card to use instead: the same, or the part of it that can be relied on. Its error refuses the card. It
	// is not called twice at a time by one client; its context ends with the time limit
	// of the request. With it, the card is asked for in A2A 1.0: agents that also speak
	// 0.3 may show another card to a client that names no version, and have signed that
	// of 1.0.
	CheckCard func(ctx context.Context, card []byte) ([]byte, error)
	// BareCard keeps Header out of the request for the card, so that no credential
	// is sent before CheckCard has allowed the card.
	BareCard bool
}

// A Client talks to one agent. Its methods may be called concurrently.
type Client struct {
	opts    ClientOptions
	agentAt location // what the caller, or Resolve, has named the agent by
	cardAt  location // ClientOptions.Card
	// resolvedFor is the run of the agent's process that agentAt is of: see [Client.Exited].
	resolvedFor <-chan struct{}
	origins     *origins
	guard       *guard
	echo        atomic.Pointer[[]string]
	retry       *retryablehttp.Client
	own         *http.Transport // nil if the options gave one
	reads       sharedReads     // of own
	timeout     time.Duration
	poison      bool // see package poison

	// base is done when the client is closed, which happens under mu; wg counts its goroutines.
	base  context.Context
	close context.CancelFunc
	wg    sync.WaitGroup

	lastID atomic.Uint64 // of operations

	mu         sync.Mutex // of what follows
	extensions []string
	current    *endpoint  // nil until the card is there
	fetching   *cardFetch // the fetch that is under way
	loading    sync.Mutex // held by a fetch, also by one whose card is not used: see [Client.ForgetCard]
}

// NewClient makes a client for an agent: a base URL below which the card is at its
// well-known path, the URL of a card (which ends in .json), or a card as a file. It
// does not use the network. For an empty one [ClientOptions.Resolve] is asked.
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
	if c.opts.Log == nil {
		c.opts.Log = slog.New(slog.DiscardHandler)
	}
	c.timeout = cmp.Or(max(c.opts.Timeout, 0), DefaultTimeout)
	err := c.checkSpoken()
	if err != nil {
		return nil, err
	}
	if c.origins, err = newOrigins(c.opts.TrustOrigins); err != nil {
		return nil, err
	}
	next := c.opts.RoundTripper
	_, c.poison = next.(poison.Wanted)
	if next == nil {
		c.own = newTransport(c.timeout, c.opts.TLS, &c.reads)
		next = c.own
	}
	if c.opts.Wrap != nil {
		next = c.opts.Wrap(next)
	}
	c.guard = &guard{next: next, origins: c.origins, credentials: c.opts.Credentials,
		insecure: unverified(c.opts.TLS), certificate: hasCertificate(c.opts.TLS), foreign: c.own == nil}
	c.guard.header.Store(&header)
	if agent != "" || c.opts.Resolve == nil {
		c.opts.Resolve = nil
		if err := c.setAgent(agent); err != nil {
			return nil, err
		}
	}
	if c.opts.Card != "" {
		if c.cardAt, err = locationOf(c.opts.Card); err != nil {
			return nil, err
		}
		if c.cardAt.url != nil && c.cardAt.url.User != nil {
			return nil, failf(nil, "the URL of --card holds a user: credentials are given with --header")
		}
		if c.agentAt.file != "" {
			return nil, failf(nil, "--card says where the card of an agent is, so --agent has to be the agent's URL, and not a card itself")
		}
	}
	c.retry = newRetry(&http.Client{Transport: c.guard, CheckRedirect: c.guard.checkRedirect}, c.opts.Log)
	c.base, c.close = context.WithCancel(context.Background())
	return c, nil
}

// checkSpoken refuses a version or a binding of the options that we do not speak. It changes "auto" to "".
func (c *Client) checkSpoken() error {
	version, binding := &c.opts.Version, &c.opts.Binding
	switch {
	case *version != "" && !slices.Contains(Versions(), *version):
		return failf(nil, "A2A version %q is not one that we speak", *version)
	case *binding != "" && !slices.Contains(Bindings(), *binding):
		return failf(nil, "binding %q is not one that we speak", *binding)
	}
	*version, *binding = strings.TrimPrefix(*version, "auto"), strings.TrimPrefix(*binding, "auto")
	return nil
}

// setAgent sets where the agent is, its origin, and the header that its requests have. User and password
// of a URL become a header, in the place of those of the URL before: the agent may have been started again.
func (c *Client) setAgent(agent string) (err error) {
	if c.agentAt, err = locationOf(agent); err != nil || c.agentAt.url == nil {
		return err
	}
	u, header := c.agentAt.url, c.opts.Header
	if u.User != nil {
		// As a header it goes only where the other credentials go, and is not shown in
		// errors.
		if header.Get("Authorization") == "" {
			header = header.Clone()
			password, _ := u.User.Password()
			(&http.Request{Header: header}).SetBasicAuth(u.User.Username(), password)
		}
		u.User = nil
	}
	c.origins.own.Store(u) // first: the former origin gets no header of the new one
	c.guard.header.Store(&header)
	return nil
}

// locationOf reads a URL, or the name of a file, which need not exist if it ends in .json.
func locationOf(name string) (location, error) {
	if path, ok := strings.CutPrefix(name, "file://"); ok {
		path, err := url.PathUnescape(path)
		if err != nil {
			return location{}, failf(nil, "%s is no file URL", name)
		}
		if len(path) > 2 && path[0] == '/' && path[2] == ':' {
			path = path[1:] // file:///C:/card.json
		}
		return location{file: filepath.FromSlash(path)}, nil
	}
	if strings.Contains(name, "://") {
		u, err := url.Parse(name)
		if err != nil || !webURL(u) {
			return location{}, failf(nil, "%q is no http or https URL", redactString(name))
		}
		u.Fragment, u.RawFragment = "", ""
		return location{url: u}, nil
	}
	if _, err := os.Stat(name); err != nil && !strings.HasSuffix(name, ".json") {
		if u, err := url.Parse("http://" + name); err == nil && u.Port() != "" && u.User == nil {
			return location{}, failf(nil, "%q is neither a URL nor a file: did you mean http://%[1]s?", redactString(name))
		}
		return location{}, failf(nil, "%q is neither a URL nor a file: a URL begins with http:// or https://", redactString(name))
	}
	return location{file: name}, nil
}

// resolve sets where the agent is, if that is not known for this run of its process. Only the fetch
// of the card calls it, and reads what it sets: that needs no lock.
func (c *Client) resolve() error {
	run := c.Exited()
	if c.opts.Resolve == nil || c.agentAt != (location{}) && c.resolvedFor == run {
		return nil
	}
	agent, err := c.opts.Resolve(c.base)
	switch {
	case err == nil:
		c.agentAt, c.resolvedFor = location{}, run
		return c.setAgent(agent)
	case c.base.Err() != nil:
		return failf(errors.Join(ErrEnded, err), "the client was closed before the agent was there")
	case c.checkExited() != nil:
		return c.checkExited()
	}
	return failf(errors.Join(ErrUnreachable, err), "%s", strings.TrimPrefix(err.Error(), "agent: "))
}

// Activate names the extensions, by URI, that every later call asks for.
func (c *Client) Activate(extensions []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extensions = slices.Clone(extensions)
}

// Echoed returns the extensions that the agent's newest answer has named as active, by
// URI; ok is false if no answer has named any, as those of many agents do not.
func (c *Client) Echoed() (extensions []string, ok bool) {
	if echo := c.echo.Load(); echo != nil {
		return slices.Clone(*echo), true
	}
	return nil, false
}

// noteEcho keeps what an answer's header names: one URI a line, or several with commas.
func (c *Client) noteEcho(values []string) {
	if len(values) > 0 {
		uris := strings.FieldsFunc(strings.Join(values, ","), func(r rune) bool { return strings.ContainsRune(", \t", r) })
		c.echo.Store(&uris)
	}
}

// Close ends streams and drains, and what else is under way. When it returns,
// no goroutine of the client is left.
func (c *Client) Close() error {
	c.mu.Lock()
	c.close() // under the lock, so that no goroutine begins behind Wait
	c.mu.Unlock()
	c.wg.Wait()
	if c.own != nil {
		// Only now, when no task can want its connection any more (idlePerHost).
		c.own.CloseIdleConnections()
	}
	return nil
}
