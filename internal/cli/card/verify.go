package card

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
)

// maxCard is the largest card that package transport takes.
const maxCard = 4 << 20

func verifyCard(p *frame.Program, c *cli.Context) error {
	config, err := reach.TLSConfig(p, c)
	if err != nil {
		return err
	}
	s, _, err := reach.ReadSignatures(c, config)
	if err != nil && s.Keys {
		return err
	}
	card, err := cardToVerify(p, c)
	if err != nil {
		return err
	}
	report, err := s.Verdict(c.Context, card)
	trusted := err
	if err == nil {
		trusted = report.Err()
	}
	var out frame.Page
	out.Heading(safe.Short(gjson.GetBytes(card, "name").String(), frame.MaxValue))
	s.Section(&out, report, err)
	out.Heading(verdictSays(report, trusted, s.Keys))
	if err := p.Show(&out); err != nil {
		return err
	}
	if trusted != nil {
		return frame.Mark(frame.ErrReported, trusted)
	}
	return nil
}

// verdictSays returns the last line of the page.
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

// cardToVerify gets a card, as it was served: of a file, or of the agent.
func cardToVerify(p *frame.Program, c *cli.Context) (card []byte, err error) {
	if c.NArg() == 1 {
		return readCard(p, c, c.Args().First())
	}
	l, err := reach.Open(p, c, func(o *transport.ClientOptions) {
		o.BareCard = true
		o.CheckCard = func(_ context.Context, b []byte) ([]byte, error) {
			card = append([]byte(nil), b...)
			return b, nil
		}
	})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if _, err = l.Client.Card(c.Context); err != nil {
		return nil, frame.Mark(frame.ErrNotReached, err)
	}
	return card, nil
}

// readCard reads a card from a file, or for - from stdin.
func readCard(p *frame.Program, c *cli.Context, name string) ([]byte, error) {
	input := p.Input(c.Context)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, frame.Usagef("%v", err)
		}
		defer f.Close()
		input = f
	}
	b, err := io.ReadAll(io.LimitReader(input, maxCard+1))
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

func signCard(p *frame.Program, c *cli.Context) error {
	name := c.String("key")
	if name == "" {
		return frame.Usagef("card sign needs --key: the file with your private key")
	}
	private, err := safe.ReadPrivate(name, 1<<20)
	if err != nil {
		return frame.Usagef("--key: %v", err)
	}
	signer, err := cardsign.NewSigner(private, c.String("key-id"), c.String("jku"))
	if err != nil {
		return frame.Usagef("--key %s: %v", name, err)
	}
	card, err := readCard(p, c, c.Args().First())
	if err != nil {
		return err
	}
	signed, err := signer.Sign(card)
	if err != nil {
		return err
	}
	if len(signed.LeftOut) > 0 {
		p.Say("this signature leaves out %s, which are empty or have their default value", reach.Listed(signed.LeftOut))
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", signed.Card)
	return err
}
