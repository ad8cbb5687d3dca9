package card

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

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

// SchemeSays describes a security scheme.
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
		return `export A2ASTDIO_TOKEN="$TOKEN", or --credential-command for one that ends` + or
	case "apiKey":
		return `export A2ASTDIO_TOKEN="$KEY"` + or
	case "oauth2", "openIdConnect":
		return "a2astdio auth login signs you in"
	case "mutualTLS":
		return "--client-cert and --client-key give it"
	}
	return "whatever it is, if it goes into a header: A2ASTDIO_HEADER"
}
