package transport

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// File gets a file that a task points to, with the user's credentials, from the agent's
// origin or one that the user trusts. The caller closes it.
func (c *Client) File(ctx context.Context, from *url.URL) (io.ReadCloser, error) {
	x, err := c.send(ctx, ctx, c.retry, &operation{delivery: deliverCard, what: "the request for a file"}, http.MethodGet, from, http.Header{"Accept": {"*/*"}}, nil)
	if err != nil {
		return nil, err
	}
	if x.resp.StatusCode < 300 {
		return x.resp.Body, nil
	}
	defer x.resp.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(x.resp.Body, maxCard)) // the status tells enough
	return nil, x.notA2A(b)
}
