package doctor

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// probeTime bounds one probe. An agent that takes longer has the operation and keeps
// its stream silent, or is slow.
const probeTime = 3 * time.Second

// offer tells whether an agent has an operation.
type offer uint8

const (
	offered offer = iota
	notOffered
	notKnown // it could not be asked
)

// offerOf reads the answer to a probe with a task that does not exist. An agent that
// reports the missing task has the operation. bare: the answer is no A2A error, which
// may mean either.
func offerOf(err error) (o offer, bare bool) {
	switch agent := a2a.ErrorOf(err); {
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return offered, false
	case agent == nil, agent.Unauthenticated():
		return notKnown, false
	case agent.Has(a2a.CodeMethodNotFound, a2a.CodeUnsupportedOperation):
		return notOffered, false
	case agent.Code == 0 && agent.HTTPStatus == http.StatusNotFound:
		return notOffered, true
	case agent.Code == 0:
		return notKnown, false
	}
	return offered, false
}

// taskOffers are the operations that an agent has for running tasks. bare is offerOf's, of any.
type taskOffers struct {
	get, subscribe, cancel offer
	bare                   bool
}

// none reports whether the agent has refused them all for not having them.
func (t taskOffers) none() bool {
	return t.get == notOffered && t.subscribe != offered && t.cancel != offered
}

// askForTasks probes with tasks that do not exist, and so changes none. got is the
// result of tasks/get.
func (k *checkup) askForTasks(got error) (t taskOffers) {
	var bare [3]bool
	if t.get, bare[0] = offerOf(got); t.get == notKnown {
		return taskOffers{notKnown, notKnown, notKnown, false}
	}
	ctx, stop := context.WithTimeout(k.c.Context, probeTime)
	defer stop()
	err := k.subscribe(ctx)
	t.subscribe, bare[1] = offerOf(err)
	k.noAnswer("tasks/resubscribe", err)
	ctx, stop = context.WithTimeout(k.c.Context, probeTime)
	defer stop()
	_, err = k.l.Client.Cancel(ctx, uuid.NewString())
	t.cancel, bare[2] = offerOf(err)
	k.noAnswer("tasks/cancel", err)
	t.bare = bare[0] || bare[1] || bare[2]
	return t
}

func (k *checkup) noAnswer(method string, err error) {
	if k.exam != nil && errors.Is(err, context.DeadlineExceeded) {
		k.claim(check.Warning, method, "8.2", "5.4", "a task that is not there must be answered with TaskNotFoundError (-32001), and nothing came within %v", probeTime)
	}
}

// subscribe subscribes to a task that does not exist. A refusal may be the first event
// of a stream.
func (k *checkup) subscribe(ctx context.Context) error {
	stream, err := k.l.Client.Resubscribe(ctx, uuid.NewString())
	if err != nil {
		return err
	}
	defer stream.Close()
	if _, err = stream.Read(); a2a.ErrorOf(err) != nil || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// tasksStep reports missing operations, and what they cost.
func (k *checkup) tasksStep(a *answered) {
	if a == nil {
		k.skip("there is nothing to ask", "abilities")
		return
	}
	t := a.tasks
	if t.get == notKnown || k.steps[len(k.steps)-1].Status == stepFailed { // behind a failed round trip it may be another server
		k.skip("the agent could not be asked", "abilities")
		return
	}
	noFollow, noGet := t.subscribe == notOffered, t.get == notOffered
	var missing []string
	for _, ability := range [...]struct {
		isMissing bool
		costs     string
	}{
		{k.l.Client.Unsupported().Streaming && k.card.Raw != "", "no streaming: its answers are asked for from time to time, and come in pieces"},
		{noFollow && noGet, "no resubscribe, and no history to ask for: a cut loses the rest of an answer"},
		{noFollow && !noGet, "no resubscribe: after a cut an answer is asked for from time to time, and text that the task does not keep is lost"},
		{noGet && !noFollow, "no history to ask for: a cut loses what is said until the task is followed again"},
		{t.cancel == notOffered, "no cancel: what you cancel goes on there unseen"},
	} {
		if ability.isMissing {
			missing = append(missing, ability.costs)
		}
	}
	can := k.writing.Abilities(k.card, append([]dialect.Ability{{Name: "streaming", Has: !k.l.Client.Unsupported().Streaming}}, t.abilities()...)...)
	if len(missing) == 0 {
		k.add("abilities", stepOK, can, "")
		return
	}
	missing = append([]string{can}, missing...)
	do := ""
	if t.bare {
		do = "it answers no more than 404 for a task that is not there, which may mean the task: what it offers shows with a real one"
	}
	k.add("abilities", stepWarning, strings.Join(missing, "\n"), do)
}

// abilities lists those that are known.
func (t taskOffers) abilities() (list []dialect.Ability) {
	for _, a := range []struct {
		name string
		offer
	}{{"cancel", t.cancel}, {"resubscribe", t.subscribe}, {"history", t.get}} {
		if a.offer != notKnown {
			list = append(list, dialect.Ability{Name: a.name, Has: a.offer == offered})
		}
	}
	return list
}

// isHTTPJSON reports whether each operation has its own URL, so that 404 may be about
// an operation.
func (k *checkup) isHTTPJSON() bool { return k.l.Asked(k.c).Binding == "HTTP+JSON" }
