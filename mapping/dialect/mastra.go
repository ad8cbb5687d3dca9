package dialect

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// mastra is Mastra's server, whose task begins with a filler for the answer. All else
// that it says is A2A. Read in source, and tried (@mastra/server 1.68).
type mastra struct{ base }

const mastraFiller = "Generating response..."

func (mastra) about() about { return about{name: "mastra", sign: ":response:"} }

func (mastra) matchesCard(card *a2a.Card) bool { return strings.HasPrefix(card.Provider, "Mastra") }

// recognizes: its artifacts are named after their task.
func (mastra) recognizes(ev *a2a.Event) bool {
	what, found := strings.CutPrefix(ev.Artifact.ID, ev.TaskID)
	return ev.TaskID != "" && ev.Kind == a2a.EventArtifact && found && (what == ":response:text" || what == ":response:data")
}

// message drops a filler, and leaves the rest to A2A's rules.
func (mastra) message(m *a2a.Message, at *Carrier, _ *Pieces) bool {
	return IsFiller(at.State, m.Parts.Text())
}

// IsFiller reports whether the text of a state's message only fills the place of an answer.
func IsFiller(state a2a.State, text string) bool {
	return state == a2a.StateWorking && text == mastraFiller
}
