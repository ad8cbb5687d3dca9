package mapping

import (
	"slices"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// At an agent that cannot be asked, an artifact is pushed as it was before it was replaced,
// late; or its pieces are, in another order, and a task has it later as it was shown at first.
func TestPushedLate(t *testing.T) {
	fold := NewFold()
	artifact := func(text string) a2a.Artifact { return a2a.Artifact{ID: "a", Parts: textParts(text)} }
	piece := func(text string, follows bool) string {
		return textOf(fold.Event(&a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Artifact: artifact(text), Append: follows}, nil))
	}
	task := func(text string) string {
		return textOf(fold.Event(&a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateWorking, Artifacts: seq([]a2a.Artifact{artifact(text)})}, nil))
	}
	lose := func() {
		fold.Cut()
		fold.Blind(nil)
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q is shown, not %q", what, got, want)
		}
	}
	fold.Begin("t")
	piece("a draft", false)
	check("it is replaced", piece("the answer", false), "the answer")
	fold.Begin("t")
	lose()
	check("the draft, late", task("a draft"), "")
	check("the answer, late", task("the answer"), "")

	fold.Begin("t")
	piece("one ", false)
	piece("two ", true)
	piece("three", true)
	lose()
	piece("one ", false)
	piece("three", true)
	check("a piece that was overtaken", piece("two ", true), "two ")
	fold.Begin("t")
	check("as it was", task("one two three"), "")
	check("it goes on", piece(" four", true), " four")
	check("an earlier answer, as the new one", task("the answer"), "the answer")
}

func textOf(steps []Step) (text string) {
	for _, s := range steps {
		text += s.Text
	}
	return text
}

// Tasks whose artifacts replace each other are pushed by an agent that cannot be asked: which is
// the newest is not known, and the user is told so, once.
func TestPushedInAnotherOrder(t *testing.T) {
	fold := NewFold()
	fold.Begin("t")
	fold.Cut()
	fold.Blind(nil)
	for i, text := range []string{"the answer", "a draft", "the answer and more"} {
		steps := fold.Event(&a2a.Event{Kind: a2a.EventTask, TaskID: "t", State: a2a.StateWorking,
			Artifacts: seq([]a2a.Artifact{{ID: "a", Parts: textParts(text)}})}, nil)
		gap := func(s Step) bool { return s.Connection.Gap }
		if got, want := slices.ContainsFunc(steps, gap), i == 1; got != want {
			t.Errorf("%q: a gap is told: %v, not %v", text, got, want)
		}
	}
}
