package task

import (
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestPageOfNothing: a task in which nothing was said yet has no headings over nothing.
func TestPageOfNothing(t *testing.T) {
	task := &a2a.Event{TaskID: "t", State: a2a.StateWorking, History: func(func(a2a.Message) bool) {}, Artifacts: func(func(a2a.Artifact) bool) {}}
	if got, want := taskPage(task, "", "a2astdio").String(), "task          t\nstate         working\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
