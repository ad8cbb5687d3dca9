package bridge_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

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
		script := &agent.Script{Turns: []*agent.Turn{{Steps: []*agent.Step{{Kind: agent.TaskEvent, State: agent.Working}}, Open: true}}}
		_, network, a := scripted(t, script)
		dies := time.AfterFunc(5*agent.Pace, network.Sever)
		defer dies.Stop()
		view := &phases{begun: time.Now(), at: map[string]time.Duration{}}
		_, err := a.NewSession("/").Prompt(context.Background(), []acp.ContentBlock{{Type: "text", Text: "go"}}, view)
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
