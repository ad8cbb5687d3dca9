package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A card that names no URL is used whatever else is at its host's other places, with its own
// schemes, and in the binding that it prefers, or the user says.
func TestCardWithoutURL(t *testing.T) {
	const (
		card = `{"name":"P","skills":[],"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X-Key"}}}`
		rpc  = "message/send http://agent.example/x with P k"
		rest = "http://agent.example/x/v1/message:send with P k"
	)
	for name, test := range map[string]struct {
		binding     string
		first, then string // at the two places below the agent's URL; a number is a status
		others      string // anywhere else
		want        string
	}{
		"alone":                     {first: card, then: "404", others: "404", want: rpc},
		"where 0.2 had it":          {first: "404", then: card, others: "404", want: rpc},
		"beside objects":            {first: card, then: "{}", others: "{}", want: rpc},
		"behind an object":          {first: "{}", then: card, others: "{}", want: rpc},
		"a failure elsewhere":       {first: card, then: "500", others: "401", want: rpc},
		"it prefers HTTP+JSON":      {first: strings.Replace(card, "{", `{"preferredTransport":"HTTP+JSON",`, 1), then: "404", others: "404", want: rest},
		"the user asks for it":      {binding: "http+json", first: card, then: "404", others: "404", want: rest},
		"it prefers what we do not": {first: strings.Replace(card, "{", `{"preferredTransport":"GRPC",`, 1), then: "404", others: "404", want: "agent: P offers GRPC without a version; we need A2A over JSONRPC or HTTP+JSON"},
		"a version of its own":      {first: strings.Replace(card, "{", `{"protocolVersion":"1.2.0",`, 1), then: "404", others: "404", want: rpc},
		"of 1.x":                    {first: strings.Replace(card, "{", `{"supportedInterfaces":[{"protocolBinding":"GRPC"},{"protocolBinding":"HTTP+JSON"}],`, 1), then: "404", others: "404", want: "http://agent.example/x/message:send with P k"},
		"at the root of the host":   {first: "404", then: "404", others: card, want: rpc},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			agent := roundTrip(func(r *http.Request) (*http.Response, error) {
				status, body := 200, test.others
				switch {
				case r.Method == http.MethodPost && strings.Contains(r.URL.Path, ":"):
					got, body = r.URL.String(), `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`
				case r.Method == http.MethodPost:
					sent, _ := io.ReadAll(r.Body)
					got, body = gjson.GetBytes(sent, "method").Str+" "+r.URL.String(), `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`
				case r.URL.Path == "/x"+cardPath:
					body = test.first
				case r.URL.Path == "/x"+oldCardPath:
					body = test.then
				}
				_, _ = fmt.Sscan(body, &status)
				return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})
			with := ""
			c := wireClient(t, "http://agent.example/x", &ClientOptions{RoundTripper: agent, Binding: test.binding,
				Credentials: func(_ context.Context, at *Challenge) (*Credential, error) {
					if with = "nothing"; at.Card != nil && len(at.Card.Schemes) == 1 {
						with = at.Card.Name + " " + at.Card.Schemes[0].Name
					}
					return nil, nil
				}})
			_, err := c.SendOnce(t.Context(), hello(), true)
			if got += " with " + with; err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// The schemes of another agent's card, which is at the root of the host, are not this one's.
func TestOtherCardHasNoSchemes(t *testing.T) {
	agent := roundTrip(func(r *http.Request) (*http.Response, error) {
		status, body := 404, ""
		switch {
		case r.Method == http.MethodPost:
			status, body = 200, `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`
		case r.URL.Path == cardPath:
			status, body = 200, `{"name":"Other","url":"http://agent.example/other","security":[{"k":[]}]}`
		}
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
	c := wireClient(t, "http://agent.example/x", &ClientOptions{RoundTripper: agent, Binding: "jsonrpc", Version: "0.3",
		Credentials: func(_ context.Context, at *Challenge) (*Credential, error) {
			if at.Card != nil {
				t.Errorf("%s is asked with the card of %s", at.URL, at.Card.Name)
			}
			return nil, nil
		}})
	if _, err := c.SendOnce(t.Context(), hello(), true); err != nil {
		t.Error(err)
	}
}

// An error of A2A's own, though it comes with 404, says that the place is right.
func TestCardWithoutURLExplains(t *testing.T) {
	e := &endpoint{doubt: "the card names no URL", card: &a2a.Card{}}
	for code, adds := range map[int]bool{0: true, a2a.CodeTaskNotFound: false} {
		err := e.explain(way{}, &a2a.Error{Code: code, HTTPStatus: http.StatusNotFound, Message: "none"})
		if strings.Contains(err.Error(), "names no URL") != adds {
			t.Errorf("%d: %v", code, err)
		}
	}
}
