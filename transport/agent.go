package transport

import (
	"context"
	"encoding/json"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// ExtendedCard asks for the fuller card that the agent has for callers it knows,
// and returns it as it is, or as [ClientOptions.CheckCard] has it. Whether there is one, [a2a.Card.ExtendedCard] says;
// without, agents refuse with [a2a.CodeExtendedCardNotConfigured],
// [a2a.CodeUnsupportedOperation] or [a2a.CodeMethodNotFound]. It is asked for each
// time; the client itself asks once: see [Client.Card].
func (c *Client) ExtendedCard(ctx context.Context) (json.RawMessage, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := c.extendedCard(ctx, e)
	if err != nil {
		return nil, err
	}
	return c.checkCard(ctx, raw, e.from)
}

// AgentVersion returns the version of A2A that the agent is called in: "1.0" or
// "0.3". The error is about the card: it cannot be had, or names nothing that we
// can call.
func (c *Client) AgentVersion(ctx context.Context) (string, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return "", err
	}
	return e.protocol.name(), nil
}

// Endpoint returns the interface of the card that the agent is called at: its
// version as the card writes it, and its URL as it is used, which names this
// machine as --agent does. The errors are those of AgentVersion.
func (c *Client) Endpoint(ctx context.Context) (a2a.Interface, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return a2a.Interface{}, err
	}
	i := e.at
	i.URL = e.url.String()
	return i, nil
}
