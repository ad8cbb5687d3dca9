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
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
)

// A talker says one word of its task, then what else there is, after a second each, and works
// until the task is cancelled.
type talker struct {
	also    []string
	cancels int
	answers int
	end     func() error
	over    chan struct{} // closed when the test is
}

// newTalker is an agent that says this, and a bridge before it, until the test ends.
func newTalker(t *testing.T, also ...string) (*talker, *bridge.Agent) {
	agent := &talker{also: also, over: make(chan struct{})}
	client := must.Get(transport.NewClient("http://agent.invalid", &transport.ClientOptions{RoundTripper: agent}))(t)
	a := bridge.NewAgent(&bridge.Options{Client: client, Dialect: dialect.Devtool})
	t.Cleanup(func() {
		close(agent.over)
		_ = agent.end()
		a.Close()
		client.Close()
	})
	return agent, a
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
	if bytes.Contains(body, []byte(`"taskId"`)) {
		a.answers++
	}
	read, write := io.Pipe()
	a.end = write.Close
	go func() { // ends with what there is to say, or with the test
		for _, event := range a.also {
			select {
			case <-time.After(time.Second):
			case <-a.over:
				return
			}
			if _, err := fmt.Fprintf(write, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", event); err != nil {
				return
			}
		}
	}()
	return answer("text/event-stream", io.MultiReader(strings.NewReader("data: "+fmt.Sprintf(talkerTask, "working")+"\n\n"), read))
}

const (
	// talkerCall asks whether a call may run.
	talkerCall = `{"kind":"status-update","taskId":"t1","contextId":"c1","final":false,"status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m2","parts":[` +
		`{"kind":"data","data":{"tool_call_id":"one","tool_name":"db","status":"PENDING","confirmation_request":{"options":[{"id":"yes","name":"Allow"},{"id":"no","name":"Reject"}],"generic_details":{"description":"?"}}}}]}}}`
	talkerMore = `{"kind":"status-update","taskId":"t1","contextId":"c1","final":false,"status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m3","parts":[{"kind":"text","text":"more"}]}}}`
)

var errEditor = errors.New("the window is closed")

// A lostEditor fails at some time.
type lostEditor struct {
	show func(*mapping.Step) error
	ask  func(context.Context) ([]mapping.Answer, error)
}

func (e *lostEditor) Show(_ context.Context, steps []mapping.Step) error {
	for i := range steps {
		if err := e.show(&steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *lostEditor) Ask(ctx context.Context, _ []mapping.Question) ([]mapping.Answer, error) {
	return e.ask(ctx)
}

// An editor goes away in the middle of a turn, or cannot ask the user. Nobody sees any more what
// the agent does, or can answer it: its task is cancelled before the turn ends, so that a process
// that exits then has done it. Nothing is answered in the user's name.
func TestEditorLost(t *testing.T) {
	fails := func(*mapping.Step) error { return errEditor }
	shows := func(*mapping.Step) error { return nil }
	waits := func(ctx context.Context) ([]mapping.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, test := range map[string]struct {
		editor lostEditor
		want   string
	}{
		"shows nothing": {lostEditor{show: fails}, errEditor.Error()},
		"cannot ask":    {lostEditor{shows, func(context.Context) ([]mapping.Answer, error) { return nil, errEditor }}, errEditor.Error()},
		"answers too little": {lostEditor{shows, func(context.Context) ([]mapping.Answer, error) { return nil, nil }},
			"editor: answered 0 of 1 questions"},
		"goes while it asks": {lostEditor{func(s *mapping.Step) error {
			if s.Text == "more" {
				return errEditor
			}
			return nil
		}, waits}, errEditor.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				agent, a := newTalker(t, talkerCall, talkerMore)
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				r, err := a.NewSession("").Prompt(ctx, []acp.ContentBlock{{Type: "text", Text: "talk"}}, &test.editor)
				if err == nil || err.Error() != test.want || r.StopReason != acp.StopCancelled || len(r.Pending) > 0 {
					t.Errorf("the turn ended with %+v, %v; want cancelled, and %q", r, err, test.want)
				}
				if agent.cancels != 1 || agent.answers > 0 {
					t.Errorf("the task was cancelled %d times before the turn ended, want once; it was answered %d times, want never", agent.cancels, agent.answers)
				}
			})
		})
	}
}

// A turn that answers calls is cancelled before its answers are sent. Nothing else will answer
// them, so the task is cancelled: its calls would wait for ever.
func TestAnswerCancelledUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent, a := newTalker(t, talkerCall)
		editor := &lostEditor{func(*mapping.Step) error { return nil }, func(context.Context) ([]mapping.Answer, error) { return nil, bridge.ErrPause }}
		s := a.NewSession("")
		r, err := s.Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "talk"}}, editor)
		if err != nil || len(r.Pending) != 1 {
			t.Fatalf("the turn ended with %+v, %v; want one call pending", r, err)
		}
		turn := must.Get(s.Begin())(t)
		r, err = turn.Answer(t.Context(), func(questions []mapping.Question) ([]mapping.Answer, error) {
			s.Cancel()
			return []mapping.Answer{{Call: questions[0].Call, OptionID: "yes"}}, nil
		}, editor)
		if err != nil || r.StopReason != acp.StopCancelled || agent.cancels != 1 || agent.answers > 0 {
			t.Errorf("it ended with %+v, %v, %d cancels and %d answers; want cancelled, one and none", r, err, agent.cancels, agent.answers)
		}
	})
}

// Options that do not exist are refused at the first prompt, and nothing is sent.
func TestOptionsRefused(t *testing.T) {
	for want, opts := range map[string]bridge.Options{
		`bridge: unknown mode "nonsense"; use one of default, accept-edits, yolo`: {Mode: "nonsense"},
		`bridge: unknown dialect "nonsense"; use one of auto, `:                   {Dialect: "nonsense"},
	} {
		agent := &talker{}
		client, err := transport.NewClient("http://agent.invalid", &transport.ClientOptions{RoundTripper: agent})
		if err != nil {
			t.Fatal(err)
		}
		opts.Client = client
		a := bridge.NewAgent(&opts)
		_, err = a.NewSession("/").Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "go"}}, &lostEditor{})
		if err == nil || !strings.HasPrefix(err.Error(), want) || agent.end != nil {
			t.Errorf("got %v, want %s; a message was sent: %t", err, want, agent.end != nil)
		}
		a.Close()
		client.Close()
	}
}
