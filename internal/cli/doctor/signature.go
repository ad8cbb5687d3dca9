package doctor

import (
	"fmt"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
)

// signatureStep reports the card's signatures, if it has any or the user names a key.
func (k *checkup) signatureStep() {
	if k.card.Raw == "" {
		return
	}
	s := &k.l.Signatures
	report, err := s.Verdict(k.c.Context, []byte(k.card.Raw))
	switch {
	case err != nil:
		k.add("signature", stepWarning, err.Error(), "whoever runs the agent should mend its card")
	case len(report.Verdicts) == 0 && s.Keys:
		k.add("signature", stepWarning, "the card is not signed", "--require-signature would refuse it; whoever runs the agent signs it with a2astdio card sign")
	case len(report.Verdicts) == 0:
	case report.Signed() != nil:
		v := report.Signed()
		says := fmt.Sprintf("the card is signed by your key %s (%s, form %s)", v.Key, v.Algorithm, v.Form.Name)
		if len(v.LeftOut) > 0 {
			says += ", but for " + reach.Listed(v.LeftOut)
		}
		k.add("signature", stepOK, says, "")
	case !s.Keys:
		k.add("signature", stepSkipped, fmt.Sprintf("signatures that the card has: %d; no key to check them with is named", len(report.Verdicts)), "--signature-key names the keys that you trust; a2astdio card verify tells more")
	default:
		k.add("signature", stepWarning, report.Err().Error(), signatureAdvice)
	}
}

// signatureAdvice tells what to do about an untrusted card.
const signatureAdvice = "ask whoever runs the agent for the key that signs its card, not the card; a2astdio card verify tells more"

// cardRefused reports a card that --require-signature refuses.
func (k *checkup) cardRefused(err *cardsign.UntrustedError) {
	k.add("card", stepOK, "it is there", "")
	k.fail("signature", err, signatureAdvice)
}
