package transport

import (
	"context"
	"encoding/json"
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
