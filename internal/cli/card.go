package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// outputFlag is -o of commands that write a page or a document.
func outputFlag(json string) cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: formatText, EnvVars: env("output"),
		Usage: "`text|json`: text is for people; json is " + json}
}

func (p *program) cardCommand() *cli.Command {
	get := agentCommand("card get", p.getCard,
		outputFlag("the card as the agent serves it, and nothing else; with --require-signature, what of it is signed"),
		&cli.BoolFlag{Name: "extended", Usage: "the card that the agent shows to those that it knows, or an error. Without this it is the one that a2astdio uses: that one if it can be had, and else the public one"})
	return group("card",
		get,
		p.cardVerifyCommand(),
		newCommand("card sign", p.signCard,
			&cli.StringFlag{Name: "key", Usage: "`FILE`: your private key, as PEM or JWK: P-256, Ed25519, or RSA from 2048 bits (RS256, or the alg of the JWK); nobody else may be able to read the file"},
			&cli.StringFlag{Name: "key-id", Usage: "`ID`: what verifiers find the public key by (kid); if not given: its thumbprint"},
			&cli.StringFlag{Name: "jku", Usage: "`URL`: where your public key is served, as a JWKS"}))
}

func (p *program) getCard(c *cli.Context) error {
	_, asJSON, err := p.inputs(c)
	if err != nil {
		return err
	}
	l, err := p.link(c)
	if err != nil {
		return err
	}
	defer l.close()
	card, err := l.client.Card(c.Context)
	if err != nil {
		return &notReached{err}
	}
	if c.Bool("extended") {
		if card, err = l.client.Extended(c.Context); err != nil {
			return err
		}
	}
	if card.Raw == "" {
		return &notReached{errors.New("agent: it has no card; --binding and --a2a-version say how it is called, and doctor whether that is right")}
	}
	if asJSON {
		if !isTerminal(p.stdout) {
			_, err := fmt.Fprintf(p.stdout, "%s\n", card.Raw)
			return err
		}
		return p.document([]byte(card.Raw))
	}
	var out page
	who(&out, card)
	out.heading("How a2astdio talks to it")
	how, connectErr := l.client.Chosen(c.Context)
	at := how.At
	writing, settingsErr := mapping.Settings(card, l.options.Dialect, l.options.Extensions)
	if connectErr != nil {
		out.field("  not at all", withoutWho(connectErr))
	} else {
		if stringOf(c, "agent") == demoAgent {
			at.URL = "none: it is in this process"
		}
		out.field("  URL", at.URL)
		out.field("  speaks", chosenSays(how))
		out.field("  tenant", at.Tenant)
		if settingsErr == nil {
			out.field("  dialect", dialectSays(writing, l.options.Dialect))
		}
	}
	if settingsErr != nil {
		out.field("  not at all", withoutWho(settingsErr))
	}
	out.field("  also offers", strings.Join(otherInterfaces(card, at), "\n"))
	abilities(&out, card)
	extensions(&out, mapping.Negotiate(card, l.options.Extensions))
	skills(&out, card)
	security(&out, card)
	report, err := l.signatures.verdict(c.Context, []byte(card.Raw))
	signatureSection(&out, report, err, l.signatures.verifier != nil)
	return p.show(&out)
}

// withoutWho drops the first word of an error, where the line already names who failed.
func withoutWho(err error) string {
	text := err.Error()
	for _, who := range []string{"agent: ", "bridge: "} {
		text = strings.TrimPrefix(text, who)
	}
	return text
}

func who(out *page, card *a2a.Card) {
	name := cmp.Or(card.Name, "an agent without a name")
	if card.Version != "" {
		name += ", version " + card.Version
	}
	out.heading(name)
	if card.Description != "" {
		out.text(0, card.Description)
	}
	if card.Provider != "" || card.DocumentationURL != "" {
		out.heading("Who and where")
		by := card.Provider
		if at := gjson.Get(string(card.Raw), "provider.url").String(); at != "" {
			by = strings.TrimPrefix(by+", "+at, ", ")
		}
		out.field("  by", by)
		out.field("  documents", card.DocumentationURL)
	}
}

// dialectSays names a dialect and what it adds.
func dialectSays(w mapping.Writing, asked string) string {
	what := cmp.Or(map[string]string{
		mapping.DialectDevtool: "the development-tool extension",
		mapping.DialectGemini:  "that of Gemini CLI's server, told by the card's name",
		mapping.DialectCore:    "no dialect: texts, files and data",
	}[w.Dialect], "told by the card")
	if asked != "" && asked != "auto" {
		what += ", by --dialect"
	}
	return w.Dialect + " (" + what + ")"
}

// otherInterfaces lists the card's interfaces that are not used.
func otherInterfaces(card *a2a.Card, used a2a.Interface) (list []string) {
	for _, i := range card.Interfaces {
		if i.Binding == used.Binding && i.Version == used.Version {
			continue
		}
		list = append(list, fmt.Sprintf("%s %s at %s", i.Binding, cmp.Or(i.Version, "without a version"), i.URL))
	}
	return list
}

func abilities(out *page, card *a2a.Card) {
	out.heading("What it can do")
	can := func(yes bool) string {
		if yes {
			return "yes"
		}
		return "no"
	}
	streaming := can(card.Streaming)
	if r := gjson.Get(string(card.Raw), "capabilities.streaming"); !r.Exists() {
		streaming = "the card does not say: a2astdio tries"
	}
	out.field("  streaming", streaming)
	out.field("  push", can(card.Push))
	if gjson.Get(string(card.Raw), "capabilities.stateTransitionHistory").Bool() {
		out.field("  history", "it keeps the states that a task went through")
	}
	switch {
	case card.Extended:
		out.field("  more", "this is the card for callers that it knows")
	case card.ExtendedCard:
		out.field("  more", "it has a fuller card for callers that it knows: card get --extended")
	}
	out.field("  takes", strings.Join(card.InputModes, ", "))
	out.field("  gives", strings.Join(card.OutputModes, ", "))
}

func extensions(out *page, verdicts []mapping.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	out.heading("Extensions")
	for _, v := range verdicts {
		out.text(2, v.URI)
		verdict := "not active: "
		if v.Active {
			verdict = "active: "
		}
		if v.Required {
			verdict = "required, " + verdict
		}
		out.text(6, verdict+v.Reason)
		if v.Description != "" {
			out.text(6, "it says: "+v.Description)
		}
		if v.Params != "" && v.Params != "null" {
			out.text(6, "params: "+short(string(v.Params), maxValue))
		}
	}
}

func skills(out *page, card *a2a.Card) {
	if len(card.Skills) == 0 {
		return
	}
	out.heading("Skills")
	width := 0
	for _, s := range card.Skills {
		width = max(width, len([]rune(cmp.Or(s.ID, s.Name))))
	}
	width = min(width, 20)
	for _, s := range card.Skills {
		id := cmp.Or(s.ID, s.Name)
		text := short(s.Description, maxValue)
		if s.Name != "" && s.Name != id && !strings.HasPrefix(text, s.Name) {
			text = strings.TrimSuffix(s.Name+": "+text, ": ")
		}
		if len([]rune(id)) > width {
			out.text(2, id)
			out.text(width+4, text)
			continue
		}
		out.hanging(fmt.Sprintf("  %-*s  ", width, id), width+4, text)
	}
}
