package idp

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
)

// sign makes a signature in JWS's form: both numbers, 32 bytes each.
func sign(key *ecdsa.PrivateKey, text []byte) ([]byte, error) {
	sum := sha256.Sum256(text)
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return nil, err
	}
	out := make([]byte, 64)
	r.FillBytes(out[:32])
	s.FillBytes(out[32:])
	return out, nil
}
