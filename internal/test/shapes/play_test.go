package shapes

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// patience bounds a turn, in virtual time.
const patience = 10 * time.Minute

// newest is ACP 2 with -both, and else ACP.
func newest() editor.Protocol {
	if *both {
		return editor.ACP2
	}
	return editor.ACP
}

// play plays a script's turns over a protocol.
func play(t *testing.T, script *agent.Script, p editor.Protocol) []*editor.Turn {
	var prompts []string
	for n := range script.Turns {
		prompts = append(prompts, fmt.Sprintf("question %d", n))
	}
	return converse(t, script, prompts, &editor.Options{Protocol: p})
}

// converse plays these prompts. A turn that does not end is cancelled.
func converse(t *testing.T, script *agent.Script, prompts []string, opts *editor.Options) (turns []*editor.Turn) {
	synctest.Test(t, func(t *testing.T) {
		a := agent.New(script)
		network := &memnet.Network{Handler: a}
		n := 0
		opts.Network, opts.URL, opts.NewID = network, agent.URL, func() string { n++; return fmt.Sprintf("ours-%d", n) }
		e := must.Get(editor.Start(opts))(t)
		for _, prompt := range prompts {
			turn := e.Prompt(prompt)
			turns = append(turns, turn)
			select {
			case <-turn.Done:
			case <-time.After(patience):
				e.Cancel(turn)
				<-turn.Done
				turn.Err = "the turn does not end"
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		network.Sever()
		a.Close()
		network.Wait()
	})
	return turns
}
