package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/card"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func (k *checkup) cardStep() {
	if k.card.Raw == "" {
		k.add("card", stepWarning, "the agent has none: --agent says where it is, --binding and --a2a-version say how it is called; what it can do is not known",
			"if it has one elsewhere, --card says where")
		return
	}
	from := "from " + cmp.Or(k.c.String("card"), k.c.String("agent")) // a file
	if k.cardAt != "" {
		from = "at " + k.cardAt
	}
	name := card.Name(k.card)
	if strings.HasSuffix(from, "/.well-known/agent.json") {
		k.add("card", stepWarning, name+", "+from, "that is where agents of A2A 0.2 have it; it works, but is the agent up to date?")
		return
	}
	if k.isDemo() {
		from = "in this process"
	}
	k.add("card", stepOK, name+", "+from, "")
}

// noCard reports why there is no card, unless an earlier step has.
func (k *checkup) noCard(err error) {
	var untrusted *cardsign.UntrustedError
	switch {
	case errors.As(err, &untrusted):
		k.add("card", stepOK, "it is there", "")
		k.fail("signature", untrusted, signatureAdvice)
		return
	case errors.As(err, new(*reach.NotAllowed)):
		k.fail("card", err, "")
		return
	case k.err != nil:
		k.skip("it cannot be asked for", "card")
		return
	}
	agent, do := a2a.ErrorOf(err), advice(err)
	switch {
	case frame.ExitStatus(err) == frame.ExitTimeout && k.seen.nobody(): // a command that says no URL
		do = commandAdvice
	case frame.ExitStatus(err) == frame.ExitTimeout:
		do = "it is connected, and does not answer: is it busy, or stuck? --timeout waits longer"
	case agent.Unauthenticated():
		do = "this agent shows its card only to callers that it knows: " + credentialAdvice
	case agent != nil && (agent.HTTPStatus == http.StatusProxyAuthRequired || agent.HTTPStatus == http.StatusTooManyRequests): // it says what to do
	case do == "" && !errors.Is(err, transport.ErrUnreachable) && !strings.Contains(err.Error(), "take --agent "):
		do = "open the card's URL in a browser: is that a card? --agent takes the agent's URL, the card's own, or a file"
	}
	k.fail("card", frame.Mark(frame.ErrNotReached, err), do)
}

// credentialAdvice tells how to give credentials to an agent that does not declare what
// it wants.
const credentialAdvice = `a2astdio auth login signs you in, if the agent says where; export A2ASTDIO_TOKEN="$TOKEN" gives a token that you have, A2ASTDIO_HEADER anything else`

// ownCard tells what to do about a card that names a wrong URL.
const ownCard = "whoever runs it should correct its URL; until then, a2astdio card get -o json > card.json, correct that, and --agent card.json"

// commandAdvice tells what a command that starts an agent has to do.
const commandAdvice = "does the command work by itself? It must stay, and serve A2A on {port} or at a URL that it prints"

// advice tells what to do about an error that does not say so itself.
func advice(err error) string {
	switch agent := a2a.ErrorOf(err); {
	case errors.Is(err, transport.ErrOrigin) && strings.Contains(err.Error(), "unencrypted"):
		return "the agent does not seem to know that it is behind TLS: " + ownCard
	case errors.Is(err, transport.ErrOrigin):
		return "if that is the agent, --trust-origin with its origin says so; if not, the card is wrong (mostly behind a proxy, which the agent does not know of): " + ownCard
	case errors.Is(err, transport.ErrExited):
		return commandAdvice
	case agent != nil && agent.HTTPStatus >= 500:
		return "the agent, or a gateway before it, has a fault: its own log knows more; --trace - shows what passed"
	}
	return ""
}

// interfaceStep reports how the agent is called, and why. asCard: the card says so.
func (k *checkup) interfaceStep(how transport.Chosen, asCard bool, err error) {
	if err != nil {
		do := advice(err)
		if do == "" {
			do = "an agent may have more interfaces than are switched on: its documentation knows"
			var given []string
			for _, option := range []string{"a2a-version", "binding"} {
				if k.c.String(option) != "auto" {
					given = append(given, "--"+option+" auto")
				}
			}
			if len(given) > 0 {
				do = strings.Join(given, " and ") + ": then what the card offers is taken"
			}
		}
		k.fail("interface", err, do)
		return
	}
	offers, named := []string{"nothing else is known"}, ""
	if !how.NoCard {
		offers = nil
		for _, i := range k.card.Interfaces {
			offers = append(offers, strings.TrimSpace(i.Binding+" "+i.Version))
			if i.Binding == how.At.Binding && i.Version == how.At.Version {
				named = cmp.Or(named, i.URL)
			}
		}
		offers[0] = "the card offers " + offers[0]
	}
	at := "in this process"
	if !k.isDemo() {
		at = "at " + how.At.URL
	}
	status, do := stepOK, ""
	inCard, _ := url.Parse(cmp.Or(named, how.At.URL)) // as transport has done
	called, _ := url.Parse(how.At.URL)
	switch {
	case !asCard:
		status, do = stepWarning, "the agent was asked otherwise than its card says, and took it: the card is wrong"
	case !safe.SameOrigin(inCard, called):
		status, do = stepWarning, "its card names "+safe.Shown(inCard)+", where nobody else finds it: it is called where --agent is. Whoever runs it should correct its card"
	}
	k.add("interface", status, fmt.Sprintf("%s\n%s; %s", at, reach.ChosenSays(how), strings.Join(offers, ", ")), do)
}

func (k *checkup) extensionsStep() {
	var lines []string
	echoed, echoes := k.l.Client.Echoed()
	for _, v := range dialect.Negotiate(k.card, k.l.Options.Extensions) {
		word := "not active"
		if v.Active {
			word = "active"
			if echoes && !slices.Contains(echoed, v.URI) {
				word = "asked for, and not active: the agent does not name it in its answer"
			}
		}
		lines = append(lines, word, "  "+v.URI)
	}
	if k.writingErr != nil {
		k.fail("extensions", k.writingErr, "")
		return
	}
	lines = append(lines, "dialect: "+card.DialectSays(k.writing))
	k.add("extensions", stepOK, strings.Join(lines, "\n"), "")
}

// answerSteps reports the round trip, and what it tells about credentials.
func (k *checkup) answerSteps(a *answered) {
	if a == nil || errors.Is(a.err, transport.ErrUnreachable) && k.err != nil {
		why := "there is nothing to ask"
		if a != nil {
			why = "there is no connection"
		}
		k.skip(why, "auth", "round trip")
		return
	}
	agent := a2a.ErrorOf(a.err)
	if k.authStep(a, agent) {
		k.roundTripStep(a, agent)
	}
}

// authStep reports whether the agent wants credentials. It returns false if it does:
// then the round trip tells nothing. agent is the agent's error, nil if the error is
// not the agent's.
func (k *checkup) authStep(a *answered, agent *a2a.Error) bool {
	identifies := func() bool { // requests carry a credential
		if k.l.Credentials == nil {
			return false
		}
		cred, err := k.l.Credentials.Credential(k.c.Context, &transport.Challenge{URL: &url.URL{}, Card: k.card})
		return err == nil && cred != nil || k.l.HTTP.TLS != nil && k.l.HTTP.TLS.GetClientCertificate != nil
	}
	var needs []string
	for _, s := range k.card.Security {
		needs = append(needs, s.Name+", "+card.SchemeSays(s))
	}
	switch {
	case agent.Unauthenticated():
		do := credentialAdvice
		if len(k.card.Security) > 0 {
			do = "the card asks for " + strings.Join(needs, "; or ") + "\n" + card.HowToGive(k.card.Security[0])
		}
		k.fail("auth", a.err, do)
		k.skip(fmt.Sprintf("the agent has answered in %s, and wants credentials", quick(a.took)), "round trip")
		return false
	case k.card.Raw == "":
		k.add("auth", stepOK, "there is no card to ask for credentials; the agent has answered", "")
	case len(needs) == 0:
		k.add("auth", stepOK, "the card asks for no credentials", "")
	case len(k.l.HTTP.Header) > 0, identifies():
		k.add("auth", stepOK, "the card asks for "+strings.Join(needs, "; or ")+"; the agent has taken yours", "")
	default:
		k.add("auth", stepWarning, "the card asks for "+strings.Join(needs, "; or ")+"; the agent has answered without", "it may want them for what costs something: "+card.HowToGive(k.card.Security[0]))
	}
	return true
}

// roundTripStep reports the answer to a request that any agent can answer.
func (k *checkup) roundTripStep(a *answered, agent *a2a.Error) {
	switch {
	case a.err == nil:
		k.add("round trip", stepWarning, "the agent knows a task whose ID was invented just now, in "+quick(a.took), "")
	case agent != nil && k.errorStep(a, agent):
	case frame.ExitStatus(a.err) == frame.ExitTimeout && !errors.Is(a.err, transport.ErrUnreachable):
		k.fail("round trip", a.err, "the card is there, but the server for calls is busy or stuck")
	case advice(a.err) != "", errors.Is(a.err, transport.ErrUnreachable): // it says what to do
		k.fail("round trip", a.err, advice(a.err))
	default:
		// Agno's card names a URL that takes messages and nothing else.
		k.fail("round trip", a.err, "the card is fine, but the server that it names does not answer this as A2A does: doctor --prompt \"hello\" tells whether it takes messages, --trace - shows what passed")
	}
}

// errorStep reports an error that is the agent's own answer. It returns false if that
// tells nothing.
func (k *checkup) errorStep(a *answered, agent *a2a.Error) bool {
	took := quick(a.took)
	if k.exam != nil && !agent.NoCode && !slices.Contains([]int{0, a2a.CodeTaskNotFound, a2a.CodeVersionNotSupported}, agent.Code) && (agent.Code != a2a.CodeMethodNotFound || !k.isHTTPJSON()) {
		k.claim(check.Warning, "tasks/get", "8.2", "5.4", "a task that is not there must be answered with TaskNotFoundError (-32001), and the agent says %d (%s)", agent.Code, agent.Message)
	}
	switch {
	case agent.NoCode:
		k.add("round trip", stepWarning, fmt.Sprintf("asked for a task that is not there, answered with an error that has no code, %q, in %s", agent.Message, took), "clients tell errors apart by their code: -32001 is that of a task that is not there")
	case agent.Code == a2a.CodeVersionNotSupported, agent.Code == a2a.CodeExtensionSupportRequired:
		k.fail("round trip", a.err, "")
	case agent.Code == a2a.CodeParse, agent.Code == a2a.CodeInvalidRequest:
		k.fail("round trip", a.err, "it cannot read requests as JSON-RPC has them: --trace - shows what was sent; an ID is a number there, which some expect to be a string")
	case agent.Code == a2a.CodeTaskNotFound:
		k.add("round trip", stepOK, fmt.Sprintf("asked for a task that is not there, told so (%d) in %s", agent.Code, took), "")
	case agent.Code != 0 && a.tasks.none():
		k.unproven = true
		k.add("round trip", stepWarning, fmt.Sprintf("asked for a task that is not there, answered %q (%d) in %s: it has no operation that changes nothing and that could be tried", agent.Message, agent.Code, took),
			"whether it takes messages, a prompt tells: doctor --prompt \"hello\"")
	case agent.Code == a2a.CodeMethodNotFound: // no answer to rely on, but there was another
		proof := "to follow"
		if a.tasks.subscribe != offered {
			proof = "to cancel"
		}
		k.add("round trip", stepOK, fmt.Sprintf("asked %s a task that is not there, and answered; to ask for one is not offered (%d)", proof, agent.Code), "")
	case agent.Code == a2a.CodeInternal:
		k.add("round trip", stepWarning, fmt.Sprintf("asked for a task that is not there, answered with a fault of its own, %s, in %s", frame.WithoutWho(a.err), took),
			"some agents answer so whenever a task is not there; if prompts fail, too, its own log knows more")
	case agent.Code != 0:
		k.add("round trip", stepOK, fmt.Sprintf("asked for a task that is not there, answered %q (%d) in %s", agent.Message, agent.Code, took), "")
	case agent.HTTPStatus == http.StatusNotFound && a.tasks.bare && k.isHTTPJSON():
		k.unproven = true
		k.add("round trip", stepWarning, "asked for a task that is not there, and nothing but 404 came, in "+took,
			"either it has no way to ask for a task, or what the card names is not its URL: a prompt tells")
	case agent.HTTPStatus == http.StatusTooManyRequests:
		k.fail("round trip", a.err, "") // it says what to do
	default:
		return false
	}
	return true
}

// signatureStep reports the card's signatures, if it has any or the user names a key.
func (k *checkup) signatureStep() {
	if k.card.Raw == "" {
		return
	}
	s := &k.l.Signatures
	report, err := s.Verdict(k.c.Context, []byte(k.card.Raw))
	switch {
	case err != nil:
		k.add("signature", stepWarning, err.Error(), "whoever runs the agent should mend its card")
	case len(report.Verdicts) == 0 && s.Keys:
		k.add("signature", stepWarning, "the card is not signed", "--require-signature would refuse it; whoever runs the agent signs it with a2astdio card sign")
	case len(report.Verdicts) == 0:
	case report.Signed() != nil:
		v := report.Signed()
		says := fmt.Sprintf("the card is signed by your key %s (%s, form %s)", v.Key, v.Algorithm, v.Form.Name)
		if len(v.LeftOut) > 0 {
			says += ", but for " + reach.Listed(v.LeftOut)
		}
		k.add("signature", stepOK, says, "")
	case !s.Keys:
		k.add("signature", stepSkipped, fmt.Sprintf("signatures that the card has: %d; no key to check them with is named", len(report.Verdicts)), "--signature-key names the keys that you trust; a2astdio card verify tells more")
	default:
		k.add("signature", stepWarning, report.Err().Error(), signatureAdvice)
	}
}

// signatureAdvice tells what to do about an untrusted card.
const signatureAdvice = "ask whoever runs the agent for the key that signs its card, not the card; a2astdio card verify tells more"
