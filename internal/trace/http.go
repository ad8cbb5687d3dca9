package trace

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Wrap returns a RoundTripper that records what passes through next; it is meant for
// transport.ClientOptions.Wrap. It copies bytes as they pass, and delays none.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return &roundTripper{r, next}
}

// A roundTripper has no CloseIdleConnections: go-retryablehttp would call it when it
// gives up on one request, and close the connections of others.
type roundTripper struct {
	r    *Recorder
	next http.RoundTripper
}

func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &wireExchange{r: t.r, n: t.r.exchanges.Add(1), ctx: req.Context()}
	x.add(itemRequest, &requestHead{req.Method, new(*req.URL), req.Header.Clone()}, nil)
	if req.Body == nil || req.Body == http.NoBody {
		x.add(itemSent, nil, nil)
	} else {
		// A copy: a RoundTripper must not change the request.
		req = req.Clone(req.Context())
		req.Body = &requestBody{ReadCloser: req.Body, x: x}
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		reason := EndFailed
		if req.Context().Err() != nil {
			reason = EndCanceled
		}
		x.add(itemEnd, &ending{reason, x.why(err)}, nil)
		return resp, err
	}
	x.add(itemResponse, &responseHead{resp.StatusCode, resp.Proto, resp.Header.Clone()}, nil)
	resp.Body = &responseBody{ReadCloser: resp.Body, x: x}
	return resp, nil
}

// A wireExchange is an exchange as the wire sees it.
type wireExchange struct {
	r   *Recorder
	n   int64
	ctx context.Context
}

func (x *wireExchange) add(kind itemKind, more any, b []byte) {
	x.r.q.add(item{kind: kind, x: x.n, more: more}, b)
}

// why returns the text of err, or of what has cancelled the request's context, if that tells more.
func (x *wireExchange) why(err error) string {
	if cause := context.Cause(x.ctx); cause != nil && !errors.Is(err, cause) && !errors.Is(cause, context.Canceled) {
		return cause.Error()
	}
	return err.Error()
}

// A requestBody records what is read of it.
type requestBody struct {
	io.ReadCloser
	x *wireExchange
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.x.add(itemRequestBody, nil, p[:n])
	}
	if err != nil {
		b.x.add(itemSent, nil, nil)
	}
	return n, err
}

// A responseBody records what is read of it, and how it ends.
type responseBody struct {
	io.ReadCloser
	x *wireExchange

	mu   sync.Mutex // Close may come while a Read is blocked
	done bool
}

func (b *responseBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return n, err
	}
	if n > 0 {
		b.x.add(itemBody, nil, p[:n])
	}
	switch {
	case err == nil:
	case err == io.EOF:
		b.end(&ending{reason: EndDone})
	case b.x.ctx.Err() != nil:
		b.end(&ending{EndCanceled, b.x.why(err)})
	default:
		b.end(&ending{EndCut, err.Error()})
	}
	return n, err
}

func (b *responseBody) Close() error {
	// Without the lock: Close ends a blocked Read.
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		b.end(&ending{EndClosed, "we closed the connection"})
	}
	return err
}

func (b *responseBody) end(e *ending) {
	b.done = true
	b.x.add(itemEnd, e, nil)
}
