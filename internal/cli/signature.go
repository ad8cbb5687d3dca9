package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/transport"
)

// maxLeftOut is how many members that are not signed are listed for people.
const maxLeftOut = 8

// A signatures is what the options say of signed cards, and what was found.
type signatures struct {
	// verifier is nil if no key was named.
	verifier *cardsign.Verifier
	// report is on the card as it came, or err why there is none. The card's fetch
	// writes them, and who waits for that reads them. Both are nil without a
	// verifier.
	report *cardsign.Report
	err    error
}

// readSignatures reads --signature-key and --require-signature. config is how the
// user trusts hosts.
func readSignatures(c *cli.Context, config *tls.Config) (s signatures, required bool, err error) {
	keys := listOf(c, "signature-key")
	required = where(c, "require-signature").Bool("require-signature")
	switch {
	case len(keys) > 0:
		if s.verifier, err = cardsign.NewVerifier(keys, &cardsign.Options{Client: keyClient(config)}); err != nil {
			err = usagef("--signature-key %v", err)
		}
	case required:
		err = usagef("--require-signature needs to know whose: --signature-key names the keys that you trust")
	}
	return s, required, err
}

// keyClient fetches keys. It trusts the authorities that the user has named beside
// the system's; but no certificate of the user's is shown where keys are, and
// --insecure does not reach this far: keys from anybody would prove nothing.
func keyClient(config *tls.Config) *http.Client {
	if config == nil || config.RootCAs == nil {
		return nil
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: config.RootCAs, MinVersion: tls.VersionTLS12}
	t.DisableKeepAlives = true // keys are fetched once for a card
	return &http.Client{Transport: t}
}

// signed has the card checked before it is used, if keys are named for that.
func (l *link) signed(c *cli.Context, client *transport.ClientOptions) (err error) {
	if l.signatures, client.BareCard, err = readSignatures(c, client.TLS); err != nil || l.signatures.verifier == nil {
		return err
	}
	required := client.BareCard
	client.CheckCard = func(ctx context.Context, card []byte, from *url.URL) ([]byte, error) {
		s := &l.signatures
		report, err := s.verifier.Verify(ctx, card, from)
		verdict := err
		if err == nil {
			err = report.Err()
		}
		if err == nil || !required || s.report == nil {
			// Otherwise it is an extended card that is refused: what is told is of the
			// public one, which stays in use.
			s.report, s.err = report, verdict
		}
		switch {
		case err != nil && required:
			return nil, err
		case err != nil:
			l.options.Log.Warn("agent: " + err.Error())
		case required:
			return report.Card(), nil
		}
		return card, nil
	}
	return nil
}

// verdict returns what is to be said of the signatures of the card that is used.
func (s *signatures) verdict(ctx context.Context, card []byte) (*cardsign.Report, error) {
	if s.report != nil || s.err != nil {
		return s.report, s.err
	}
	return verdictOn(ctx, s.verifier, card, nil)
}

// verdictOn checks a card. Without a verifier, all that is told is who says to
// have signed it.
func verdictOn(ctx context.Context, v *cardsign.Verifier, card []byte, from *url.URL) (_ *cardsign.Report, err error) {
	if v == nil {
		if v, err = cardsign.NewVerifier(nil, nil); err != nil {
			return nil, err
		}
	}
	return v.Verify(ctx, card, from)
}

// signatureSection shows the verdict on a card. keys: the user has named some.
func signatureSection(out *page, report *cardsign.Report, err error, keys bool) {
	switch {
	case err != nil:
		out.heading("Signatures")
		out.text(2, err.Error())
		return
	case len(report.Verdicts) == 0:
		out.heading("Signatures")
		out.text(2, "The card is not signed.")
		return
	}
	for i, v := range report.Verdicts {
		out.heading(fmt.Sprintf("Signature %d of %d: %s", i+1, len(report.Verdicts), signatureWord(v, keys)))
		if v.Status != cardsign.Valid {
			out.text(2, v.Says)
		}
		if v.Thumbprint != "" {
			out.field("  key", v.Key+"\n"+strings.TrimPrefix(v.Thumbprint, v.Key))
		}
		about := short(v.Algorithm, 20)
		if v.KeyID != "" {
			about = strings.TrimPrefix(about+", key ID "+short(v.KeyID, 100), ", ")
		}
		out.field("  made with", about)
		if v.Thumbprint == "" {
			continue
		}
		out.field("  form", v.Form.Name+": "+v.Form.Says)
		out.field("  not signed", listed(v.LeftOut))
		if v.Form.Loose {
			out.field("  beware", "what is empty is not signed: empty members may have been added, or taken away, by others")
		}
	}
	for _, err := range report.Problems {
		out.field("  no keys", err.Error())
	}
}

// signatureWord is a status for people.
func signatureWord(v cardsign.Verdict, keys bool) string {
	switch v.Status {
	case cardsign.Valid:
		return "valid"
	case cardsign.Incomplete:
		return "not enough"
	case cardsign.Invalid:
		return "not valid"
	case cardsign.UnknownKey:
		if !keys {
			return "not checked"
		}
		return "by somebody else"
	}
	return "refused"
}

// listed shows the first of many.
func listed(names []string) string {
	more := ""
	if n := len(names) - maxLeftOut; n > 0 {
		names, more = names[:maxLeftOut], fmt.Sprintf(" and %d more", n)
	}
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = short(n, 100)
	}
	return strings.Join(shown, ", ") + more
}
