package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// SideChannel makes a plain HTTP request beside the protocol, to a path below the
// agent's URL. One agent has such a channel: Gemini's server, for its slash
// commands. It returns what came: a stream of events, if the agent streams, or the
// JSON document. An HTTP error is an [*a2a.Error]. A body is marshaled; nil makes
// it a GET. Like a message it is sent once.
func (c *Client) SideChannel(ctx context.Context, path string, body any) (*Stream, json.RawMessage, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	verb, d := http.MethodGet, deliverAgain
	header := http.Header{"Accept": {acceptStream}}
	var raw []byte
	if body != nil {
		verb, d = http.MethodPost, deliverOnce
		header.Set("Content-Type", "application/json")
		if raw, err = json.Marshal(body); err != nil {
			return nil, nil, failf(err, "the body for %s cannot be written as JSON: %v", path, err)
		}
	}
	u := *e.url
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+path, ""
	life := c.newLife(ctx)
	x, err := c.do(ctx, life.ctx, d, verb, path, &u, header, raw)
	if err != nil {
		life.end()
		return nil, nil, err
	}
	if x.isStream() && x.resp.StatusCode < 300 {
		return newStream(c, e, x, life), nil, nil
	}
	defer life.end()
	// It is no stream, so its body has an end, and soon.
	limit := time.AfterFunc(c.timeout, life.cancel)
	defer limit.Stop()
	b, err := x.body()
	if err != nil {
		return nil, nil, err
	}
	b = repairText(bytes.TrimSpace(b))
	if x.resp.StatusCode >= 300 || !rawjson.Valid(b) {
		return nil, nil, x.notA2A(b)
	}
	return nil, b, nil
}
