package bridge_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// TestLostOnTheWay: after a cut, the agent's task is as it was before, because the message
// was lost. The prompt ends with an error, although the agent says nothing more.
func TestLostOnTheWay(t *testing.T) {
	const notDelivered = "was probably not delivered, and is not sent again"
	for name, c := range map[string]struct {
		prompts []string
		lost    int           // this message does not arrive
		late    time.Duration // or so late
		cut     int           // this message's stream ends before the task waits
		want    string        // the error of the last prompt
		text    string
	}{
		"a prompt for a task that was completed": {prompts: []string{"hello", "hello"}, lost: 2, want: notDelivered},
		"an answer":                              {prompts: []string{"shell"}, lost: 2, want: notDelivered},
		"an answer in prose":                     {prompts: []string{"ask", "red"}, lost: 2, want: notDelivered},
		"a prompt that came, and nobody heard":   {prompts: []string{"hello", "hello"}, lost: 2, late: time.Nanosecond, text: "Hello from the a2astdio demo agent."},
		"a prompt that comes late":               {prompts: []string{"hello", "hello"}, lost: 2, late: 1500 * time.Millisecond, text: "Hello from the a2astdio demo agent."},
		"an answer that comes late":              {prompts: []string{"shell"}, lost: 2, late: 1500 * time.Millisecond, text: "The command succeeded.\n"},
		"the end of a question in prose":         {prompts: []string{"ask"}, cut: 1, text: "Which colour shall it be?"},
	} {
		for _, version := range []string{"0.3", "1.0"} {
			t.Run(name+", "+version, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					line := &badLine{lost: c.lost, late: c.late, cut: c.cut}
					client := demoClient(t, &demo.Options{Version: version}, func(network *http.Transport) http.RoundTripper {
						line.RoundTripper = network
						t.Cleanup(line.wg.Wait)
						return line
					})
					a := bridge.NewAgent(&bridge.Options{Client: client})
					defer a.Close()
					s := a.NewSession(t.TempDir())
					var user yes
					for i, text := range c.prompts {
						ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
						user.text = ""
						_, err := s.Prompt(ctx, []acp.ContentBlock{{Type: "text", Text: text}}, &user)
						stop()
						switch last := i == len(c.prompts)-1; {
						case !last && err != nil, last && c.want == "" && err != nil:
							t.Fatalf("%q: %v", text, err)
						case last && c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
							t.Fatalf("%q: the error is %v, want one that says: %s", text, err, c.want)
						}
					}
					// What the agent says that it ran names a directory.
					if shown, _, _ := strings.Cut(user.text, "ran: "); shown != c.text {
						t.Errorf("shown is %q, want %q", user.text, c.text)
					}
				})
			})
		}
	}
}

// A badLine loses one message, or the end of its answer.
type badLine struct {
	http.RoundTripper
	lost, cut int
	late      time.Duration
	messages  int
	wg        sync.WaitGroup
}

func (l *badLine) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost {
		return l.RoundTripper.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	isMessage := bytes.Contains(body, []byte(`"messageId"`))
	if isMessage {
		l.messages++
	}
	if isMessage && l.messages == l.lost {
		if l.late > 0 {
			l.wg.Go(func() { // ends with what the agent says to it
				timer := time.NewTimer(l.late)
				defer timer.Stop()
				<-timer.C
				if resp, err := l.RoundTripper.RoundTrip(req.Clone(context.Background())); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			})
		}
		return nil, io.EOF
	}
	resp, err := l.RoundTripper.RoundTrip(req)
	if err == nil && isMessage && l.messages == l.cut {
		all, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		at := bytes.LastIndex(bytes.TrimSpace(all), []byte("\n\n"))
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(all[:at+2]), errorReader{io.ErrUnexpectedEOF}))
		return resp, err
	}
	return resp, err
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

// yes is an editor that shows text and allows everything.
type yes struct{ text string }

func (y *yes) Show(_ context.Context, steps []mapping.Step) error {
	for _, s := range steps {
		if s.Kind == mapping.StepText {
			y.text += s.Text
		}
	}
	return nil
}

func (y *yes) Ask(_ context.Context, questions []mapping.Question) (answers []mapping.Answer, err error) {
	for _, q := range questions {
		answers = append(answers, mapping.Answer{Call: q.Call, OptionID: "proceed_once"})
	}
	return answers, nil
}
