package bridge

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// A session rests when its last turn is over, also where a form has put another turn in
// the place of the one that was waited for.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewAgent(&Options{}).NewSession("/")
		turn := must.Get(s.Begin())(t)
		rested := make(chan struct{})
		go func() {
			s.waitIdle()
			close(rested)
		}()
		synctest.Wait()
		turn = turn.successor()
		synctest.Wait()
		select {
		case <-rested:
			t.Error("it rests while the next turn runs")
		default:
		}
		turn.Discard()
		<-rested
	})
}

// A prompt that comes when the editor has been told how a loaded session stands may answer what its
// task asks, also before the turn that has told it is released; an earlier one may not.
func TestPromptBehindLoaded(t *testing.T) {
	s := NewAgent(&Options{}).NewSession("/")
	loaded := must.Get(s.beginLoaded())(t)
	for _, told := range []bool{false, true} {
		prompt := must.Get(s.Begin())(t)
		if prompt.afterEnd != told {
			t.Errorf("the end was told: %t, the prompt comes after it: %t", told, prompt.afterEnd)
		}
		prompt.Discard()
		s.noteShown(true)
	}
	loaded.Discard()
}

// A companion with one open file.
type oneFile struct{ Companion }

func (oneFile) OpenFiles() []OpenFile { return []OpenFile{{Path: "C:/a b.go", Active: true}} }

// A path of Windows is a file URI with three slashes, as of other systems.
func TestOpenFileURI(t *testing.T) {
	i := &ide{server: &server{opts: &Options{CompanionContext: true}}, companion: oneFile{}}
	prompt := i.withOpenFile([]acp.ContentBlock{{Type: "text", Text: "explain"}})
	if len(prompt) != 2 || prompt[1].URI != "file:///C:/a%20b.go" {
		t.Errorf("%+v", prompt)
	}
}

// A conversation of A2A lines with a new task for each prompt is found by the newest of them, and by one
// whose calls wait; also behind a prune.
func TestTasksOfLinesAreBounded(t *testing.T) {
	a := NewAgent(&Options{})
	e := &linesEditor{server: &server{agent: a}, contexts: map[string]*Session{}, tasks: map[string]*Session{}, waiting: map[string][]string{}}
	s := a.NewSession("/")
	enter := func(from, to int, pending ...string) {
		for i := from; i < to; i++ {
			e.enterConversation(s, Result{ContextID: "c", TaskID: fmt.Sprint("t", i), Pending: pending})
		}
	}
	enter(0, 1, "call")
	enter(1, maxTasks+9)
	must.Equal(t, len(e.tasks), maxTasks)
	for id, kept := range map[string]bool{"t0": true, "t1": false, "t9": false, "t10": true, fmt.Sprint("t", maxTasks+8): true} {
		must.Equal(t, e.tasks[id] != nil, kept, id)
	}
	e.prune()
	enter(0, maxTasks)
	must.Equal(t, []int{len(e.tasks), len(e.entered)}, []int{maxTasks, maxTasks})
}
