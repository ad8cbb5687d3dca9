// Package doctor is the command doctor: it finds what is wrong with the way to an agent,
// and with the agent.
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
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	return p.AgentCommand("doctor", doctor,
		&cli.StringFlag{Name: "prompt", Usage: "`TEXT`: also send this prompt, reject what the agent asks to do, and hold all that it says against the specification"},
		frame.OutputFlag(`{"ok","steps":[{"step","status","says","do"}], "findings":[{"rule","weight","text","record","source"}]}, status being ok, warning, missing, failed or skipped`))
}

// A Finding is the result of a step.
type Finding struct {
	Step   string `json:"step"`
	Status string `json:"status"`
	Says   string `json:"says"`
	Do     string `json:"do,omitempty"`
}

// Results of a step.
const (
	StepOK      = "ok"
	StepWarning = "warning"
	stepMissing = "missing" // the agent claims to have it
	StepFailed  = "failed"
	StepSkipped = "skipped"
)

// A checkup is one run of doctor.
type checkup struct {
	p     *frame.Program
	c     *cli.Context
	l     *reach.Link
	seen  observer
	card  *a2a.Card
	steps []Finding
	err   error // the first failure

	exam     *examiner // nil: no prompt is sent
	findings []*check.Finding
}

func (k *checkup) add(step, status, says, do string) {
	k.steps = append(k.steps, Finding{step, status, k.l.Options.Mask(says), do})
}

func (k *checkup) fail(step string, err error, do string) {
	k.err = cmp.Or(k.err, err)
	k.add(step, StepFailed, frame.WithoutWho(err), do)
}

func doctor(p *frame.Program, c *cli.Context) error {
	_, asJSON, err := p.Inputs(c)
	if err != nil {
		return err
	}
	k := &checkup{p: p, c: c}
	k.l, err = reach.Open(p, c, func(o *transport.ClientOptions) {
		inner := o.Wrap
		if c.String("prompt") != "" {
			k.exam = newExaminer(o)
		}
		o.Wrap = func(next http.RoundTripper) http.RoundTripper {
			next = k.exam.recorded(k.seen.wrap(next))
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
		if err := k.checkRecords(); err != nil {
			return err
		}
	}
	if asJSON {
		err = p.PrintJSON(struct {
			OK       bool             `json:"ok"`
			Steps    []Finding        `json:"steps"`
			Findings []*check.Finding `json:"findings,omitempty"`
		}{k.err == nil, k.steps, k.findings})
	} else {
		err = p.Show(k.page())
	}
	if err != nil {
		return err
	}
	if k.err != nil {
		return &frame.Reported{Err: k.err}
	}
	return nil
}

func (k *checkup) page() *frame.Page {
	out := &frame.Page{}
	for _, f := range k.steps {
		mark := map[string]string{StepOK: "ok", StepWarning: "look", stepMissing: "lacks", StepFailed: "FAIL", StepSkipped: "-"}[f.Status]
		out.Hanging(fmt.Sprintf("%-6s%-12s", mark, f.Step), 18, f.Says)
		if f.Do != "" {
			out.Hanging(strings.Repeat(" ", 18)+"-> ", 21, f.Do)
		}
	}
	k.findingsOn(out)
	bad := k.errors()
	for _, f := range k.steps {
		if f.Status == StepFailed {
			bad++
		}
	}
	switch {
	case bad == 0 && k.exam == nil:
		out.Heading("All is well: a2astdio can talk to this agent. You write it? doctor --prompt \"hello\" tests more.")
	case bad == 0 && len(k.findings) > 0:
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
	k.card = card
	var talk error
	if cardErr == nil {
		var how transport.Chosen
		var answer *answered
		if how, talk = k.l.Client.Chosen(k.c.Context); talk == nil {
			answer = k.ask()
		}
		k.network()
		k.cardStep()
		k.signatureStep()
		k.versionStep(how, talk)
		k.extensionsStep()
		k.answerSteps(answer)
		k.tasksStep(answer)
		if k.exam != nil && talk == nil {
			k.promptStep(k.c.String("prompt"))
			k.claimSteps()
		}
		return
	}
	k.network()
	k.noCard(cardErr)
	why := "there is no card"
	if untrusted := (*cardsign.UntrustedError)(nil); errors.As(cardErr, &untrusted) {
		why = "the card is refused"
	}
	for _, step := range []string{"version", "interface", "extensions", "auth", "round trip", "tasks"} {
		k.add(step, StepSkipped, why, "")
	}
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
	if w, err := mapping.Settings(k.card, k.l.Options.Dialect, k.l.Options.Extensions); err == nil {
		k.l.Client.Activate(w.Extensions)
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
	if frame.StringOf(k.c, "agent") == reach.DemoAgent {
		for _, step := range []string{"resolve", "connect", "tls"} {
			k.add(step, StepSkipped, "the demo is in this process", "")
		}
		return
	}
	if len(k.seen.hosts) == 0 {
		for _, step := range []string{"resolve", "connect", "tls"} {
			k.add(step, StepSkipped, "nothing was asked of any host", "")
		}
	}
	for _, s := range k.seen.hosts {
		k.resolveStep(s)
		k.connectStep(s)
		k.tlsStep(s)
	}
}

func (k *checkup) resolveStep(s *sight) {
	switch {
	case s.dnsErr != nil && !gaveUp(s.dnsErr):
		cause, cure := transport.Explain(s.dnsErr)
		host := s.host
		if s.proxy != "" {
			host, cure = "the proxy "+s.proxy, s.withoutProxy()
		}
		k.fail("resolve", unreached(fmt.Errorf("%s: %s", host, cause)), cure)
	case s.proxy != "":
		k.add("resolve", StepOK, s.host+" is left to the proxy "+s.proxy, "")
	case len(s.addrs) > 0:
		k.add("resolve", StepOK, s.host+" is "+strings.Join(s.addrs, ", "), "")
	case !s.asked:
		k.add("resolve", StepOK, s.host+" is an address", "")
	}
}

func (k *checkup) connectStep(s *sight) {
	switch {
	case s.dnsErr != nil:
		k.add("connect", StepSkipped, "there is no address", "")
	case s.to != "" && s.proxy != "":
		k.add("connect", StepOK, fmt.Sprintf("to the proxy, %s, in %s; NO_PROXY=%s goes without it", s.to, quick(s.dialled), s.host), "")
	case s.to != "":
		k.add("connect", StepOK, fmt.Sprintf("to %s, in %s", s.to, quick(s.dialled)), "")
	case s.reached:
		k.add("connect", StepOK, "to "+s.host, "")
	case s.dialErr != nil:
		cause, do := transport.Explain(s.dialErr)
		if s.proxy != "" {
			do = s.withoutProxy()
		}
		k.fail("connect", unreached(fmt.Errorf("%s: %s", s.host, cause)), do)
	default:
		k.fail("connect", unreached(fmt.Errorf("no connection to %s came about in time", s.host)), "--timeout allows more; a firewall that drops packets looks like this, too")
	}
}

// unreached marks an error for exit status 3.
func unreached(err error) error { return &frame.NotReached{Err: err} }

func quick(d time.Duration) string {
	if d < time.Millisecond {
		return "less than 1ms"
	}
	return d.Round(time.Millisecond).String()
}

// soon is how long before a certificate ends doctor tells so.
const soon = 14 * 24 * time.Hour

func (k *checkup) tlsStep(s *sight) {
	if s.to == "" && !s.reached {
		k.add("tls", StepSkipped, "there is no connection", "")
		return
	}
	if !s.secure {
		status, do := StepOK, ""
		says := "none: the URL is http"
		if !safe.ThisMachine(s.host) {
			status, do = StepWarning, "anybody on the way can read and change what passes, credentials too: does the agent have an https URL?"
		}
		k.add("tls", status, says, do)
		return
	}
	says := ""
	if cert := s.certificate(); cert != nil {
		says = fmt.Sprintf("certificate of %s, by %s, until %s", cmp.Or(strings.Join(cert.DNSNames, ", "), cert.Subject.CommonName, cert.Subject.String()),
			cmp.Or(cert.Issuer.CommonName, cert.Issuer.String()), cert.NotAfter.Local().Format("2006-01-02"))
		left := time.Until(cert.NotAfter)
		if s.tlsErr == nil {
			status, do := StepOK, ""
			if left < soon {
				status, do = StepWarning, fmt.Sprintf("it ends in %d days: whoever runs the agent should know", int(left.Hours()/24))
			}
			k.add("tls", status, tlsVersion(s)+"; "+says, do)
			return
		}
	}
	if s.tlsErr == nil && s.proxy != "" {
		k.add("tls", StepSkipped, "the proxy makes no way to it", "")
		return
	}
	if s.tlsErr == nil {
		k.add("tls", StepFailed, "the other side has ended the handshake", "does this port speak TLS?")
		return
	}
	text, do := transport.Explain(s.tlsErr)
	if says != "" {
		text += "; " + says
	}
	k.fail("tls", unreached(errors.New(text)), do)
}
