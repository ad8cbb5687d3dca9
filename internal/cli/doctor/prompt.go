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

	"github.com/google/uuid"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
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
	buf      bytes.Buffer // read when recorder is closed
	recorder *trace.Recorder
	records  map[int64]string // the payloads that findings are about

	mu            sync.Mutex
	silent        *time.Timer // fires when nothing has come for too long
	idle          time.Duration
	late          string // why the turn was ended
	task, context string
	state         a2a.State
	rejected      int // questions
}

// newExaminer returns an examiner with a recorder, which check closes.
func newExaminer(o *transport.ClientOptions) *examiner {
	e := &examiner{Approver: talk.Approver{How: talk.ApproveReject, Say: func(string, ...any) {}}}
	e.recorder = trace.New(&e.buf, &trace.Options{Mode: "client", Header: o.Header})
	return e
}

// Show implements [bridge.Editor].
func (e *examiner) Show(_ context.Context, steps []mapping.Step) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.silent.Reset(e.idle)
	for i := range steps {
		if s := &steps[i]; s.Kind == mapping.StepState {
			e.task, e.context, e.state = cmp.Or(strings.Clone(s.TaskID), e.task), cmp.Or(strings.Clone(s.ContextID), e.context), s.State
		}
	}
	return nil
}

// Ask implements [bridge.Editor].
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
	var failed *mapping.TaskError
	switch {
	case late != "":
		k.add("prompt", stepWarning, late, "if the agent needs longer, --idle-timeout 5m waits")
	case errors.As(err, &failed):
		k.add("prompt", stepWarning, frame.WithoutWho(err)+", after "+took.String(), "")
	case err != nil:
		k.fail("prompt", err, "")
	case result.Waits:
		k.add("prompt", stepOK, fmt.Sprintf("the agent asks something, after %v, and waits", took), "")
	case e.rejected > 0:
		k.add("prompt", stepOK, fmt.Sprintf("answered in %v; %s refused", took, frame.Count(e.rejected, "request")), "")
	default:
		k.add("prompt", stepOK, fmt.Sprintf("answered in %v", took), "")
	}
}

// giveUp ends a turn that takes too long. Before, it looks at the task, for the record.
func (k *checkup) giveUp(ctx context.Context, stop func(), why string) {
	k.exam.mu.Lock()
	if k.exam.state == a2a.StateAuthRequired {
		why = "the agent waits until the user has signed in somewhere else"
	}
	k.exam.late = cmp.Or(k.exam.late, why+"; the task was cancelled")
	task := k.exam.task
	k.exam.mu.Unlock()
	if task != "" {
		_, _ = k.l.Client.Get(ctx, task, -1)
	}
	stop()
}

// claimSteps asks for what the agent says it has, as far as that changes nothing. What
// is wrong with the answers the record tells; here is only what no single answer shows.
func (k *checkup) claimSteps() {
	ctx, stop := context.WithTimeout(k.c.Context, k.l.HTTP.Timeout)
	defer stop()
	l, e := k.l.Client, k.exam
	if e.task != "" {
		_, _ = l.Get(ctx, e.task, -1)
		_, _ = l.Get(ctx, e.task, 1)
		if e.state.Terminal() {
			if _, err := l.Cancel(ctx, e.task); err == nil {
				k.claim(check.Warning, "tasks/cancel", "7.4", "3.1.5", "a task that has ended cannot be cancelled, and the agent has not said so")
			}
			if stream, err := l.Resubscribe(ctx, e.task); err == nil {
				_, _ = stream.Read()
				stream.Close()
			}
		}
		if k.card.Push { // reading changes nothing, nor does a task that is not there
			_ = l.ListPush(ctx, e.task)
			_ = l.SetPush(ctx, a2a.PushConfig{TaskID: uuid.NewString(), URL: "https://a2astdio.invalid/"})
		}
	}
	if k.card.ExtendedCard {
		_, _ = l.Extended(ctx)
	}
	k.strangeMethod(ctx)
	k.otherInterfaces(ctx)
	if k.err == nil && e.late == "" {
		k.ownMessages()
	}
	k.lists()
}

// lists asks for the tasks of the conversation, and then page by page.
func (k *checkup) lists() {
	ctx, stop := context.WithTimeout(k.c.Context, k.l.HTTP.Timeout)
	defer stop()
	l, e := k.l.Client, k.exam
	if how, err := l.Chosen(ctx); err != nil || how.Version != "1.0" {
		return
	}
	page, err := l.List(ctx, a2a.TaskQuery{ContextID: e.context, PageSize: 100})
	if err == nil && e.task != "" && !slices.ContainsFunc(page.Tasks, func(t a2a.Event) bool { return t.TaskID == e.task }) {
		k.claim(check.Warning, "ListTasks", "", "3.1.4", "missing: the list of tasks of the context %q does not have the task %q", e.context, e.task)
	}
	if err != nil || len(page.Tasks) < 2 {
		return
	}
	if page, err = l.List(ctx, a2a.TaskQuery{ContextID: e.context, PageSize: 1}); err == nil && page.NextPageToken != "" {
		_, _ = l.List(ctx, a2a.TaskQuery{ContextID: e.context, PageSize: 1, PageToken: page.NextPageToken})
	}
}

// ownMessages sends two messages of doctor's own, which ask for nothing. It is not the user's
// prompt again, which an agent that takes it would do twice. One goes to the task that has
// ended, and must be refused; in the development-tool extension it goes on. The other begins
// a task without a stream, in the conversation of the first, which is cancelled at once.
func (k *checkup) ownMessages() {
	ctx, stop := context.WithTimeout(k.c.Context, promptSilence)
	defer stop()
	w, err := dialect.Settings(k.card, k.l.Options.Dialect, k.l.Options.Extensions)
	if err != nil || slices.ContainsFunc(w.Extensions, func(uri string) bool { return strings.Contains(uri, "/developer-profile/") }) {
		return
	}
	e, l := k.exam, k.l.Client
	send := func(task, context, text string) (*a2a.Event, error) {
		return l.SendOnce(ctx, &a2a.Outgoing{ID: uuid.NewString(), TaskID: task, ContextID: context, Parts: []a2a.OutPart{{Text: text + " Please do nothing."}}}, false)
	}
	conversation := "" // of its own: a task that waits might take the second message for its answer
	if e.task != "" && e.state.Terminal() {
		conversation = e.context
		answer, err := send(e.task, e.context, "This only checks that a task which has ended takes no message.")
		how, _ := l.Chosen(ctx)
		if err == nil && (how.Version == "1.0" || answer.TaskID == e.task) { // in 0.3 the agent may begin another task
			k.claim(check.Error, "message/send", "7.1", "3.1.1", "the task %q has ended (%s), so a message to it must be refused, and the agent has taken one", e.task, e.state)
		}
	}
	task, err := send("", conversation, "This only checks that a task can be cancelled.") // its shape the record tells
	if err != nil || task.TaskID == "" || task.State.Terminal() {
		return
	}
	wait := k.follow(task.TaskID)
	_, err = l.Cancel(k.c.Context, task.TaskID)
	wait()
	if err != nil { // also if the sending took all of the time
		return // what is wrong with a refusal the record tells, too
	}
	state := task.State
	late, stopLate := context.WithTimeout(k.c.Context, probeTime)
	defer stopLate()
	for pause := time.NewTicker(cancelPause); !state.Terminal(); {
		now, err := l.Get(late, task.TaskID, 0)
		if err == nil {
			state = now.State
		}
		select {
		case <-pause.C:
			continue
		case <-late.Done():
		}
		if k.c.Context.Err() == nil { // no error: success is not guaranteed
			k.claim(check.Warning, "tasks/cancel", "7.4", "3.1.5", "the agent has taken the cancel of the task %q, and %v later it is %s: a client that cancels waits for it in vain", task.TaskID, probeTime, state)
		}
		return
	}
}

// follow subscribes to a task, for the record; wait returns when the stream has ended, or had the
// time to.
func (k *checkup) follow(task string) (wait func()) {
	ctx, stop := context.WithTimeout(k.c.Context, probeTime)
	var reading sync.WaitGroup
	if stream, err := k.l.Client.Resubscribe(ctx, task); err == nil {
		reading.Go(func() {
			for err == nil {
				_, err = stream.Read()
			}
			stream.Close()
		})
	}
	return func() {
		reading.Wait()
		stop()
	}
}

// strangeMethod calls a method that does not exist.
func (k *checkup) strangeMethod(ctx context.Context) {
	if k.isHTTPJSON() {
		return
	}
	const method = "a2astdio/noSuchMethod"
	stream, _, err := k.l.Client.Call(ctx, transport.Call{Method: method, Params: struct{}{}})
	var agent *a2a.Error
	switch {
	case err == nil:
		if stream != nil {
			stream.Close()
		}
		k.claim(check.Error, method, "8.1", "9.5", "the agent has answered a method that does not exist; the answer must be an error, -32601")
	case errors.As(err, &agent) && agent.Code != 0 && agent.Code != a2a.CodeMethodNotFound && agent.Code != a2a.CodeVersionNotSupported && !agent.Unauthenticated():
		k.claim(check.Warning, method, "8.1", "9.5", "a method that does not exist must be answered with the error -32601, and the agent says %d (%s)", agent.Code, agent.Message)
	}
}

// otherInterfaces tries the interfaces of the card that were not used.
func (k *checkup) otherInterfaces(ctx context.Context) {
	how, err := k.l.Client.Chosen(ctx)
	if err != nil || how.NoCard || k.isDemo() {
		return
	}
	for _, i := range k.card.Interfaces {
		binding, ok := map[string]string{"JSONRPC": "jsonrpc", "HTTP+JSON": "http+json"}[i.Binding]
		version := strings.Join(append(strings.Split(i.Version, "."), "0", "0")[:2], ".")
		if !ok || i.Binding == how.Binding && version == how.Version || !slices.Contains(transport.Versions(), version) {
			continue
		}
		opts := *k.l.HTTP
		opts.Version, opts.Binding = version, binding
		other, err := transport.NewClient(k.c.String("agent"), &opts)
		if err != nil {
			return
		}
		_, err = other.Get(ctx, uuid.NewString(), -1)
		other.Close()
		var agent *a2a.Error
		if err != nil && !(errors.As(err, &agent) && (agent.Code != 0 || agent.Unauthenticated())) {
			k.claim(check.Error, "card", "5.6", "8.3.1", "the card offers %s %s at %s, and that is missing: %s", i.Binding, i.Version, i.URL, frame.WithoutWho(err))
		}
	}
}

// claim adds a finding of doctor's own: about a method, in 0.3's name, and what sections of A2A
// 0.3 and 1.0 say.
func (k *checkup) claim(weight, method, old, new, format string, args ...any) {
	how, _ := k.l.Client.Chosen(k.c.Context)
	v1 := how.Version == "1.0"
	if name := map[string]string{"tasks/get": "GetTask", "tasks/cancel": "CancelTask", "message/send": "SendMessage", "tasks/resubscribe": "SubscribeToTask"}[method]; v1 && name != "" {
		method = name
	}
	k.findings = append(k.findings, &check.Finding{Who: check.Agent, Rule: check.RuleClaim, Weight: weight, Source: check.Section(v1, old, new), What: method, Text: fmt.Sprintf(format, args...)})
}

// found adds a finding of the record. Of those alike the first is told, with the others' records.
func (k *checkup) found(f *check.Finding) {
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

// checkRecords checks what was recorded, once nothing more passes.
func (k *checkup) checkRecords() error {
	if err := k.exam.recorder.Close(); err != nil {
		return err
	}
	r, err := trace.NewReader(&k.exam.buf)
	if err != nil {
		return err
	}
	defer r.Close()
	k.exam.records = map[int64]string{}
	all := map[int64]string{}
	c := check.New(&check.Options{Report: k.found, All: true, Picks: func(f *check.Finding) bool { return f.Who == check.Agent }})
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		all[rec.N] = safe.Short(cmp.Or(string(rec.JSON), rec.Text), frame.MaxValue)
		c.Add(rec)
	}
	c.End()
	for _, f := range k.findings {
		f.Text = k.l.Options.Mask(f.Text)
		k.exam.records[f.Record] = k.l.Options.Mask(all[f.Record])
	}
	slices.SortStableFunc(k.findings, func(a, b *check.Finding) int { return cmp.Compare(a.Weight, b.Weight) })
	if k.err == nil && len(k.findings) > 0 && k.findings[0].Weight == check.Error {
		k.err = errors.New(k.findings[0].Text)
	}
	return nil
}

// errors is how many findings are errors.
func (k *checkup) errors() (n int) {
	for _, f := range k.findings {
		if f.Weight == check.Error {
			n++
		}
	}
	return n
}

// findingsOn writes the findings, the worst first.
func (k *checkup) findingsOn(out *frame.Page) {
	if k.exam == nil {
		return
	}
	for _, f := range k.findings {
		mark := "WRONG"
		if f.Weight == check.Warning {
			mark = "look"
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
}
