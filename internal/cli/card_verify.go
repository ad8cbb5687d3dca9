package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/transport"
)

// maxCard is the largest card that package transport takes.
const maxCard = 4 << 20

func (p *program) cardVerifyCommand() *cli.Command {
	c := &cli.Command{
		Name:     "verify",
		HelpName: "a2astdio card verify",
		Usage:    "tell who has signed a card, and what of it",
		Flags:    append([]cli.Flag{outputFlag(`{"ok", "card", "signatures":[{"status", "algorithm", "keyId", "jku", "key", "thumbprint", "form", "leftOut", "says"}], "problems"}, status being valid, invalid, unknownKey or refused`)}, behindCommand()...),
		Action:   p.verifyCard,
	}
	for _, f := range c.Flags {
		if keys, ok := f.(*cli.StringSliceFlag); ok && keys.Name == "signature-key" {
			keys.Hidden, keys.Category = false, ""
		}
	}
	return documented(c, help{
		intro: `Checks the signatures of a card (A2A 1.0, section 8.4) against the keys that you
name: the card is a file, - for stdin, or where an agent is; without one it is
that of --agent. No credentials are sent for it.

A key that the card itself points to proves nothing: whoever writes a card
writes that, too. Signers differ in what they sign; the form that fits is told,
and which members of the card it leaves out: --require-signature does not use
these.`,
		usage: []string{"a2astdio card verify [options] [FILE|URL|-]"},
		examples: []example{
			{"a2astdio card verify --signature-key public.pem card.json", "by a key that is a file"},
			{"a2astdio card verify --signature-key https://agent.example/jwks.json https://agent.example", "by keys that you trust because of their URL"},
			{"a2astdio card verify --signature-key sha256:kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k card.json", "by the thumbprint of a key (RFC 7638)"},
			{"a2astdio card verify card.json", "who says to have signed it?"},
		},
		after: `
A thumbprint behind # picks one key of a file or URL: public.json#sha256:...

Exit status:
  0    a key of yours has signed it
  1    it has not
  2    a2astdio was called wrongly
  3    the card was not reached
  4    the card is shown to callers with credentials only
  5    the agent did not answer in time
`,
	})
}

func (p *program) verifyCard(c *cli.Context) error {
	args, asJSON, err := p.inputs(c, "[FILE|URL|-]")
	if err != nil {
		return err
	}
	config, err := p.tlsConfig(c)
	if err != nil {
		return err
	}
	s, _, err := readSignatures(c, config)
	if err != nil && s.verifier == nil && len(listOf(c, "signature-key")) > 0 {
		return err
	}
	card, from, err := p.cardToVerify(c, args)
	if err != nil {
		return err
	}
	report, err := verdictOn(c.Context, s.verifier, card, from)
	trusted := err
	if err == nil {
		trusted = report.Err()
	}
	if asJSON {
		if err != nil {
			return err
		}
		if err := p.printJSON(verifyJSON(card, report)); err != nil {
			return err
		}
	} else {
		var out page
		out.heading(short(gjson.GetBytes(card, "name").String(), maxValue))
		signatureSection(&out, report, err, s.verifier != nil)
		out.heading(verdictSays(report, trusted, s.verifier != nil))
		if err := p.show(&out); err != nil {
			return err
		}
	}
	if trusted != nil {
		return &reported{trusted}
	}
	return nil
}

// verdictSays is the last line of the page.
func verdictSays(report *cardsign.Report, trusted error, keys bool) string {
	switch {
	case trusted != nil && report == nil:
		return "This card proves nothing."
	case trusted != nil && len(report.Verdicts) == 0:
		return "Anybody may have written this card."
	case trusted != nil && !keys:
		return "Whether that is true depends on the key: --signature-key names those that you trust."
	case trusted != nil:
		return "None of your keys has signed this card."
	case len(report.Signed().LeftOut) > 0:
		return "The card is signed by a key of yours, but for the members above. --require-signature uses it without them."
	}
	return "The card is signed by a key of yours, all of it."
}

// cardToVerify gets a card and its URL; nil for a file.
func (p *program) cardToVerify(c *cli.Context, args []string) (card []byte, from *url.URL, err error) {
	if len(args) == 1 && args[0] == "-" {
		card, err = readCard(p.stdin)
		return card, nil, err
	}
	if len(args) == 1 && isFile(args[0]) { // judged by its bytes, as one from stdin
		f, err := os.Open(args[0])
		if err != nil {
			return nil, nil, usagef("%v", err)
		}
		defer f.Close()
		card, err = readCard(f)
		return card, nil, err
	}
	take := func(o *transport.ClientOptions) {
		o.BareCard = true
		o.CheckCard = func(_ context.Context, b []byte, u *url.URL) ([]byte, error) {
			card, from = append([]byte(nil), b...), u
			return b, nil
		}
	}
	var client *transport.Client
	if len(args) == 0 {
		l, err := p.link(c, take)
		if err != nil {
			return nil, nil, err
		}
		defer l.close()
		client = l.client
	} else {
		// This is not the agent of --agent: its headers must not be sent.
		o := &transport.ClientOptions{UserAgent: "a2astdio/" + p.version, Timeout: where(c, "timeout").Duration("timeout")}
		config, err := p.tlsConfig(c)
		if err != nil {
			return nil, nil, err
		}
		if config != nil {
			config.GetClientCertificate = nil
		}
		o.TLS = config
		take(o)
		if client, err = transport.NewClient(args[0], o); err != nil {
			return nil, nil, usagef("%v", err)
		}
		defer client.Close()
	}
	if _, err = client.Card(c.Context); err != nil {
		return nil, nil, &notReached{err}
	}
	return card, from, nil
}

func readCard(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxCard+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the card cannot be read: %w", err)
	case len(b) > maxCard:
		return nil, fmt.Errorf("the card is larger than %d MiB", maxCard>>20)
	case len(b) == 0:
		return nil, errors.New("there is no card: the input is empty")
	}
	return b, nil
}

type verifiedJSON struct {
	OK         bool            `json:"ok"`
	Card       string          `json:"card,omitempty"`
	Signatures []signatureJSON `json:"signatures"`
	Problems   []string        `json:"problems,omitempty"`
}

type signatureJSON struct {
	Status     cardsign.Status `json:"status"`
	Algorithm  string          `json:"algorithm,omitempty"`
	KeyID      string          `json:"keyId,omitempty"`
	JKU        string          `json:"jku,omitempty"`
	Key        string          `json:"key,omitempty"`
	Thumbprint string          `json:"thumbprint,omitempty"`
	Form       string          `json:"form,omitempty"`
	LeftOut    []string        `json:"leftOut,omitempty"`
	Says       string          `json:"says"`
}

func verifyJSON(card []byte, report *cardsign.Report) verifiedJSON {
	out := verifiedJSON{OK: report.Err() == nil, Card: gjson.GetBytes(card, "name").String(), Signatures: []signatureJSON{}}
	for _, v := range report.Verdicts {
		out.Signatures = append(out.Signatures, signatureJSON{v.Status, v.Algorithm, v.KeyID, v.JKU, v.Key, v.Thumbprint, v.Form.Name, v.LeftOut, v.Says})
	}
	for _, err := range report.Problems {
		out.Problems = append(out.Problems, err.Error())
	}
	return out
}
