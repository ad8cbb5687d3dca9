package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/gowebpki/jcs"
)

// The SDK has no signer yet. This one follows the proposed one (a2a-go, pull request
// 368): the SDK type's JSON, without signatures, by RFC 8785, ES256. It uses neither
// the SDK's code for that nor ours.

const keyID = "a2a-go"

// sign signs a card, and returns a handler for the public key's JWKS.
func sign(card *a2a.AgentCard) (http.HandlerFunc, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if card.Skills == nil {
		card.Skills = []a2a.AgentSkill{} // the compatibility layer turns null into [] after the signing
	}
	text, err := json.Marshal(card)
	if err != nil {
		return nil, err
	}
	payload, err := jcs.Transform(text)
	if err != nil {
		return nil, err
	}
	base64url := base64.RawURLEncoding.EncodeToString
	protected := base64url([]byte(`{"alg":"ES256","kid":"` + keyID + `","typ":"JOSE"}`))
	sum := sha256.Sum256([]byte(protected + "." + base64url(payload)))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return nil, err
	}
	var value [64]byte
	r.FillBytes(value[:32])
	s.FillBytes(value[32:])
	card.Signatures = []a2a.AgentCardSignature{{Protected: protected, Signature: base64url(value[:])}}

	public, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"EC","crv":"P-256","kid":%q,"x":%q,"y":%q}]}`, keyID, base64url(public[1:33]), base64url(public[33:]))
	}, nil
}
