package cli

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/safe"
)

func (p *program) cardSignCommand() *cli.Command {
	return documented(&cli.Command{
		Name:     "sign",
		HelpName: "a2astdio card sign",
		Usage:    "sign the card of an agent of yours",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "`FILE`: your private key, as PEM or JWK: P-256, Ed25519, or RSA from 2048 bits (RS256, or the alg of the JWK); nobody else may be able to read the file"},
			&cli.StringFlag{Name: "key-id", Usage: "`ID`: what verifiers find the public key by (kid); if not given: its thumbprint"},
			&cli.StringFlag{Name: "jku", Usage: "`URL`: where your public key is served, as a JWKS"},
		},
		Action: p.signCard,
	}, help{
		intro: `Adds a signature to a card, and writes the card to stdout: JWS over canonical
JSON (A2A 1.0, section 8.4). Nothing else of the card is changed, and signatures
that it has stay: sign again with another key. Default values are not signed, as
the specification has it: leave them out for verifiers of other kinds. Sign
last, and serve the card exactly like this: what is changed later is not signed.`,
		usage: []string{"a2astdio card sign --key FILE [options] FILE|-"},
		examples: []example{
			{"(umask 077; openssl genpkey -algorithm ED25519 -out private.pem)", "make a key, once, and keep it"},
			{"openssl pkey -in private.pem -pubout -out public.pem", "and what others check with"},
			{"a2astdio card sign --key private.pem card.json > signed.json", "sign"},
			{"a2astdio card verify --signature-key public.pem signed.json", "check"},
			{"a2astdio card sign --key private.pem --jku https://agent.example/jwks.json card.json", "tell where the key is"},
		},
		after: `
Exit status:
  0    done
  1    failed
  2    a2astdio was called wrongly
`,
	})
}

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
