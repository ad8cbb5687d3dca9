package doctor

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

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
	k.strangeVersion(ctx)
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
	if k.l.Asked(k.c).Version != "1.0" {
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
// a task without a stream, in the conversation of the first, which is cancelled at once; an agent
// that is done before gets that one again.
func (k *checkup) ownMessages() {
	ctx, stop := context.WithTimeout(k.c.Context, promptSilence)
	defer stop()
	if k.writingErr != nil || slices.ContainsFunc(k.writing.Extensions, func(uri string) bool { return strings.Contains(uri, "/developer-profile/") }) {
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
		if err == nil && (k.l.Asked(k.c).Version == "1.0" || answer.TaskID == e.task) { // in 0.3 the agent may begin another task
			k.claim(check.Error, "message/send", "7.1", "3.1.1", "the task %q has ended (%s), so a message to it must be refused, and the agent has taken one", e.task, e.state)
		}
	}
	begin := func() (*a2a.Event, bool) {
		task, err := send("", conversation, "This only checks that a task can be cancelled.") // its shape the record tells
		return task, err == nil && task.TaskID != "" && !task.State.Terminal()
	}
	task, runs := begin()
	if !runs {
		return
	}
	wait := k.follow(task.TaskID)
	_, err := l.Cancel(k.c.Context, task.TaskID)
	wait()
	if a2a.ErrorOf(err).Has(a2a.CodeTaskNotCancelable) {
		// Strands for TypeScript was done meanwhile. Whether it can cancel, another task tells.
		if task, runs = begin(); runs {
			_, err = l.Cancel(k.c.Context, task.TaskID)
		}
	}
	if err != nil { // also if the sending took all of the time
		return // what is wrong with a refusal the record tells, too
	}
	k.awaitCancel(task)
}

// awaitCancel waits until a task is over whose cancel the agent has taken.
func (k *checkup) awaitCancel(task *a2a.Event) {
	state := a2a.State("")
	late, stopLate := context.WithTimeout(k.c.Context, probeTime)
	defer stopLate()
	for pause := time.NewTicker(cancelPause); !state.Terminal(); {
		now, err := k.l.Client.Get(late, task.TaskID, 0)
		if err == nil {
			state = now.State
		}
		select {
		case <-pause.C:
			continue
		case <-late.Done():
		}
		if k.c.Context.Err() == nil && state != "" { // no error: success is not guaranteed
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

func (k *checkup) strangeMethod(ctx context.Context) {
	if k.isHTTPJSON() {
		return
	}
	const method = "a2astdio/noSuchMethod"
	stream, _, err := k.l.Client.Call(ctx, transport.Call{Method: method, Params: struct{}{}})
	switch agent := a2a.ErrorOf(err); {
	case err == nil:
		if stream != nil {
			stream.Close()
		}
		k.claim(check.Error, method, "8.1", "9.5", "the agent has answered a method that does not exist; the answer must be an error, -32601")
	case agent != nil && !agent.Has(0, a2a.CodeMethodNotFound, a2a.CodeVersionNotSupported) && !agent.Unauthenticated():
		k.claim(check.Warning, method, "8.1", "9.5", "a method that does not exist must be answered with the error -32601, and the agent says %d (%s)", agent.Code, agent.Message)
	}
}

// otherInterfaces tries the interfaces of the card that were not used.
func (k *checkup) otherInterfaces(ctx context.Context) {
	how := k.l.Asked(k.c)
	if how.NoCard || k.isDemo() {
		return
	}
	for _, i := range k.card.Interfaces {
		binding, ok := map[string]string{"JSONRPC": "jsonrpc", "HTTP+JSON": "http+json"}[i.Binding]
		version := strings.Join(append(strings.Split(i.Version, "."), "0", "0")[:2], ".")
		if !ok || i.Binding == how.Binding && version == how.Version || !slices.Contains(transport.Versions(), version) {
			continue
		}
		err := k.askedAs(ctx, version, binding, "")
		if agent := a2a.ErrorOf(err); err != nil && (agent == nil || agent.Code == 0 && !agent.Unauthenticated()) {
			k.claim(check.Error, "card", "5.6", "8.3.1", "the card offers %s %s at %s, and that is missing: %s", i.Binding, i.Version, i.URL, frame.WithoutWho(err))
		}
	}
}

// askedAs asks for a task that is not there in another way than the one that was chosen. said is what the
// request names as its version, if not the right one.
func (k *checkup) askedAs(ctx context.Context, version, binding, said string) error {
	opts := *k.l.HTTP
	opts.Version, opts.Binding = version, binding
	if said != "" {
		opts.Header = http.Header{"A2a-Version": {said}}
		maps.Copy(opts.Header, k.l.HTTP.Header)
	}
	other, err := transport.NewClient(k.l.Address, &opts)
	if err != nil {
		return err
	}
	defer other.Close()
	_, err = other.Get(ctx, uuid.NewString(), -1)
	return err
}

// strangeVersion asks in a version that does not exist. a2a-go takes it: clients that speak a later one get
// answers of another.
func (k *checkup) strangeVersion(ctx context.Context) {
	how := k.l.Asked(k.c)
	if how.Version != "1.0" || k.isDemo() {
		return
	}
	err := k.askedAs(ctx, how.Version, strings.ToLower(how.Binding), "9.9")
	if err == nil || a2a.ErrorOf(err).Has(a2a.CodeTaskNotFound) {
		k.claim(check.Warning, "tasks/get", "", "3.6.2", "A2A-Version 9.9, which does not exist, was taken: it must be answered with VersionNotSupportedError (-32009)")
	}
}

// claim adds a finding of doctor's own: about a method, in 0.3's name, and what sections of A2A
// 0.3 and 1.0 say.
func (k *checkup) claim(weight, method, old, new, format string, args ...any) {
	v1 := k.l.Asked(k.c).Version == "1.0"
	if name := map[string]string{"tasks/get": "GetTask", "tasks/cancel": "CancelTask", "message/send": "SendMessage", "tasks/resubscribe": "SubscribeToTask"}[method]; v1 && name != "" {
		method = name
	}
	k.findings = append(k.findings, &check.Finding{Who: check.Agent, Rule: check.RuleClaim, Weight: weight, Source: check.Section(v1, old, new), What: method, Text: fmt.Sprintf(format, args...)})
}
