package mapping

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// callEvent is an event of Gemini's server about a call, data what is behind its
// status.
func callEvent(id, status, data string) *a2a.Event {
	return dataEvent(fmt.Sprintf(`{"request":{"callId":%q,"name":"shell","args":{"command":"ls"}},"status":%q,"tool":{"kind":"execute"}%s}`, id, status, data))
}

func dataEvent(data string) *a2a.Event {
	raw := a2a.JSON(data)
	return &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", ContextID: "c", State: a2a.StateWorking, HasMessage: true, Raw: raw,
		Message: a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: partsBy(data, func(raw string, p *a2a.Part) (string, bool) {
			*p = a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(raw), Raw: a2a.JSON(raw)}
			return "", true
		})}}
}

// TestFoldLetsGo: a session that idles does not hold the buffer that its last event
// was read into.
func TestFoldLetsGo(t *testing.T) {
	fold, recorder := speaking(), Recorder{}
	freed := make(chan struct{})
	func() {
		ev := callEvent("a", "success", `,"response":{"resultDisplay":"done","llmContent":"`+strings.Repeat("x", 1<<20)+`"}`)
		runtime.AddCleanup(unsafe.StringData(string(ev.Raw)), func(c chan struct{}) { close(c) }, freed)
		recorder.Pick(fold.Event(ev, nil))
	}()
	for range 10 {
		runtime.GC()
		select {
		case <-freed:
			return
		case <-time.After(100 * time.Millisecond): // cleanups run in a goroutine of their own
		}
	}
	t.Error("the buffer is still held")
	runtime.KeepAlive(fold)
	runtime.KeepAlive(&recorder)
}

// TestFoldMembers: a session does not keep the memory that reading an object of millions of
// members took.
func TestFoldMembers(t *testing.T) {
	fold := speaking()
	fold.Event(dataEvent(`{"a":0`+strings.Repeat(`,"a":0`, 100_000)+`}`), nil)
	if n := cap(fold.calls.data.members); n > keepMembers {
		t.Errorf("room for %d members is kept", n)
	}
}

// TestFoldKept: calls that never end do not fill the memory, and the output of each is
// shown whole.
func TestFoldKept(t *testing.T) {
	fold := speaking()
	output := strings.Repeat("x", 1<<20)
	for i := range 200 {
		steps := fold.Event(callEvent(fmt.Sprint(i), "executing", `,"liveOutput":"`+output+`"`), nil)
		if fold.calls.size > maxCallBytes+4<<20 {
			t.Fatalf("%d MiB are kept of %d calls", fold.calls.size>>20, i+1)
		}
		if s := steps[len(steps)-1]; s.Kind != StepTool || s.Tool.OutputSoFar != output {
			t.Fatalf("call %d is shown as %+v", i, s)
		}
	}
	steps := fold.Event(callEvent("0", "executing", `,"liveOutput":"`+output+`y"`), nil)
	if len(steps) != 1 || steps[0].New || steps[0].Changed != ToolContent || steps[0].Tool.OutputSoFar != output+"y" {
		t.Errorf("%d steps", len(steps))
	}
	for i := range 200 {
		fold.Event(callEvent(fmt.Sprint(i), "success", ""), nil)
	}
	if fold.calls.size != 0 {
		t.Errorf("%d bytes are kept of calls that have ended", fold.calls.size)
	}
}

// TestFoldRunning: a call does not run any more after its task has ended, nor in the next
// turn.
func TestFoldRunning(t *testing.T) {
	for name, then := range map[string]func(*Fold){
		"ended":    func(f *Fold) { f.Event(callEvent("a", "success", ""), nil) },
		"canceled": func(f *Fold) { f.Event(&a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateCanceled}, nil) },
		"begin":    func(f *Fold) { f.Begin("") },
	} {
		f := speaking()
		f.Event(callEvent("a", "executing", ""), nil)
		if !f.Running() {
			t.Fatal("it is at work")
		}
		if then(f); f.Running() {
			t.Errorf("%s: it is still at work", name)
		}
		f.Event(callEvent("b", "executing", ""), nil)
		f.Event(callEvent("b", "executing", `,"liveOutput":"x"`), nil)
		if !f.Running() {
			t.Errorf("%s: the next one is not at work", name)
		}
	}
}

// TestFoldTraceInError: two errors that differ in a traceId alone are two errors.
func TestFoldTraceInError(t *testing.T) {
	f, n := speaking(), 0
	for i := range 4 {
		for _, s := range f.Event(&a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking,
			Metadata: a2a.JSON(fmt.Sprintf(`{"coderAgent":{"kind":"state-change"},"error":{"traceId":"%d"}}`, i))}, nil) {
			if s.Kind == StepError {
				n++
			}
		}
	}
	if n != 4 {
		t.Errorf("%d of 4 errors are told", n)
	}
}

// speaking is a Fold for an agent that is known to speak all dialects.
func speaking() *Fold {
	f := NewFold()
	for _, d := range dialects() {
		if _, ok := d.(apart); !ok { // no agent speaks those and others
			f.Speak(d.name())
		}
	}
	return f
}
