package reach

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/transport"
)

// maxLeftOut bounds the list of unsigned members for people.
const maxLeftOut = 8

// A signatures holds the options for signed cards, and the result.
type signatures struct {
	// Verifier is nil without a key.
	Verifier *cardsign.Verifier
	// report is the result for the card as fetched, or err tells why there is none. The
	// card's fetch writes them; who waits for the fetch reads them. Both are nil without a
	// verifier.
	report *cardsign.Report
	err    error
}

// ReadSignatures reads --signature-key and --require-signature. config is the user's
// trust in hosts.
func ReadSignatures(c *cli.Context, config *tls.Config) (s signatures, required bool, err error) {
	keys := frame.ListOf(c, "signature-key")
	required = c.Bool("require-signature")
	switch {
	case len(keys) > 0:
		if s.Verifier, err = cardsign.NewVerifier(keys, keyClient(config)); err != nil {
			err = frame.Usagef("--signature-key %v", err)
		}
	case required:
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

// signed has the card checked before its use, if keys are named.
func (l *Link) signed(c *cli.Context, client *transport.ClientOptions) (err error) {
	if l.Signatures, client.BareCard, err = ReadSignatures(c, client.TLS); err != nil || l.Signatures.Verifier == nil {
		return err
	}
	required := client.BareCard
	client.CheckCard = func(ctx context.Context, card []byte, from *url.URL) ([]byte, error) {
		s := &l.Signatures
		report, err := s.Verifier.Verify(ctx, card, from)
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
func (s *signatures) Verdict(ctx context.Context, card []byte) (*cardsign.Report, error) {
	if s.report != nil || s.err != nil {
		return s.report, s.err
	}
	return VerdictOn(ctx, s.Verifier, card, nil)
}

// VerdictOn checks a card. Without a verifier it only tells who claims to have signed
// the card.
func VerdictOn(ctx context.Context, v *cardsign.Verifier, card []byte, from *url.URL) (_ *cardsign.Report, err error) {
	if v == nil {
		if v, err = cardsign.NewVerifier(nil, nil); err != nil {
			return nil, err
		}
	}
	return v.Verify(ctx, card, from)
}

// SignatureSection shows the result for a card. keys: the user has named keys.
func SignatureSection(out *frame.Page, report *cardsign.Report, err error, keys bool) {
	switch {
	case err != nil:
		out.Heading("Signatures")
		out.Text(2, err.Error())
		return
	case len(report.Verdicts) == 0:
		out.Heading("Signatures")
		out.Text(2, "The card is not signed.")
		return
	}
	for i, v := range report.Verdicts {
		out.Heading(fmt.Sprintf("Signature %d of %d: %s", i+1, len(report.Verdicts), signatureWord(v, keys)))
		if v.Status != cardsign.Valid {
			out.Text(2, v.Says)
		}
		if v.Thumbprint != "" {
			out.Field("  key", v.Key+"\n"+strings.TrimPrefix(v.Thumbprint, v.Key))
		}
		about := frame.Short(v.Algorithm, 20)
		if v.KeyID != "" {
			about = strings.TrimPrefix(about+", key ID "+frame.Short(v.KeyID, 100), ", ")
		}
		out.Field("  made with", about)
		if v.Thumbprint == "" {
			continue
		}
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

// Listed shows the first names of a list.
func Listed(names []string) string {
	more := ""
	if n := len(names) - maxLeftOut; n > 0 {
		names, more = names[:maxLeftOut], fmt.Sprintf(" and %d more", n)
	}
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = frame.Short(n, 100)
	}
	return strings.Join(shown, ", ") + more
}
