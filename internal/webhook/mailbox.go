package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// ackWait is how long a turn may take until a push is delivered again.
	ackWait = time.Minute
	// prefetched bounds the pushes that the NATS client holds for a turn, since each may
	// have a megabyte. The client asks again after fetchWait.
	prefetched = 8
	fetchWait  = 30 * time.Second
	// closingTime bounds the end of an address: the editor may wait for the process to
	// end.
	closingTime = 2 * time.Second
)

// A Mailbox is a bridge's end of NATS: [bridge.Webhooks] for a machine that no agent
// can reach. It connects when the first address is opened.
type Mailbox struct {
	server, person, base string
	key                  Key
	signs                bool
	opts                 *NATSOptions

	mu   sync.Mutex
	conn *nats.Conn
	js   nats.JetStreamContext
}

// NewMailbox returns a person's mailbox. key is the person's key ([Key.For]), base the
// receiver's URL for agents, signs as in [NewBoxes].
func NewMailbox(server, person, base string, key Key, signs bool, opts *NATSOptions) *Mailbox {
	return &Mailbox{server: server, person: person, base: strings.TrimSuffix(base, "/"), key: key, signs: signs, opts: opts}
}

// Open implements [bridge.Webhooks].
func (m *Mailbox) Open(ctx context.Context, name string) (bridge.Webhook, error) {
	ctx, stop := context.WithTimeout(ctx, natsTimeout)
	defer stop()
	conn, js, err := m.connected(ctx)
	if err != nil {
		return nil, err
	}
	if !isName(name) {
		name = randomName()
	}
	stream, err := js.StreamInfo(streamOf(m.person), nats.Context(ctx))
	if errors.Is(err, nats.ErrStreamNotFound) {
		return nil, fmt.Errorf("NATS has no mailbox %s: start the receiver with --for %s", m.person, m.person)
	}
	if err != nil {
		return nil, fmt.Errorf("the mailbox %s: %w", m.person, err)
	}
	// It also makes a consumer that does not exist.
	_, err = js.UpdateConsumer(streamOf(m.person), &nats.ConsumerConfig{
		Durable: name, FilterSubject: subjectOf(m.person, name), AckPolicy: nats.AckExplicitPolicy,
		AckWait: ackWait, MaxAckPending: maxQueued, InactiveThreshold: stream.Config.MaxAge,
	}, nats.Context(ctx))
	if err != nil {
		return nil, fmt.Errorf("the mailbox %s: %w", m.person, err)
	}
	sub, err := js.PullSubscribe(subjectOf(m.person, name), "", nats.Bind(streamOf(m.person), name), nats.SkipConsumerLookup())
	if err != nil {
		return nil, fmt.Errorf("the mailbox %s: %w", m.person, err)
	}
	a := &address{m: m, conn: conn, name: name, pushes: make(chan bridge.Push), fetched: make(chan struct{})}
	fetching, end := context.WithCancel(context.Background())
	a.end = end
	go a.fetch(fetching, sub)
	return a, nil
}

func (m *Mailbox) connected(ctx context.Context) (*nats.Conn, nats.JetStreamContext, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.js != nil {
		return m.conn, m.js, nil
	}
	conn, js, err := connect(ctx, m.server, "a2astdio", inboxOf(m.person), m.opts)
	if err != nil {
		return nil, nil, err
	}
	m.conn, m.js = conn, js
	return conn, js, nil
}

// Close ends the connection, if there is one.
func (m *Mailbox) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.Close()
	}
	return nil
}

func (m *Mailbox) log() *slog.Logger {
	if m.opts == nil || m.opts.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return m.opts.Log
}

// An address is an address of a mailbox. Open starts its goroutine, fetch; Close ends
// it and waits for it.
type address struct {
	m       *Mailbox
	conn    *nats.Conn
	name    string
	pushes  chan bridge.Push
	end     context.CancelFunc // of fetch
	fetched chan struct{}      // closed when fetch has ended
}

// fetch hands over pushes until ctx ends or no more can come. It owns sub.
func (a *address) fetch(ctx context.Context, sub *nats.Subscription) {
	defer close(a.fetched)
	defer func() { _ = sub.Unsubscribe() }()
	for ctx.Err() == nil && !a.conn.IsClosed() {
		err := a.fetchBatch(ctx, sub)
		if errors.Is(err, nats.ErrConsumerDeleted) {
			a.m.log().Warn("the address is deleted in NATS", "address", a.name)
			return
		}
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectWait):
		}
	}
}

// fetchBatch hands over the next pushes as they come. If none comes for a while, that
// is no error.
func (a *address) fetchBatch(ctx context.Context, sub *nats.Subscription) error {
	if !a.conn.IsConnected() {
		return nats.ErrDisconnected // otherwise the client would later ask for all batches at once
	}
	waiting, stop := context.WithTimeout(ctx, fetchWait)
	defer stop()
	batch, err := sub.FetchBatch(prefetched, nats.Context(waiting))
	if err != nil {
		return err
	}
	for msg := range batch.Messages() {
		a.take(ctx, msg)
	}
	return batch.Error()
}

func (a *address) take(ctx context.Context, msg *nats.Msg) {
	push := bridge.Push{Payload: msg.Data, Taken: func() {
		if err := msg.Ack(); err != nil {
			a.m.log().Debug("a push is not acknowledged: it comes again", "err", err)
		}
	}}
	select {
	case a.pushes <- push:
	case <-ctx.Done():
		// The next process gets it; without Nak, after a minute. It must not come to us
		// again.
		_ = msg.Sub.Unsubscribe()
		_ = msg.Nak()
	}
}

// Name implements [bridge.Webhook].
func (a *address) Name() string { return a.name }

// Config implements [bridge.Webhook].
func (a *address) Config() a2a.PushConfig {
	return config(a.m.base+"/"+a.m.person+"/"+a.name, a.m.key.token(a.m.person, a.name), a.m.signs)
}

// Pushes implements [bridge.Webhook].
func (a *address) Pushes() <-chan bridge.Push { return a.pushes }

// Close implements [bridge.Webhook]. Pushes that it cannot delete expire.
func (a *address) Close(over bool) {
	a.end()
	<-a.fetched
	if !over {
		return
	}
	// PurgeStream has no context: both steps get half of the time.
	js, err := a.conn.JetStream(nats.MaxWait(closingTime / 2))
	if err != nil {
		return
	}
	_ = js.DeleteConsumer(streamOf(a.m.person), a.name)
	_ = js.PurgeStream(streamOf(a.m.person), &nats.StreamPurgeRequest{Subject: subjectOf(a.m.person, a.name)})
}
