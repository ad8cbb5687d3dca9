// Package doctor is the command doctor: it finds what is wrong with the way to an agent,
// and with the agent.
//
// One goroutine at most runs beside the checks: it reads a subscription, for as long as the check that began it. Timers
// end a prompt that takes too long; what its turn and they share is the examiner's, under its mutex.
package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	return p.AgentCommand("doctor", doctor,
		frame.Option{Flag: "prompt", Takes: "TEXT", Help: "also send this prompt, reject what the agent asks to do, and hold all that it says against the specification"},
		frame.Output(`{"ok","steps":[{"step","status","says","do"}], "findings":[{"rule","weight","text","record","also","source"}]}, status being ok, warning, failed or skipped`))
}

// A step is one of the way to the agent, with its result.
type step struct {
	Step   string `json:"step"`
	Status string `json:"status"`
	Says   string `json:"says"`
	Do     string `json:"do,omitempty"`
}

const (
	stepOK      = "ok"
	stepWarning = "warning"
	stepFailed  = "failed"
	stepSkipped = "skipped"
)

// A checkup is one run of doctor.
type checkup struct {
	c      *cli.Context
	l      *reach.Link
	seen   observer
	card   *a2a.Card
	cardAt string // the URL that it came from; "" for a file
	// writing is how to write to the agent, or writingErr why that cannot be.
	writing    dialect.Writing
	writingErr error
	steps      []step
	err        error // the first failure
	// unproven: the agent has answered nothing that shows that it takes messages.
	unproven bool

	exam     *examiner // nil: no prompt is sent
	findings []*check.Finding
}

func (k *checkup) add(name, status, says, do string) {
	k.steps = append(k.steps, step{name, status, k.l.Options.Mask(says), do})
}

func (k *checkup) skip(why string, steps ...string) {
	for _, step := range steps {
		k.add(step, stepSkipped, why, "")
	}
}

func (k *checkup) fail(step string, err error, do string) {
	k.err = cmp.Or(k.err, err)
	k.add(step, stepFailed, frame.WithoutWho(err), do)
}

func doctor(p *frame.Program, c *cli.Context) (err error) {
	k := &checkup{c: c}
	k.l, err = reach.Open(p, c, func(o *transport.ClientOptions) {
		inner := o.Wrap
		if c.String("prompt") != "" {
			k.exam = &examiner{Approver: talk.Approver{How: talk.ApproveReject, Say: func(string, ...any) {}}}
			k.exam.recorder = trace.New(&k.exam.buf, &trace.Options{Mode: "client", Header: o.Header})
		}
		o.Wrap = func(next http.RoundTripper) http.RoundTripper {
			if next = k.seen.wrap(next); k.exam != nil {
				next = k.exam.recorder.Wrap(next)
			}
			if inner != nil {
				next = inner(next)
			}
			return next
		}
	})
	if err != nil {
		return err
	}
	defer k.l.Close()
	k.examine()
	if c.Context.Err() != nil {
		return frame.ErrInterrupted
	}
	if k.exam != nil {
		k.l.Close()
		k.checkRecords()
	}
	if frame.AsJSON(c) {
		err = p.PrintJSON(struct {
			OK       bool             `json:"ok"`
			Steps    []step           `json:"steps"`
			Findings []*check.Finding `json:"findings,omitempty"`
		}{k.err == nil, k.steps, k.findings})
	} else {
		err = p.Show(k.page())
	}
	if err != nil {
		return err
	}
	if k.err != nil {
		return frame.Mark(frame.ErrReported, k.err)
	}
	return nil
}

func (k *checkup) page() *frame.Page {
	out, bad, warned := &frame.Page{}, 0, len(k.findings) > 0
	for _, f := range k.steps {
		mark := map[string]string{stepOK: "ok", stepWarning: "look", stepFailed: "FAIL", stepSkipped: "-"}[f.Status]
		out.Hanging(fmt.Sprintf("%-6s%-12s", mark, f.Step), 18, f.Says)
		if f.Do != "" {
			out.Hanging(strings.Repeat(" ", 18)+"-> ", 21, f.Do)
		}
		if warned = warned || f.Status == stepWarning; f.Status == stepFailed {
			bad++
		}
	}
	bad += k.findingsOn(out)
	switch {
	case bad == 0 && k.exam == nil && k.unproven:
		out.Heading("Nothing is wrong so far, and nothing shows yet that the agent takes messages: doctor --prompt \"hello\" sends one.")
	case bad == 0 && k.exam == nil:
		out.Heading("All is well: a2astdio can talk to this agent. You write it? doctor --prompt \"hello\" tests more.")
	case bad == 0 && warned:
		out.Heading("Nothing is wrong, but for what is marked with look.")
	case bad == 0:
		out.Heading("All is well.")
	case bad == 1:
		out.Heading("One thing is wrong.")
	default:
		out.Heading(fmt.Sprintf("%d things are wrong. The first may be the cause of the others.", bad))
	}
	return out
}

// examine runs the steps in order. It ends where the next step lacks what it needs.
func (k *checkup) examine() {
	card, cardErr := k.l.Client.Card(k.c.Context)
	k.card, k.cardAt = card, k.seen.document
	if cardErr == nil {
		var how transport.Chosen
		var answer *answered
		k.writing, k.writingErr = dialect.Settings(card, k.l.Options.Dialect, k.l.Options.Extensions)
		by, chosenErr := k.l.Client.Chosen(k.c.Context)
		if chosenErr == nil {
			answer = k.ask()
			how, chosenErr = k.l.Client.Chosen(k.c.Context) // as it was answered
		}
		k.network()
		k.cardStep()
		k.signatureStep()
		k.interfaceStep(how, by == how, chosenErr)
		k.extensionsStep()
		k.answerSteps(answer)
		k.tasksStep(answer)
		if k.exam != nil && chosenErr == nil {
			k.promptStep(k.c.String("prompt"))
			k.claimSteps()
		}
		return
	}
	k.network()
	k.noCard(cardErr)
	why := "there is no card"
	if errors.As(cardErr, new(*cardsign.UntrustedError)) {
		why = "the card is refused"
	}
	k.skip(why, "interface", "extensions", "auth", "round trip", "abilities")
}

// An answered is the result of the round trip.
type answered struct {
	took  time.Duration
	err   error
	tasks taskOffers
}

// ask asks for a task that does not exist. That changes nothing, and an agent that
// answers with any error has understood.
func (k *checkup) ask() *answered {
	if k.writingErr == nil {
		k.l.Client.Activate(k.writing.Extensions)
	}
	begun := time.Now()
	_, err := k.l.Client.Get(k.c.Context, uuid.NewString(), -1)
	took := time.Since(begun)
	return &answered{took, err, k.askForTasks(err)}
}

// network reports what the observer saw below the requests.
func (k *checkup) network() {
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	switch {
	case k.isDemo():
		k.skip("the demo is in this process", "connection")
		return
	case len(k.seen.hosts) == 0:
		k.skip("nothing was asked of any host", "connection")
	}
	for _, s := range k.seen.hosts {
		k.connectionStep(s)
	}
}

func (k *checkup) isDemo() bool { return k.c.String("agent") == reach.DemoAgent }
