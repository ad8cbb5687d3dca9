package reach

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
)

// maxLeftOut bounds the list of unsigned members for people.
const maxLeftOut = 8

// Signatures are the options for signed cards, and the result.
type Signatures struct {
	verifier *cardsign.Verifier
	// Keys: the user has named some. Without them a card's signatures prove nothing, and
	// are only told.
	Keys bool
	// report is the result for the card as fetched, or err tells why there is none. The
	// card's fetch writes them; who waits for the fetch reads them. Both are nil without
	// keys.
	report *cardsign.Report
	err    error
}

// ReadSignatures reads --signature-key and --require-signature. config is the user's
// trust in hosts.
func ReadSignatures(c *cli.Context, config *tls.Config) (s Signatures, required bool, err error) {
	keys := frame.ListOf(c, "signature-key")
	s.Keys, required = len(keys) > 0, c.Bool("require-signature")
	if s.verifier, err = cardsign.NewVerifier(keys, keyClient(config)); err != nil {
		err = frame.Usagef("--signature-key %v", err)
	} else if required && !s.Keys {
		err = frame.Usagef("--require-signature needs to know whose: --signature-key names the keys that you trust")
	}
	return s, required, err
}

// keyClient fetches keys. It trusts the user's authorities beside the system's. It
// shows no client certificate, and ignores --insecure: a key from an unverified host
// would prove nothing.
func keyClient(config *tls.Config) *http.Client {
	if config == nil || config.RootCAs == nil {
		return nil
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: config.RootCAs, MinVersion: tls.VersionTLS12}
	t.DisableKeepAlives = true // keys are fetched once for a card
	return &http.Client{Transport: t}
}

// checkSignatures has the card checked before its use, if keys are named.
func (l *Link) checkSignatures(c *cli.Context, client *transport.ClientOptions) (err error) {
	if l.Signatures, client.BareCard, err = ReadSignatures(c, client.TLS); err != nil || !l.Signatures.Keys {
		return err
	}
	required := client.BareCard
	client.CheckCard = func(ctx context.Context, card []byte) ([]byte, error) {
		s := &l.Signatures
		report, err := s.verifier.Verify(ctx, card)
		verdict := err
		if err == nil {
			err = report.Err()
		}
		if err == nil || !required || s.report == nil {
			// The extended card was refused; the public one stays in use, and its report is
			// kept.
			s.report, s.err = report, verdict
		}
		switch {
		case err != nil && required:
			return nil, err
		case err != nil:
			l.Options.Log.Warn("agent: " + err.Error())
		case required:
			return report.Card(), nil
		}
		return card, nil
	}
	return nil
}

// Verdict returns the result for the card that is used.
func (s *Signatures) Verdict(ctx context.Context, card []byte) (*cardsign.Report, error) {
	if s.report != nil || s.err != nil {
		return s.report, s.err
	}
	return s.verifier.Verify(ctx, card)
}

// Section shows the result for a card.
func (s *Signatures) Section(out *frame.Page, report *cardsign.Report, err error) {
	if err != nil || len(report.Verdicts) == 0 {
		out.Heading("Signatures")
		text := "The card is not signed."
		if err != nil {
			text = err.Error()
		}
		out.Text(2, text)
		return
	}
	for i, v := range report.Verdicts {
		word := cmp.Or(map[cardsign.Status]string{cardsign.Valid: "valid", cardsign.Invalid: "not valid", cardsign.UnknownKey: "by somebody else"}[v.Status], "refused")
		if v.Status == cardsign.UnknownKey && !s.Keys {
			word = "not checked"
		}
		out.Heading(fmt.Sprintf("Signature %d of %d: %s", i+1, len(report.Verdicts), word))
		if v.Status != cardsign.Valid {
			out.Text(2, v.Says)
		}
		about := safe.Short(v.Algorithm, 20)
		if v.KeyID != "" {
			about = strings.TrimPrefix(about+", key ID "+safe.Short(v.KeyID, 100), ", ")
		}
		out.Field("  made with", about)
		if v.Thumbprint == "" {
			continue
		}
		out.Field("  key", v.Key+"\n"+strings.TrimPrefix(v.Thumbprint, v.Key))
		out.Field("  form", v.Form.Name+": "+v.Form.Says)
		out.Field("  not signed", Listed(v.LeftOut))
		if v.Form.Loose {
			out.Field("  beware", "what is empty is not signed: empty members may have been added, or taken away, by others")
		}
	}
	for _, err := range report.Problems {
		out.Field("  no keys", err.Error())
	}
}

// Listed shows the first names of a list.
func Listed(names []string) string {
	more := ""
	if n := len(names) - maxLeftOut; n > 0 {
		names, more = names[:maxLeftOut], fmt.Sprintf(" and %d more", n)
	}
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = safe.Short(n, 100)
	}
	return strings.Join(shown, ", ") + more
}
