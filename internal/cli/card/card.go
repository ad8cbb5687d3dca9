// Package card has the commands about agent cards, and describes cards for others.
package card

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	get := p.AgentCommand("card get", reach.Opened(getCard),
		frame.Output("the card as the agent serves it, and nothing else; with --require-signature, what of it is signed"),
		frame.Option{Flag: "extended", Kind: frame.Switch, Help: "the card that the agent shows to those that it knows; an error if there is none. Without this it is the card that a2astdio uses"})
	return p.Group("card",
		get,
		p.AgentCommand("card verify [FILE|-]", verifyCard),
		p.NewCommand("card sign FILE|-", signCard,
			frame.Option{Flag: "key", Takes: "FILE", Help: "your private key, as PEM or JWK: P-256, Ed25519, or RSA from 2048 bits (RS256, or the alg of the JWK); nobody else may be able to read the file"},
			frame.Option{Flag: "key-id", Takes: "ID", Help: "what verifiers find the public key by (kid); if not given: its thumbprint"},
			frame.Option{Flag: "jku", Takes: "URL", Help: "where your public key is served, as a JWKS"}))
}

func getCard(p *frame.Program, c *cli.Context, l *reach.Link) error {
	card, err := l.Client.Card(c.Context)
	if err != nil {
		return frame.Mark(frame.ErrNotReached, err)
	}
	if c.Bool("extended") {
		if card, err = l.Client.Extended(c.Context); err != nil {
			return err
		}
	}
	if card.Raw == "" {
		return frame.Mark(frame.ErrNotReached, errors.New("agent: it has no card; --binding and --a2a-version say how it is called, and doctor whether that is right"))
	}
	if frame.AsJSON(c) {
		if !frame.IsTerminal(p.Stdout) {
			_, err := fmt.Fprintf(p.Stdout, "%s\n", card.Raw)
			return err
		}
		return p.Document([]byte(card.Raw))
	}
	var out frame.Page
	Who(&out, card)
	out.Heading("How a2astdio talks to it")
	how, connectErr := l.Client.Chosen(c.Context)
	at := how.At
	writing, settingsErr := dialect.Settings(card, l.Options.Dialect, l.Options.Extensions)
	if connectErr != nil {
		out.Field("  not at all", frame.WithoutWho(connectErr))
	} else {
		if c.String("agent") == reach.DemoAgent {
			at.URL = "none: it is in this process"
		}
		out.Field("  URL", at.URL)
		out.Field("  speaks", reach.ChosenSays(how))
		out.Field("  tenant", at.Tenant)
		if settingsErr == nil {
			out.Field("  dialect", DialectSays(writing))
		}
	}
	if settingsErr != nil {
		out.Field("  not at all", frame.WithoutWho(settingsErr))
	}
	var others []string
	for _, i := range card.Interfaces {
		if i.Binding != at.Binding || i.Version != at.Version {
			others = append(others, fmt.Sprintf("%s %s at %s", i.Binding, cmp.Or(i.Version, "without a version"), i.URL))
		}
	}
	out.Field("  also offers", strings.Join(others, "\n"))
	abilities(&out, card)
	extensions(&out, dialect.Negotiate(card, l.Options.Extensions))
	skills(&out, card)
	Security(&out, card)
	report, err := l.Signatures.Verdict(c.Context, []byte(card.Raw))
	l.Signatures.Section(&out, report, err)
	return p.Show(&out)
}

func Name(card *a2a.Card) string {
	name := cmp.Or(card.Name, "an agent without a name")
	if card.Version != "" {
		name += ", version " + card.Version
	}
	return name
}

// Who writes which agent this is, and whose.
func Who(out *frame.Page, card *a2a.Card) {
	out.Heading(Name(card))
	if card.Description != "" {
		out.Text(0, card.Description)
	}
	if card.Provider != "" || card.DocumentationURL != "" {
		out.Heading("Who and where")
		by := card.Provider
		if at := gjson.Get(string(card.Raw), "provider.url").String(); at != "" {
			by = strings.TrimPrefix(by+", "+at, ", ")
		}
		out.Field("  by", by)
		out.Field("  documents", card.DocumentationURL)
	}
}

// DialectSays names a dialect and what it adds.
func DialectSays(w dialect.Writing) string {
	what := cmp.Or(map[string]string{
		dialect.Devtool: "the development-tool extension",
		dialect.Gemini:  "that of Gemini CLI's server, told by the card's name",
		dialect.Core:    "no dialect: texts, files and data",
	}[w.Dialect], "told by the card")
	return w.Dialect + " (" + what + ")"
}

func abilities(out *frame.Page, card *a2a.Card) {
	out.Heading("What it can do")
	can := map[bool]string{true: "yes", false: "no"}
	streaming := can[card.Streaming]
	if r := gjson.Get(string(card.Raw), "capabilities.streaming"); !r.Exists() {
		streaming = "the card does not say: a2astdio tries"
	}
	out.Field("  streaming", streaming)
	out.Field("  push", can[card.Push])
	switch {
	case card.Extended:
		out.Field("  more", "this is the card for callers that it knows")
	case card.ExtendedCard:
		out.Field("  more", "it has a fuller card for callers that it knows: card get --extended")
	}
	out.Field("  takes", strings.Join(card.InputModes, ", "))
	out.Field("  gives", strings.Join(card.OutputModes, ", "))
}

func extensions(out *frame.Page, verdicts []dialect.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	out.Heading("Extensions")
	for _, v := range verdicts {
		out.Text(2, v.URI)
		verdict := map[bool]string{true: "active: ", false: "not active: "}[v.Active]
		if v.Required {
			verdict = "required, " + verdict
		}
		out.Text(6, verdict+v.Reason)
		if v.Description != "" {
			out.Text(6, "it says: "+v.Description)
		}
		if v.Params != "" && v.Params != "null" {
			out.Text(6, "params: "+safe.Short(string(v.Params), frame.MaxValue))
		}
	}
}

func skills(out *frame.Page, card *a2a.Card) {
	if len(card.Skills) == 0 {
		return
	}
	out.Heading("Skills")
	for _, s := range card.Skills {
		id, text := cmp.Or(s.ID, s.Name), safe.Short(s.Description, frame.MaxValue)
		if s.Name != "" && s.Name != id && !strings.HasPrefix(text, s.Name) {
			text = strings.TrimSuffix(s.Name+": "+text, ": ")
		}
		out.Hanging(fmt.Sprintf("  %-*s ", frame.FieldIndent-2, id), frame.FieldIndent+1, text)
	}
}

// Security writes which credentials a card asks for, and how to give them.
func Security(out *frame.Page, card *a2a.Card) {
	out.Heading("Credentials")
	if len(card.Requirements) == 0 && len(card.Schemes) > 0 {
		out.Text(2, "The card declares these, and does not say that any is needed:")
		for _, s := range card.Schemes {
			schemeField(out, "", s, nil)
		}
		return
	}
	if len(card.Requirements) == 0 {
		out.Text(2, "The card asks for none.")
		return
	}
	requirements(out, card, card.Requirements)
	for _, s := range card.Skills {
		if len(s.Requirements) > 0 {
			out.Text(2, "for the skill "+cmp.Or(s.ID, s.Name)+":")
			requirements(out, card, s.Requirements)
		}
	}
}

// requirements lists alternatives. Those between two "or" are needed together.
func requirements(out *frame.Page, card *a2a.Card, list []a2a.Requirement) {
	for i, alternative := range list {
		if i > 0 {
			out.Text(2, "or")
		}
		if len(alternative) == 0 {
			out.Text(2, "nothing: everybody is let in")
		}
		for j, use := range alternative {
			s := a2a.SecurityScheme{Name: use.Scheme}
			for _, declared := range card.Schemes {
				if declared.Name == use.Scheme {
					s = declared
				}
			}
			and := ""
			if j > 0 {
				and = "and "
			}
			schemeField(out, and, s, use.Scopes)
		}
	}
}

func schemeField(out *frame.Page, and string, s a2a.SecurityScheme, scopes []string) {
	says := SchemeSays(s)
	if len(scopes) > 0 {
		says += ", with " + strings.Join(scopes, ", ")
	}
	out.Hanging(fmt.Sprintf("  %-*s", frame.FieldIndent-2, and+s.Name)+" ", frame.FieldIndent+1, says+"\n"+HowToGive(s))
}

func SchemeSays(s a2a.SecurityScheme) string {
	from := s.MetadataURL
	for _, f := range s.Flows {
		from = cmp.Or(from, f.TokenURL, f.AuthorizationURL, f.DeviceURL)
	}
	if from != "" {
		from = ", from " + from
	}
	switch s.Type {
	case "http":
		return "HTTP " + cmp.Or(s.Scheme, "authentication")
	case "apiKey":
		return fmt.Sprintf("a key as %s %q", cmp.Or(s.Location, "header"), s.Key)
	case "oauth2":
		return "OAuth 2.0: a token" + from
	case "openIdConnect":
		return "OpenID Connect: a token" + from
	case "mutualTLS":
		return "mutual TLS: a certificate of yours"
	}
	return "a kind that a2astdio does not know"
}

// HowToGive tells how to give a2astdio what a scheme needs. It never proposes an
// option's value, which other users of the machine can read.
func HowToGive(s a2a.SecurityScheme) string {
	const or = "; a2astdio auth login asks for it, and keeps it"
	switch s.Type {
	case "http":
		if s.Scheme == "basic" {
			return `export A2ASTDIO_TOKEN="$USER:$PASSWORD"` + or
		}
		return `export A2ASTDIO_TOKEN="$TOKEN", or --credential-command for one that expires` + or
	case "apiKey":
		return `export A2ASTDIO_TOKEN="$KEY"` + or
	case "oauth2", "openIdConnect":
		return "a2astdio auth login signs you in"
	case "mutualTLS":
		return "--client-cert and --client-key give it"
	}
	return "whatever it is, if it goes into a header: A2ASTDIO_HEADER"
}
