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
