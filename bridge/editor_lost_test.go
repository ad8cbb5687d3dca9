package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// A talker says one word of its task, and then works until the task is cancelled.
type talker struct {
	cancels int
	end     func() error
}

const talkerTask = `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c1","status":{"state":%q,"message":{"kind":"message","messageId":"m1","role":"agent","parts":[{"kind":"text","text":"word"}]}}}}`

func (a *talker) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := func(label string, body io.Reader) (*http.Response, error) {
		return respond(req, http.StatusOK, label, io.NopCloser(body)), nil
	}
	if req.Method == http.MethodGet {
		return answer("application/json", strings.NewReader(dyingCard))
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte(`"tasks/cancel"`)) {
		a.cancels++
		defer a.end()
		return answer("application/json", strings.NewReader(fmt.Sprintf(talkerTask, "canceled")))
	}
	read, write := io.Pipe()
	a.end = write.Close
	return answer("text/event-stream", io.MultiReader(strings.NewReader("data: "+fmt.Sprintf(talkerTask, "working")+"\n\n"), read))
}

var errShown = errors.New("the window is closed")

// closed is an editor that does not take what it is shown.
type closed struct{ bridge.Editor }

func (closed) Show(context.Context, []mapping.Step) error { return errShown }

// An editor goes away in the middle of a turn. Nobody sees any more what the agent does: its
// task is cancelled before the turn ends, so that a process that exits then has done it.
func TestEditorLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := &talker{}
		client, err := transport.NewClient("http://agent.invalid", &transport.ClientOptions{RoundTripper: agent})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		a := bridge.NewAgent(&bridge.Options{Client: client})
		defer a.Close()
		r, err := a.NewSession("").Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "talk"}}, closed{})
		if !errors.Is(err, errShown) || r.StopReason != acp.StopCancelled {
			t.Errorf("the turn ended with %+v, %v; want cancelled, and the editor's error", r, err)
		}
		if agent.cancels != 1 {
			t.Errorf("the task was cancelled %d times before the turn ended, want once", agent.cancels)
		}
	})
}
