package card

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// maxKeyFile bounds a file with a private key.
const maxKeyFile = 1 << 20

func signCard(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	name := c.String("key")
	if name == "" {
		return frame.Usagef("card sign needs --key: the file with your private key")
	}
	private, err := safe.ReadPrivate(name, maxKeyFile)
	if err != nil {
		return frame.Usagef("--key: %v", err)
	}
	signer, err := cardsign.NewSigner(private, c.String("key-id"), c.String("jku"))
	if err != nil {
		return frame.Usagef("--key %s: %v", name, err)
	}
	card, err := readCard(p, args[0])
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
