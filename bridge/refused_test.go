package bridge_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// A dyingAgent begins a task and then ends.
type dyingAgent struct{ died bool }

const dyingCard = `{"name":"Dying","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`

func (a *dyingAgent) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := func(label string, body io.Reader) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {label}}, Body: io.NopCloser(body), Request: req}, nil
	}
	switch {
	case a.died:
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	case req.Method == http.MethodGet:
		return answer("application/json", strings.NewReader(dyingCard))
	}
	a.died = true
	_, _ = io.Copy(io.Discard, req.Body)
	return answer("text/event-stream", io.MultiReader(
		strings.NewReader(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c1","status":{"state":"working"}}}`+"\n\n"),
		&failing{}))
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// phases notes when the connection was first in each phase.
type phases struct {
	begun time.Time
	at    map[string]time.Duration
}

func (p *phases) Show(_ context.Context, steps []mapping.Step) error {
	for _, s := range steps {
		if _, seen := p.at[string(s.Connection.Phase)]; s.Kind == mapping.StepConnection && !seen {
			p.at[string(s.Connection.Phase)] = time.Since(p.begun)
		}
	}
	return nil
}

func (*phases) Ask(context.Context, []mapping.Question) ([]mapping.Answer, error) {
	return nil, errors.New("nothing is asked")
}

// An agent dies in the middle of a turn, and its port refuses connections. The bridge waits
// for it, and gives up after ten seconds.
func TestRefusedAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := transport.NewClient("http://agent.invalid", &transport.ClientOptions{RoundTripper: &dyingAgent{}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		a := bridge.NewAgent(&bridge.Options{Client: client})
		defer a.Close()
		view := &phases{begun: time.Now(), at: map[string]time.Duration{}}
		_, err = a.NewSession("/").Prompt(context.Background(), []acp.ContentBlock{{Type: "text", Text: "go"}}, view)
		if err == nil || !strings.Contains(err.Error(), "it has ended: for 10s nobody has accepted a connection") {
			t.Errorf("got %v", err)
		}
		if at, told := view.at["waiting"]; !told || at > 3*time.Second {
			t.Errorf("it was said to be waited for after %v, %v", at, told)
		}
		if took := time.Since(view.begun) - view.at["waiting"]; took < 10*time.Second || took > 10*time.Second+500*time.Millisecond {
			t.Errorf("it was given up %v after its first refusal", took)
		}
	})
}
