package bridge_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// A commander is Gemini's server, with one slash command.
type commander struct{}

func (commander) RoundTrip(req *http.Request) (*http.Response, error) {
	body := strings.Replace(dyingCard, `"Dying"`, `"Gemini SDLC Agent"`, 1)
	switch {
	case strings.HasSuffix(req.URL.Path, "/listCommands"):
		body = `{"commands":[{"name":"about"}]}`
	case strings.HasSuffix(req.URL.Path, "/executeCommand"):
		body = `{"data":"a server"}`
	}
	return respond(req, http.StatusOK, "application/json", io.NopCloser(strings.NewReader(body))), nil
}

// A slowEditor takes a minute for each text.
type slowEditor struct {
	bridge.Editor
	shows, most atomic.Int32
	text        string
}

func (e *slowEditor) Show(_ context.Context, steps []mapping.Step) error {
	e.most.Store(max(e.most.Load(), e.shows.Add(1)))
	defer e.shows.Add(-1)
	for i := range steps {
		if s := &steps[i]; s.Kind == mapping.StepText {
			time.Sleep(time.Minute)
			e.text += s.Text
		}
	}
	return nil
}

// The answer to a slash command is shown by another goroutine than the turn's, which meanwhile
// reports that the agent is silent. An editor is shown one after the other.
func TestShowOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := transport.NewClient("http://agent.invalid", &transport.ClientOptions{RoundTripper: commander{}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		a := bridge.NewAgent(&bridge.Options{Client: client})
		defer a.Close()
		editor := &slowEditor{}
		_, err = a.NewSession("").Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "/about"}}, editor)
		if most := editor.most.Load(); err != nil || editor.text != "a server" || most != 1 {
			t.Errorf("shown %q, %d at a time, %v; want all of it, one at a time", editor.text, most, err)
		}
	})
}
