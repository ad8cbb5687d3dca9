package task

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

var errGone = errors.New("the terminal is gone")

type goneTerminal struct{}

func (goneTerminal) Read([]byte) (int, error)  { return 0, errGone }
func (goneTerminal) Write([]byte) (int, error) { return 0, errGone }
func (goneTerminal) Close() error              { return nil }

// The terminal of somebody who looks on fails while a question is asked on it. An error of Ask
// would cancel the task, which is not theirs: the command ends without it.
func TestOnlookerCannotAsk(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	a := &talk.Approver{How: talk.ApproveAsk, Terminal: func() (io.ReadWriteCloser, error) { return goneTerminal{}, nil }}
	o := &onlooker{Editor: &talk.Editor{Approver: a}, answers: true, ends: make(chan func() error, 1)}
	asked := make(chan error)
	go func() {
		_, err := o.Ask(ctx, []mapping.Question{mapping.NewQuestion(&mapping.ToolCall{Confirmation: &mapping.Confirmation{}})})
		asked <- err
	}()
	select {
	case end := <-o.ends:
		err := end()
		must.True(t, errors.Is(err, errGone), "the command ends with", err)
	case err := <-asked:
		t.Fatalf("the turn gets %v", err)
	}
	stop()
	err := <-asked
	must.True(t, errors.Is(err, context.Canceled), "at its end the turn gets", err)
}

// TestPageOfNothing: a task in which nothing was said yet has no headings over nothing.
func TestPageOfNothing(t *testing.T) {
	task := &a2a.Event{TaskID: "t", State: a2a.StateWorking, History: func(func(a2a.Message) bool) {}, Artifacts: func(func(a2a.Artifact) bool) {}}
	must.Equal(t, taskPage(task, "", "a2astdio").String(), "task          t\nstate         working\n")
}
