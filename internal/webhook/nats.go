package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// natsTimeout bounds each step with the NATS server: agents and turns wait for it.
	natsTimeout = 5 * time.Second
	// reconnectWait is the time between two attempts.
	reconnectWait = time.Second
	// DefaultMaxAge is how long a push waits for its bridge.
	DefaultMaxAge = 24 * time.Hour
	// duplicates is how long the stream remembers a push as known.
	duplicates = 5 * time.Minute
	// maxStreamBytes and maxPerAddress bound what is stored for a person, and for one
	// address. Further pushes are refused, not dropped.
	maxStreamBytes = 256 << 20
	maxPerAddress  = 1024
)

// NATSOptions say how to reach a NATS server. The zero value of each member is good.
type NATSOptions struct {
	// Credentials is a file with NATS credentials (a user's JWT and seed), or with the
	// seed of an NKey; "": none.
	Credentials string
	// CAFile is a file with further certificates of authorities; "": none.
	CAFile string
	// Log gets the connection's events; nil: nothing.
	Log *slog.Logger
}

// CheckNATS checks the URL of a NATS server, and returns it without its path, which
// names a mailbox.
func CheckNATS(raw string) (server, mailbox string, err error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Host == "":
		return "", "", errors.New("it is written like nats://HOST:PORT/MAILBOX, or tls://… where only TLS is right")
	case u.User != nil:
		return "", "", errors.New("it holds credentials, which come from a file")
	case u.RawQuery != "" || u.Fragment != "":
		return "", "", errors.New("it has a query or a fragment")
	}
	return u.Scheme + "://" + u.Host, strings.Trim(u.Path, "/"), nil
}

// Answers come below an inbox. Each person has an own one, so that NATS can keep users
// from reading each other's answers: everybody may read all of _INBOX.
const inboxOfService = "_INBOX.a2apush-service"

func inboxOf(person string) string { return "_INBOX.a2apush." + person }

// credentials returns the option for a file of either kind.
func credentials(file string) (nats.Option, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	if bytes.Contains(b, []byte("NATS USER JWT")) {
		return nats.UserCredentials(file), nil
	}
	o, err := nats.NkeyOptionFromSeed(file)
	if err != nil {
		return nil, fmt.Errorf("%s has neither NATS credentials (.creds) nor the seed of a user's NKey", file)
	}
	return o, nil
}

// connect dials a NATS server, and dials again when the connection is lost.
func connect(ctx context.Context, server, name, inbox string, opts *NATSOptions) (*nats.Conn, nats.JetStreamContext, error) {
	if opts == nil {
		opts = &NATSOptions{}
	}
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	options := []nats.Option{
		nats.Name(name), nats.CustomInboxPrefix(inbox), nats.Timeout(natsTimeout), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.SyncQueueLen(4 * maxQueued), // more than an address may have in transit; the default takes half a megabyte
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { log.Warn("the connection to NATS is lost", "err", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("the connection to NATS is back") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS", "err", err) }),
	}
	if opts.Credentials != "" {
		o, err := credentials(opts.Credentials)
		if err != nil {
			return nil, nil, err
		}
		options = append(options, o)
	}
	if opts.CAFile != "" {
		options = append(options, nats.RootCAs(opts.CAFile))
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	conn, err := nats.Connect(server, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("NATS at %s: %w", server, err)
	}
	if u, err := url.Parse(server); err == nil && !conn.TLSRequired() && conn.ConnectedUrl() != "" && u.Scheme == "nats" && !isLoopbackHost(u.Hostname()) {
		if _, err := conn.TLSConnectionState(); err != nil {
			log.Warn("the connection to NATS is not encrypted: what agents push can be read on the way", "server", server)
		}
	}
	js, err := conn.JetStream(nats.MaxWait(natsTimeout))
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, js, nil
}

// A person's pushes have a stream of their own. NATS can restrict who reads it by its
// name, and nobody fills another's.
func streamOf(person string) string           { return "A2APUSH-" + person }
func subjectOf(person, address string) string { return "a2apush." + person + "." + address }

// A Publisher is a [Queue] in front of NATS: it stores pushes in a JetStream stream.
type Publisher struct {
	conn *nats.Conn
	js   nats.JetStreamContext
	keys map[string]Key // by person
}

// NewPublisher connects, and makes each person's stream if it does not exist. Messages
// are kept for maxAge; 0: [DefaultMaxAge].
func NewPublisher(ctx context.Context, server string, key Key, people []string, maxAge time.Duration, opts *NATSOptions) (*Publisher, error) {
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	conn, js, err := connect(ctx, server, "a2astdio webhook", inboxOfService, opts)
	if err != nil {
		return nil, err
	}
	p := &Publisher{conn: conn, js: js, keys: map[string]Key{}}
	for _, person := range people {
		p.keys[person] = key.For(person)
		if err := makeStream(ctx, js, person, maxAge); err != nil {
			conn.Close()
			return nil, fmt.Errorf("the stream of %s: %w", person, err)
		}
	}
	return p, nil
}

// makeStream makes or updates a person's stream.
func makeStream(ctx context.Context, js nats.JetStreamContext, person string, maxAge time.Duration) error {
	ctx, stop := context.WithTimeout(ctx, natsTimeout)
	defer stop()
	cfg := &nats.StreamConfig{
		Name: streamOf(person), Subjects: []string{subjectOf(person, "*")}, Description: "what A2A agents push to " + person,
		// A bridge that takes a push removes it; others expire.
		Retention: nats.WorkQueuePolicy, MaxAge: maxAge, Duplicates: min(duplicates, maxAge),
		MaxBytes: maxStreamBytes, MaxMsgsPerSubject: maxPerAddress, Discard: nats.DiscardNew, DiscardNewPerSubject: true,
	}
	_, err := js.UpdateStream(cfg, nats.Context(ctx))
	if errors.Is(err, nats.ErrStreamNotFound) {
		_, err = js.AddStream(cfg, nats.Context(ctx))
	}
	return err
}

// Token implements [Queue]. Any path of a known person may be an address of that
// person's bridge.
func (p *Publisher) Token(path string) (string, bool) {
	person, name, _ := strings.Cut(path, "/")
	key := p.keys[person]
	if key == nil || !isName(name) {
		return "", false
	}
	return key.token(person, name), true
}

// Put implements [Queue]. It returns when the server has stored the push.
func (p *Publisher) Put(ctx context.Context, path, id string, payload []byte) error {
	person, name, _ := strings.Cut(path, "/")
	ctx, stop := context.WithTimeout(ctx, natsTimeout)
	defer stop()
	// Repetitions are detected for each address.
	opts := []nats.PubOpt{nats.Context(ctx)}
	if id != "" {
		opts = append(opts, nats.MsgId(name+"."+id))
	}
	_, err := p.js.Publish(subjectOf(person, name), payload, opts...)
	return err
}

// MaxBody is the largest push that the server takes: its max_payload less the headers.
func (p *Publisher) MaxBody() int64 { return p.conn.MaxPayload() - maxHeader }

// Close ends the connection.
func (p *Publisher) Close() error {
	p.conn.Close()
	return nil
}
