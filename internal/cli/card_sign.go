package cli

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// maxKeyFile bounds a file with a private key.
const maxKeyFile = 1 << 20

func (p *program) signCard(c *cli.Context) error {
	args, err := p.arguments(c, "FILE|-")
	if err != nil {
		return err
	}
	name := stringOf(c, "key")
	if name == "" {
		return usagef("card sign needs --key: the file with your private key")
	}
	private, err := safe.ReadPrivate(name, maxKeyFile)
	if err != nil {
		return usagef("--key: %v", err)
	}
	signer, err := cardsign.NewSigner(private, &cardsign.SignOptions{KeyID: stringOf(c, "key-id"), JKU: stringOf(c, "jku")})
	if err != nil {
		return usagef("--key %s: %v", name, err)
	}
	input := p.stdin
	if args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return usagef("%v", err)
		}
		defer f.Close()
		input = f
	}
	card, err := readCard(input)
	if err != nil {
		return err
	}
	signed, err := signer.Sign(card)
	if err != nil {
		return err
	}
	if len(signed.LeftOut) > 0 {
		p.say("this signature leaves out %s, which are empty or have their default value", listed(signed.LeftOut))
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", signed.Card)
	return err
}
