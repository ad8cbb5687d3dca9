package mapping_test

import (
	"testing"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestEmptyArtifact: an artifact that says nothing is no news, and tokens in tasks are each shown.
func TestEmptyArtifact(t *testing.T) {
	for name, parts := range map[string]a2a.Parts{"no parts": {}, "no text": plainText("")} {
		f, said := mapping.NewFold(), ""
		for range 3 {
			ev := &a2a.Event{Kind: a2a.EventTask, TaskID: "t", ContextID: "c", State: a2a.StateWorking, HasMessage: true,
				Message:   a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: plainText("go ")},
				Artifacts: seq([]a2a.Artifact{{ID: "a", Parts: parts}})}
			for _, s := range f.Event(shown.Live, ev, nil) {
				if !s.Repeats {
					said += s.Text
				}
			}
		}
		if said != "go go go " {
			t.Errorf("%s: %q", name, said)
		}
	}
}
