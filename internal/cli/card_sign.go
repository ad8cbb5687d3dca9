package cli

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
)

func (p *program) cardSignCommand() *cli.Command {
	return documented(&cli.Command{
		Name:     "sign",
		HelpName: "a2astdio card sign",
		Usage:    "sign the card of an agent of yours",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "`FILE`: your private key, as PEM or JWK: P-256, Ed25519, or RSA from 2048 bits"},
			&cli.StringFlag{Name: "key-id", Usage: "`ID`: what verifiers find the public key by (kid); if not given: its thumbprint"},
			&cli.StringFlag{Name: "algorithm", Usage: "`ES256|EdDSA|RS256|PS256`: if not given: what the key is for, RS256 for RSA"},
			&cli.StringFlag{Name: "jku", Usage: "`URL`: where your public key is served, as a JWKS"},
			&cli.StringFlag{Name: "jwks", Usage: "`FILE`: write the public key there, as a JWKS to serve"},
			&cli.StringFlag{Name: "form", Value: cardsign.FormSpecification,
				Usage: "`specification|as-served|sdk`: what is signed: as the specification has it, without default values; all members; or what a2a-js and a2a-python sign, A2A 1.0's members without empty ones"},
		},
		Action: p.signCard,
	}, help{
		intro: `Adds a signature to a card, and writes the card to stdout: JWS over canonical
JSON (A2A 1.0, section 8.4). Nothing else of the card is changed, and signatures
that it has stay: sign again with another key, or in another form. Sign last,
and serve the card exactly like this: what is changed later is not signed.`,
		usage: []string{"a2astdio card sign --key FILE [options] FILE|-"},
		examples: []example{
			{"openssl genpkey -algorithm ED25519 -out private.pem", "make a key, once, and keep it"},
			{"openssl pkey -in private.pem -pubout -out public.pem", "and what others check with"},
			{"a2astdio card sign --key private.pem card.json > signed.json", "sign"},
			{"a2astdio card verify --signature-key public.pem signed.json", "check"},
			{"a2astdio card sign --key private.pem --jwks jwks.json --jku https://agent.example/jwks.json card.json", "tell where the key is"},
		},
		after: `
Exit status:
  0    done
  1    failed
  2    a2astdio was called wrongly
`,
	})
}

func (p *program) signCard(c *cli.Context) error {
	args, err := p.arguments(c, "FILE|-")
	if err != nil {
		return err
	}
	form, err := oneOf(c, "form", cardsign.FormSpecification, cardsign.FormAsServed, cardsign.FormSDK)
	if err != nil {
		return err
	}
	name := stringOf(c, "key")
	if name == "" {
		return usagef("card sign needs --key: the file with your private key")
	}
	private, err := os.ReadFile(name)
	if err != nil {
		return usagef("--key: %v", err)
	}
	signer, err := cardsign.NewSigner(private, &cardsign.SignOptions{
		KeyID: stringOf(c, "key-id"), Algorithm: stringOf(c, "algorithm"), JKU: stringOf(c, "jku"), Form: form,
	})
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
	if jwks := stringOf(c, "jwks"); jwks != "" {
		set, err := signer.JWKS()
		if err != nil {
			return err
		}
		if err := os.WriteFile(jwks, append(set, '\n'), 0o644); err != nil {
			return fmt.Errorf("the public key cannot be written: %w", err)
		}
	}
	switch {
	case signed.Incomplete:
		p.say("this signature does not cover which credentials the card asks for, so --require-signature does not accept it; it leaves out %s", listed(signed.LeftOut))
	case form == cardsign.FormSDK && len(signed.LeftOut) > 0:
		p.say("this signature leaves out %s", listed(signed.LeftOut))
	case form != cardsign.FormSDK && len(signed.SDK) > 0:
		p.say("a2a-js and a2a-python do not sign %s, and will not accept this signature; --form sdk, on what is written now, adds one that they accept", listed(signed.SDK))
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", signed.Card)
	return err
}
