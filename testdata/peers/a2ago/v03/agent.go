package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
)

type agent struct{}

// Execute answers a prompt.
func (agent) Execute(ctx context.Context, call *a2asrv.RequestContext, q eventqueue.Queue) error {
	t := &turn{ctx: ctx, call: call, queue: q}
	switch prompt := t.prompt(); {
	case prompt == "message":
		t.say(a2a.NewMessage(a2a.MessageRoleAgent, a2a.TextPart{Text: "direct reply"}))
	case call.StoredTask != nil:
		t.status(a2a.TaskStateWorking, "working on it")
		t.status(a2a.TaskStateCompleted, "")
	default:
		t.say(a2a.NewSubmittedTask(call, call.Message))
		t.status(a2a.TaskStateWorking, "working on it")
		t.work(prompt)
	}
	return t.err
}

// Cancel ends a task.
func (agent) Cancel(ctx context.Context, call *a2asrv.RequestContext, q eventqueue.Queue) error {
	t := &turn{ctx: ctx, call: call, queue: q}
	t.status(a2a.TaskStateCanceled, "canceled by client")
	return t.err
}

// A turn is one execution.
type turn struct {
	ctx   context.Context
	call  *a2asrv.RequestContext
	queue eventqueue.Queue
	err   error
}

func (t *turn) prompt() string {
	var text []string
	for _, p := range t.call.Message.Parts {
		if t, ok := p.(a2a.TextPart); ok {
			text = append(text, t.Text)
		}
	}
	return strings.TrimSpace(strings.Join(text, " "))
}

func (t *turn) say(e a2a.Event) {
	if t.err == nil {
		t.err = t.queue.Write(t.ctx, e)
	}
}

func (t *turn) status(s a2a.TaskState, text string) {
	var m *a2a.Message
	if text != "" {
		m = a2a.NewMessageForTask(a2a.MessageRoleAgent, t.call, a2a.TextPart{Text: text})
	}
	e := a2a.NewStatusUpdateEvent(t.call, s, m)
	e.Final = s.Terminal() || s == a2a.TaskStateInputRequired
	t.say(e)
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
	case "fail":
		t.status(a2a.TaskStateFailed, "it failed as asked")
		return
	default:
		t.say(a2a.NewArtifactEvent(t.call, a2a.TextPart{Text: prompt}))
	}
	t.status(a2a.TaskStateCompleted, "")
}

func (t *turn) count(n, wait int) {
	id := a2a.NewArtifactID()
	for i := range n {
		e := a2a.NewArtifactUpdateEvent(t.call, id, a2a.TextPart{Text: fmt.Sprintf("chunk-%d ", i)})
		e.Append, e.LastChunk = i > 0, i == n-1
		e.Artifact.Name = "counter"
		if t.say(e); t.err != nil {
			return
		}
		t.wait(wait)
	}
}

func (t *turn) parts() {
	t.say(a2a.NewArtifactEvent(t.call,
		a2a.TextPart{Text: "plain", Metadata: map[string]any{"hint": "t"}},
		a2a.FilePart{File: a2a.FileBytes{
			FileMeta: a2a.FileMeta{Name: "hello.bin", MimeType: "application/octet-stream"}, Bytes: "aGVsbG8gYnl0ZXM=",
		}},
		a2a.FilePart{File: a2a.FileURI{
			FileMeta: a2a.FileMeta{Name: "f.pdf", MimeType: "application/pdf"}, URI: "https://example.com/f.pdf",
		}},
		a2a.DataPart{Data: map[string]any{"k": "v", "n": 1.5}}))
}

func (t *turn) wait(ms int) {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
	case <-t.ctx.Done():
		t.err = t.ctx.Err()
	}
}
