package shapes

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
)

// patience bounds a turn, in virtual time.
const patience = 10 * time.Minute

// play plays a script's turns over ACP or A2A lines. A turn that does not end is the last.
func play(t *testing.T, script *agent.Script, lines bool) (turns []*editor.Turn) {
	synctest.Test(t, func(t *testing.T) {
		a := agent.New(script)
		network := &memnet.Network{Handler: a}
		n := 0
		e, err := editor.Start(&editor.Options{Lines: lines, Network: network, URL: agent.URL, NewID: func() string { n++; return fmt.Sprintf("ours-%d", n) }})
		if err != nil {
			t.Fatal(err)
		}
		for n := range script.Turns {
			turn := e.Prompt(fmt.Sprintf("question %d", n))
			turns = append(turns, turn)
			select {
			case <-turn.Done:
			case <-time.After(patience):
				turn.Err = "the turn does not end"
				e.Cancel(turn)
				<-turn.Done
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
