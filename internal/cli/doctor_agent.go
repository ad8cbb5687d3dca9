package cli

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has the doctor's steps that are about the agent itself.

func tlsVersion(s *sight) string { return tls.VersionName(s.tls.Version) }

func (k *checkup) cardStep() {
	from := "from " + stringOf(k.c, "agent") // a file
	if n := len(k.seen.cards); n > 0 {
		from = "at " + k.seen.cards[n-1]
	}
	name := cmp.Or(k.card.Name, "an agent without a name")
	if k.card.Version != "" {
		name += ", version " + k.card.Version
	}
	if strings.HasSuffix(from, "/.well-known/agent.json") {
		k.add("card", stepWarning, name+", "+from, "that is where agents of A2A 0.2 have it; it works, but is the agent up to date?")
		return
	}
	if stringOf(k.c, "agent") == demoAgent {
		from = "in this process"
	}
	k.add("card", stepOK, name+", "+from, "")
}

// noCard says why there is none, unless a step before has.
func (k *checkup) noCard(err error) {
	var agent *a2a.Error
	switch {
	case k.err != nil:
		k.add("card", stepSkipped, "it cannot be asked for", "")
	case errors.As(err, &agent) && agent.Unauthenticated():
		k.fail("card", err, "this agent shows its card only to callers that it knows: "+headerAdvice(""))
	case errors.Is(err, transport.ErrOrigin):
		k.fail("card", &notReached{err}, "if the other origin is the agent's, too, --trust-origin says so")
	case errors.Is(err, transport.ErrGone):
		k.fail("card", &notReached{err}, "does the command work by itself, in this directory? It must stay, and serve A2A on {port} or at a URL that it prints")
	case exitStatus(err) == exitTimeout:
		k.fail("card", err, "it is connected, and does not answer: is it busy, or stuck? --timeout waits longer")
	default:
		k.fail("card", &notReached{err}, "open the URL with /.well-known/agent-card.json behind it in a browser: is that a card? --agent takes the card's own URL, too, or a file")
	}
}

// headerAdvice says how to give credentials.
func headerAdvice(header string) string {
	return `give credentials with export A2ASTDIO_HEADER="` + cmp.Or(header, "Authorization: Bearer $TOKEN") + `"`
}

func (k *checkup) versionStep(at a2a.Interface, err error) {
	var offers []string
	for _, i := range k.card.Interfaces {
		offers = append(offers, strings.TrimSpace(i.Binding+" "+i.Version))
	}
	offered := "the card offers " + strings.Join(offers, ", ")
	switch {
	case errors.Is(err, transport.ErrOrigin):
		k.add("version", stepOK, offered, "")
		do := "if that is the agent, --trust-origin with its origin says so; if not, the card is wrong (a proxy that it does not know of, mostly)"
		if strings.Contains(err.Error(), "unencrypted") {
			do = "the agent does not seem to know that it is behind TLS: whoever runs it should have the card say https; until then, a2astdio card get -o json > card.json, correct that, and --agent card.json"
		}
		k.fail("interface", err, do)
		return
	case err != nil:
		do := "an agent may have more interfaces than are switched on: its documentation knows"
		if v := stringOf(k.c, "a2a-version"); v != "auto" {
			do = "--a2a-version auto takes what the card offers"
		}
		k.fail("version", err, do)
		k.add("interface", stepSkipped, "there is none to use", "")
		return
	}
	version, _ := k.l.client.AgentVersion(k.c.Context) // which has been asked before
	k.add("version", stepOK, fmt.Sprintf("A2A %s; %s", version, offered), "")
	n := len(k.seen.cards)
	switch {
	case stringOf(k.c, "agent") == demoAgent:
		k.add("interface", stepOK, "in this process", "")
	case n > 0 && !strings.HasPrefix(k.seen.cards[n-1], originOfURL(at.URL)+"/"):
		k.add("interface", stepOK, at.URL+", which --trust-origin allows", "")
	default:
		k.add("interface", stepOK, at.URL, "")
	}
}

// originOfURL is what a URL begins with.
func originOfURL(s string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

func (k *checkup) extensionsStep() {
	var lines []string
	for _, v := range mapping.Negotiate(k.card, k.l.options.Extensions) {
		word := "not active"
		if v.Active {
			word = "active"
		}
		lines = append(lines, word, "  "+v.URI)
	}
	w, err := mapping.Settings(k.card, k.l.options.Dialect, k.l.options.Extensions)
	if err != nil {
		k.fail("extensions", err, "")
		return
	}
	lines = append(lines, "dialect: "+dialectSays(w, k.l.options.Dialect))
	k.add("extensions", stepOK, strings.Join(lines, "\n"), "")
}

// answerSteps tells of the question, and what it says about credentials.
func (k *checkup) answerSteps(a *answered) {
	if a == nil || errors.Is(a.err, transport.ErrUnreachable) && k.err != nil {
		why := "there is nothing to ask"
		if a != nil {
			why = "there is no connection"
		}
		k.add("auth", stepSkipped, why, "")
		k.add("round trip", stepSkipped, why, "")
		return
	}
	var agent *a2a.Error
	isAgent := errors.As(a.err, &agent)
	var needs []string
	for _, s := range k.card.Security {
		needs = append(needs, s.Name+", "+schemeSays(s))
	}
	switch {
	case isAgent && agent.Unauthenticated():
		do := headerAdvice("")
		if len(k.card.Security) > 0 {
			do = "the card asks for " + strings.Join(needs, "; or ") + "\n" + credentials(k.card.Security[0])
		}
		k.fail("auth", a.err, do)
		k.add("round trip", stepSkipped, fmt.Sprintf("the agent has answered in %s, and wants credentials", quick(a.took)), "")
		return
	case len(needs) == 0:
		k.add("auth", stepOK, "the card asks for no credentials", "")
	case len(k.l.http.Header) > 0:
		k.add("auth", stepOK, "the card asks for "+strings.Join(needs, "; or ")+"; the agent has taken yours", "")
	default:
		k.add("auth", stepWarning, "the card asks for "+strings.Join(needs, "; or ")+"; the agent has answered without", "it may want them for what costs something: "+credentials(k.card.Security[0]))
	}
	took := quick(a.took)
	switch {
	case a.err == nil:
		k.add("round trip", stepWarning, "the agent knows a task whose ID was invented just now, in "+took, "")
	case isAgent && (agent.Code == a2a.CodeVersionNotSupported || agent.Code == a2a.CodeExtensionSupportRequired):
		k.fail("round trip", a.err, "")
	case isAgent && agent.Code == a2a.CodeTaskNotFound:
		k.add("round trip", stepOK, fmt.Sprintf("asked for a task that is not there, told so (%d) in %s", agent.Code, took), "")
	case isAgent && agent.Code != 0:
		k.add("round trip", stepOK, fmt.Sprintf("asked for a task that is not there, answered %q (%d) in %s", agent.Message, agent.Code, took), "")
	case isAgent && agent.HTTPStatus >= 500:
		k.fail("round trip", a.err, "the agent, or a gateway before it, has a fault: its own log knows more; --trace - shows what passed")
	case exitStatus(a.err) == exitTimeout:
		k.fail("round trip", a.err, "the card is there, and what answers calls is busy or stuck")
	default:
		k.fail("round trip", a.err, "the card is fine, but what it names does not speak A2A: --trace - shows what passed")
	}
}
