package main

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

type agent struct{}

// Execute answers a prompt.
func (agent) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		t := &turn{ctx: ctx, call: call, yield: yield}
		prompt := t.prompt()
		if prompt == "message" {
			t.say(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("direct reply")))
			return
		}
		if call.StoredTask == nil {
			t.say(a2a.NewSubmittedTask(call, call.Message))
		}
		t.status(a2a.TaskStateWorking, "working on it")
		if call.StoredTask != nil {
			t.status(a2a.TaskStateCompleted, "")
			return
		}
		t.work(prompt)
	}
}

// Cancel ends a task.
func (agent) Cancel(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		t := &turn{ctx: ctx, call: call, yield: yield}
		t.status(a2a.TaskStateCanceled, "canceled by client")
	}
}

// A turn is one execution.
type turn struct {
	ctx   context.Context
	call  *a2asrv.ExecutorContext
	yield func(a2a.Event, error) bool
	done  bool
}

func (t *turn) prompt() string {
	var text []string
	for _, p := range t.call.Message.Parts {
		text = append(text, p.Text())
	}
	return strings.TrimSpace(strings.Join(text, " "))
}

func (t *turn) say(e a2a.Event) {
	t.done = t.done || t.ctx.Err() != nil || !t.yield(e, nil)
}

func (t *turn) status(s a2a.TaskState, text string) {
	if t.done {
		return
	}
	var m *a2a.Message
	if text != "" {
		m = a2a.NewMessageForTask(a2a.MessageRoleAgent, t.call, a2a.NewTextPart(text))
	}
	t.say(a2a.NewStatusUpdateEvent(t.call, s, m))
}

func (t *turn) work(prompt string) {
	n, wait := 3, 10
	switch word, rest, _ := strings.Cut(prompt, " "); word {
	case "count":
		_, _ = fmt.Sscan(rest, &n, &wait)
		t.count(n, wait)
	case "ask":
		t.status(a2a.TaskStateInputRequired, "which city?")
		return
	case "parts":
		t.parts()
	case "draft":
		t.draft("A first draft.", "The final text.")
	case "fail":
		t.status(a2a.TaskStateFailed, "it failed as asked")
		return
	default:
		t.say(a2a.NewArtifactEvent(t.call, a2a.NewTextPart(prompt)))
	}
	t.status(a2a.TaskStateCompleted, "")
}

func (t *turn) count(n, wait int) {
	id := a2a.NewArtifactID()
	for i := range n {
		e := a2a.NewArtifactUpdateEvent(t.call, id, a2a.NewTextPart(fmt.Sprintf("chunk-%d ", i)))
		e.Append, e.LastChunk = i > 0, i == n-1
		e.Artifact.Name = "counter"
		if t.say(e); t.done {
			return
		}
		t.wait(wait)
	}
}

// draft says an artifact, and says it anew.
func (t *turn) draft(texts ...string) {
	id := a2a.NewArtifactID()
	for _, text := range texts {
		e := a2a.NewArtifactUpdateEvent(t.call, id, a2a.NewTextPart(text))
		e.Append = false
		t.say(e)
		t.wait(100)
	}
}

func (t *turn) parts() {
	hinted := a2a.NewTextPart("plain")
	hinted.Metadata = map[string]any{"hint": "t"}
	raw := a2a.NewRawPart([]byte("hello bytes"))
	raw.Filename, raw.MediaType = "hello.bin", "application/octet-stream"
	url := a2a.NewFileURLPart("https://example.com/f.pdf", "application/pdf")
	url.Filename = "f.pdf"
	t.say(a2a.NewArtifactEvent(t.call, hinted, raw, url,
		a2a.NewDataPart(map[string]any{"k": "v", "n": 1.5}), a2a.NewDataPart([]any{1, "two"})))
}

func (t *turn) wait(ms int) {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
	case <-t.ctx.Done():
		t.done = true
	}
}
