package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// outputFlag is -o of commands whose result is a page or a document.
func outputFlag(json string) cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: formatText,
		Usage: "`text|json`: text is for people; json is " + json}
}

func (p *program) cardCommand() *cli.Command {
	get := &cli.Command{
		Name:     "get",
		HelpName: "a2astdio card get",
		Usage:    "show what the agent is, and how a2astdio talks to it",
		Flags:    append([]cli.Flag{outputFlag("the card as the agent serves it, and nothing else")}, behindCommand()...),
		Action:   p.getCard,
	}
	get.CustomHelpTemplate = commandHelp(get, help{
		intro: `Shows the agent's card: who it is, what it can do, which credentials it wants;
and what a2astdio makes of it: the URL, protocol version and dialect that are
used, and what becomes of each extension.`,
		usage: []string{"a2astdio --agent URL card get [options]"},
		examples: []example{
			{"a2astdio --agent demo card get", "the agent that is built in"},
			{"a2astdio card get -o json | jq -r '.skills[].id'", "the agent's own document, for a script"},
			{"a2astdio --agent card.json card get", "a card that is a file"},
		},
		after: exitAfter,
	})
	return group("card", "show the agent's card", help{
		intro:    "The card is what an agent says about itself, before anything is asked of it.",
		usage:    []string{"a2astdio --agent URL card get [options]"},
		examples: []example{{"a2astdio --agent demo card get", "the agent that is built in"}},
	}, get)
}

// exitAfter ends the help of commands that talk to an agent.
const exitAfter = `
The options of a2astdio itself (a2astdio --help) may stand here, too.

Exit status:
  0    done
  1    failed: the agent has refused, for one
  2    a2astdio was called wrongly
  3    the agent, or its card, was not reached
  4    the agent wants credentials, or other ones
  5    the agent did not answer in time
  130  interrupted
`

func (p *program) getCard(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	format, err := oneOf(c, "output", formatText, formatJSON)
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
	if format == formatJSON {
		if !isTerminal(p.stdout) {
			_, err := fmt.Fprintf(p.stdout, "%s\n", card.Raw)
			return err
		}
		return p.document([]byte(card.Raw))
	}
	var out page
	who(&out, card)
	out.heading("How a2astdio talks to it")
	at, connectErr := l.client.Endpoint(c.Context)
	writing, settingsErr := mapping.Settings(card, l.options.Dialect, l.options.Extensions)
	if connectErr != nil {
		out.field("  not at all", withoutWho(connectErr))
	} else {
		version, _ := l.client.AgentVersion(c.Context) // as above
		if stringOf(c, "agent") == demoAgent {
			at.URL = "none: it is in this process"
		}
		out.field("  URL", at.URL)
		out.field("  speaks", "A2A "+version+" over "+cmp.Or(at.Binding, "JSONRPC"))
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
	return p.show(&out)
}

// withoutWho is an error where it is clear whose it is.
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
		out.field("  by", card.Provider)
		out.field("  documents", card.DocumentationURL)
	}
}

// dialectSays names a dialect, and says what it is good for.
func dialectSays(w mapping.Writing, asked string) string {
	what := map[string]string{
		mapping.DialectDevtool: "the development-tool extension",
		mapping.DialectGemini:  "that of Gemini CLI's server, told by the card's name",
		mapping.DialectCore:    "no dialect: texts, files and data",
	}[w.Dialect]
	if asked != "" && asked != "auto" {
		what += ", by --dialect"
	}
	return w.Dialect + " (" + what + ")"
}

// otherInterfaces lists what the card offers beside what is used.
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
	if card.ExtendedCard {
		out.field("  more", "it has a fuller card for callers that it knows")
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

func security(out *page, card *a2a.Card) {
	out.heading("Credentials")
	if len(card.Security) == 0 {
		out.text(2, "The card asks for none.")
		return
	}
	for _, s := range card.Security {
		out.hanging(fmt.Sprintf("  %-*s", fieldIndent-2, s.Name)+" ", fieldIndent+1, schemeSays(s)+"\n"+credentials(s))
	}
}

// schemeSays says what a security scheme is.
func schemeSays(s a2a.SecurityScheme) string {
	raw := gjson.Parse(string(s.Raw))
	at := func(names ...string) string {
		found := ""
		for _, n := range names {
			walk(raw, n, func(v string) { found = cmp.Or(found, v) })
		}
		if found == "" {
			return ""
		}
		return ", from " + found
	}
	switch s.Type {
	case "http":
		return "HTTP " + cmp.Or(s.Scheme, "authentication")
	case "apiKey":
		return fmt.Sprintf("a key as %s %q", cmp.Or(s.Location, "header"), s.Key)
	case "oauth2":
		return "OAuth 2.0: a token" + at("tokenUrl", "authorizationUrl", "deviceAuthorizationUrl", "oauth2MetadataUrl")
	case "openIdConnect":
		return "OpenID Connect: a token" + at("openIdConnectUrl")
	case "mutualTLS":
		return "mutual TLS: a certificate of yours"
	}
	return "a kind that a2astdio does not know"
}

// walk yields the texts that a member has, anywhere in a document.
func walk(v gjson.Result, name string, yield func(string)) {
	if !v.IsObject() && !v.IsArray() {
		return
	}
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Str == name && value.Type == gjson.String {
			yield(value.Str)
		}
		walk(value, name, yield)
		return true
	})
}

// credentials says how to give a2astdio what a scheme needs. It is the variable
// and not the option, because anybody on the machine can read command lines.
func credentials(s a2a.SecurityScheme) string {
	header := func(line string) string { return `export A2ASTDIO_HEADER="` + line + `"` }
	switch {
	case s.Type == "http" && s.Scheme == "basic":
		return header("Authorization: Basic $(printf %s user:password | base64)")
	case s.Type == "http" && s.Scheme != "" && s.Scheme != "bearer":
		return header("Authorization: " + s.Scheme + " $TOKEN")
	case s.Type == "http", s.Type == "oauth2", s.Type == "openIdConnect":
		return header("Authorization: Bearer $TOKEN")
	case s.Type == "apiKey" && s.Location == "cookie":
		return header("Cookie: " + s.Key + "=$KEY")
	case s.Type == "apiKey" && s.Location == "query":
		return "a2astdio cannot put a key into the query yet, unless the card's URL has it"
	case s.Type == "apiKey":
		return header(s.Key + ": $KEY")
	case s.Type == "mutualTLS":
		return "a2astdio cannot show a certificate yet"
	}
	return "whatever it is, if it goes into a header: A2ASTDIO_HEADER"
}
