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

// maxLeftOut bounds the list of unsigned members for people.
const maxLeftOut = 8

// A signatures holds the options for signed cards, and the result.
type signatures struct {
	// verifier is nil without a key.
	verifier *cardsign.Verifier
	// report is the result for the card as fetched, or err tells why there is none. The
	// card's fetch writes them; who waits for the fetch reads them. Both are nil without a
	// verifier.
	report *cardsign.Report
	err    error
}

// readSignatures reads --signature-key and --require-signature. config is the user's
// trust in hosts.
func readSignatures(c *cli.Context, config *tls.Config) (s signatures, required bool, err error) {
	keys := listOf(c, "signature-key")
	required = where(c, "require-signature").Bool("require-signature")
	switch {
	case len(keys) > 0:
		if s.verifier, err = cardsign.NewVerifier(keys, keyClient(config)); err != nil {
			err = usagef("--signature-key %v", err)
		}
	case required:
		err = usagef("--require-signature needs to know whose: --signature-key names the keys that you trust")
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

// signed has the card checked before its use, if keys are named.
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
			// The extended card was refused; the public one stays in use, and its report is
			// kept.
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

// verdict returns the result for the card that is used.
func (s *signatures) verdict(ctx context.Context, card []byte) (*cardsign.Report, error) {
	if s.report != nil || s.err != nil {
		return s.report, s.err
	}
	return verdictOn(ctx, s.verifier, card, nil)
}

// verdictOn checks a card. Without a verifier it only tells who claims to have signed
// the card.
func verdictOn(ctx context.Context, v *cardsign.Verifier, card []byte, from *url.URL) (_ *cardsign.Report, err error) {
	if v == nil {
		if v, err = cardsign.NewVerifier(nil, nil); err != nil {
			return nil, err
		}
	}
	return v.Verify(ctx, card, from)
}

// signatureSection shows the result for a card. keys: the user has named keys.
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

func signatureWord(v cardsign.Verdict, keys bool) string {
	switch v.Status {
	case cardsign.Valid:
		return "valid"
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

// listed shows the first names of a list.
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
