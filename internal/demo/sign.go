package demo

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
)

// jwksPath is the path of the public key.
const jwksPath = "/.well-known/jwks.json"

// A cardSigner signs the card with the agent's own key, by A2A 1.0 §8.4. It uses EdDSA,
// whose signature is the same each time, so that the card's ETag stays.
type cardSigner struct {
	key ed25519.PrivateKey
	id  string // RFC 7638
}

func newCardSigner() *cardSigner {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	s := &cardSigner{key: private}
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + encode(public) + `"}`))
	s.id = encode(sum[:])
	return s
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// KeyThumbprint returns the RFC 7638 thumbprint (SHA-256, base64url) of the key that
// signs the card, "" without [Options.Sign].
func (a *Agent) KeyThumbprint() string {
	if a.signer == nil {
		return ""
	}
	return a.signer.id
}

// sign adds a signature over all members of the card.
func (s *cardSigner) sign(card map[string]any, base string) error {
	payload, err := canonical(card)
	if err != nil {
		return err
	}
	header, err := canonical(map[string]any{"alg": "EdDSA", "kid": s.id, "typ": "JOSE", "jku": base + jwksPath[1:]})
	if err != nil {
		return err
	}
	protected := encode(header)
	card["signatures"] = []any{map[string]string{
		"protected": protected,
		"signature": encode(ed25519.Sign(s.key, []byte(protected+"."+encode(payload)))),
	}}
	return nil
}

// canonical writes a value in RFC 8785's form. encoding/json suffices here: names are
// ASCII, there are no numbers, and none of the characters that it escapes without need.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, v); err != nil {
		return nil, err
	}
	var sorted any // struct members are not sorted
	if err := json.Unmarshal(b.Bytes(), &sorted); err != nil {
		return nil, err
	}
	b.Reset()
	err := writeJSON(&b, sorted)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// serveKey sends the public key, as a JWKS.
func (s *cardSigner) serveKey(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/jwk-set+json")
	_ = writeJSON(w, map[string]any{"keys": []any{map[string]string{
		"kty": "OKP", "crv": "Ed25519", "x": encode(s.key.Public().(ed25519.PublicKey)), "kid": s.id, "alg": "EdDSA", "use": "sig",
	}}})
}
