package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// promptTime bounds the prompt's turn; --idle-timeout allows more.
	promptTime = time.Minute
	// promptSilence is how long nothing may come once the agent has spoken.
	promptSilence = 20 * time.Second
	// cancelPause is the time between two looks at a task that was cancelled.
	cancelPause = 100 * time.Millisecond
)

// An examiner is the editor of doctor's prompt: it allows nothing, and keeps the
// turn's task. It also records what passes.
type examiner struct {
	talk.Approver
	buf      bytes.Buffer     // read when recorder is closed
	recorder *trace.Recorder  // checkRecords closes it
	records  map[int64]string // the payloads that findings are about

	mu            sync.Mutex
	silent        *time.Timer // fires when nothing has come for too long
	idle          time.Duration
	late          string // why the turn was ended
	task, context string
	state         a2a.State
	rejected      int // questions
}

func (e *examiner) Show(_ context.Context, steps []mapping.Step) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range steps {
		if steps[i].Kind != mapping.StepNotice { // the bridge's own tell that nothing comes
			e.silent.Reset(e.idle)
		}
		if s := &steps[i]; s.Kind == mapping.StepState {
			e.task, e.context, e.state = cmp.Or(strings.Clone(s.TaskID), e.task), cmp.Or(strings.Clone(s.ContextID), e.context), s.State
		}
	}
	return nil
}

func (e *examiner) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	e.mu.Lock()
	e.rejected += len(questions)
	e.mu.Unlock()
	return e.Approver.Ask(ctx, questions)
}

// promptStep sends the user's prompt and rejects what the agent asks for.
func (k *checkup) promptStep(text string) {
	message := &a2a.Outgoing{Parts: []a2a.OutPart{{Text: text}}}
	options := k.l.Options
	options.IdleTimeout = 0 // giveUp sees to that
	agent := bridge.NewAgent(&options)
	defer agent.Close()
	ctx, stop := context.WithCancel(k.c.Context)
	defer stop()
	e, limit := k.exam, promptTime
	if e.idle = promptSilence; k.l.Options.IdleTimeout > 0 {
		e.idle, limit = k.l.Options.IdleTimeout, 10*k.l.Options.IdleTimeout
	}
	e.silent = time.AfterFunc(2*limit, func() { k.giveUp(ctx, stop, fmt.Sprintf("nothing came for %v, and the agent was not done", e.idle)) })
	defer e.silent.Stop()
	whole := time.AfterFunc(limit, func() { k.giveUp(ctx, stop, fmt.Sprintf("the agent was not done within %v", limit)) })
	defer whole.Stop()
	begun := time.Now()
	result, err := talk.Turn(ctx, agent.NewSession(k.l.Options.Workspace), func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
		return t.Send(ctx, message, e)
	})
	took := time.Since(begun).Round(time.Millisecond)
	e.mu.Lock()
	e.task, e.context, e.state = cmp.Or(result.TaskID, e.task), cmp.Or(result.ContextID, e.context), result.State
	late := e.late
	e.mu.Unlock()
	switch {
	case late != "" && e.task == "":
		k.fail("prompt", frame.Mark(context.DeadlineExceeded, errors.New("agent: "+late)), longer)
	case late != "":
		k.add("prompt", stepWarning, late, longer)
	case errors.As(err, new(*mapping.TaskError)):
		k.add("prompt", stepWarning, frame.WithoutWho(err)+", after "+took.String(), "")
	case err != nil:
		k.fail("prompt", err, "")
	case result.Unread:
		k.add("prompt", stepWarning, fmt.Sprintf("the agent has answered, after %v, and nothing of that can be shown", took), "a user sees no answer: it must be a message or a task of A2A, with a text")
	case result.Waits:
		k.add("prompt", stepOK, fmt.Sprintf("the agent asks something, after %v, and waits", took), "")
	case e.rejected > 0:
		k.add("prompt", stepOK, fmt.Sprintf("answered in %v; %s refused", took, frame.Count(e.rejected, "request")), "")
	default:
		k.add("prompt", stepOK, fmt.Sprintf("answered in %v", took), "")
	}
}

const longer = "if the agent needs longer, --idle-timeout 5m waits"

// giveUp ends a turn that takes too long. Before, it looks at the task, for the record.
func (k *checkup) giveUp(ctx context.Context, stop func(), why string) {
	k.exam.mu.Lock()
	if k.exam.state == a2a.StateAuthRequired {
		why = "the agent waits until the user has signed in somewhere else"
	}
	task := k.exam.task
	if task != "" {
		why += "; the task was cancelled"
	}
	k.exam.late = cmp.Or(k.exam.late, why)
	k.exam.mu.Unlock()
	if task != "" {
		_, _ = k.l.Client.Get(ctx, task, -1)
	}
	stop()
}

// addFinding adds a finding of the record. Of those alike the first is told, with the others'
// records.
func (k *checkup) addFinding(f *check.Finding) {
	for _, before := range k.findings {
		if before.Weight == f.Weight && before.Rule == f.Rule && before.Like() == f.Like() {
			if before.Record != f.Record && !slices.Contains(before.Also, f.Record) {
				before.Also = append(before.Also, f.Record)
			}
			return
		}
	}
	k.findings = append(k.findings, f)
}

// checkRecords checks what was recorded, once nothing more passes. It is in memory, so that nothing
// fails to be written or read.
func (k *checkup) checkRecords() {
	_ = k.exam.recorder.Close()
	r, _ := trace.NewReader(&k.exam.buf)
	k.exam.records = map[int64]string{}
	all := map[int64]string{}
	c := check.New(&check.Options{Report: k.addFinding, All: true, Picks: func(f *check.Finding) bool { return f.Who == check.Agent }})
	for rec := range r.All() {
		all[rec.N] = safe.Short(cmp.Or(string(rec.JSON), rec.Text), frame.MaxValue)
		c.Add(rec)
	}
	for _, f := range k.findings {
		f.Text = k.l.Options.Mask(f.Text)
		k.exam.records[f.Record] = k.l.Options.Mask(all[f.Record])
	}
	slices.SortStableFunc(k.findings, func(a, b *check.Finding) int { return cmp.Compare(a.Weight, b.Weight) })
	if k.err == nil && len(k.findings) > 0 && k.findings[0].Weight == check.Error {
		k.err = errors.New(k.findings[0].Text)
	}
}

// findingsOn writes the findings, the worst first, and counts the errors.
func (k *checkup) findingsOn(out *frame.Page) (bad int) {
	for _, f := range k.findings {
		mark := "look"
		if f.Weight == check.Error {
			mark, bad = "WRONG", bad+1
		}
		out.B.WriteByte('\n')
		out.Hanging(fmt.Sprintf("%-6s", mark), 6, f.What+": "+f.Text)
		where := f.Source
		if f.Record > 0 {
			where = fmt.Sprintf("record %d", f.Record)
			if n := len(f.Also); n > 0 {
				where += fmt.Sprintf(", and %d more alike", n)
			}
			where = strings.TrimSuffix(where+"; "+f.Source, "; ")
		}
		if where != "" {
			out.Text(6, "("+where+")")
		}
		if said := k.exam.records[f.Record]; f.Record > 0 && said != "" {
			out.Text(6, said)
		}
	}
	return bad
}
