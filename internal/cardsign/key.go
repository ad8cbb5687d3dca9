package cardsign

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	// minRSA is the least size of RSA keys in bits (RFC 7518 §3.3 and §3.5).
	minRSA = 2048
	// maxKeys bounds the keys of one source: the largest public JWKS have some ten.
	maxKeys = 100
	// maxKeyFile bounds a file or an answer with keys.
	maxKeyFile = 1 << 20
)

// A key is a key that the user trusts.
type key struct {
	jwk    jose.JSONWebKey
	thumb  string // see Thumbprint
	source string // its source, for people
}

// parseKeys reads public keys: PEM, a JWK or a JWKS. It skips a JWKS's keys for other
// purposes, as RFC 7517 §5 requires. (Rejected: certificates. openssl makes a public key of
// one, and a certificate would be checked for its time alone.)
func parseKeys(b []byte, source string) ([]key, error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\uFEFF")))
	var found []jose.JSONWebKey
	var err error
	if len(b) > 0 && b[0] == '{' {
		found, err = parseJWKs(b)
	} else {
		found, err = parsePEM(b)
	}
	if err != nil {
		return nil, err
	}
	keys := make([]key, 0, len(found))
	for _, jwk := range found {
		thumb, err := Thumbprint(&jwk)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key{jwk, thumb, source})
	}
	return keys, nil
}

// parseJWKs reads a key or a set of keys.
func parseJWKs(b []byte) ([]jose.JSONWebKey, error) {
	if _, err := parseObject(b); err != nil {
		return nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(b, &set) != nil || set.Keys == nil {
		set.Keys = []json.RawMessage{b}
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("it has %d keys: more than %d are not read", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	var first error
	for _, raw := range set.Keys {
		k, err := parseJWK(raw, "verify")
		if err == nil {
			err = checkKey(k.Key)
		}
		if err == nil {
			keys = append(keys, *k)
		}
		first = cmp.Or(first, err)
	}
	if len(keys) == 0 {
		return nil, cmp.Or(first, errors.New("it has no key that can check a signature"))
	}
	return keys, nil
}

// parseJWK reads a key for an operation: verify or sign.
func parseJWK(b []byte, operation string) (*jose.JSONWebKey, error) {
	var about struct {
		Type       string   `json:"kty"`
		Operations []string `json:"key_ops"`
		Private    any      `json:"d"`
	}
	k := new(jose.JSONWebKey)
	switch err := json.Unmarshal(b, &about); {
	case err != nil || about.Type == "":
		return nil, errors.New("it is no JWK: kty is missing")
	case about.Type == "oct":
		return nil, errors.New("it is a shared secret (kty oct): whoever can check such a signature can make one")
	case operation == "verify" && about.Private != nil:
		return nil, errPrivate
	case operation == "sign" && about.Private == nil:
		return nil, errors.New("it has no private key")
	}
	if err := k.UnmarshalJSON(b); err != nil {
		return nil, errors.New("it is no usable JWK: " + strings.TrimPrefix(err.Error(), "go-jose/go-jose: "))
	}
	if k.Use != "" && k.Use != "sig" || about.Operations != nil && !slices.Contains(about.Operations, operation) {
		return nil, errors.New("its use or key_ops are not to " + operation)
	}
	return k, nil
}

var errPrivate = errors.New("it holds a private key, which belongs to whoever signs alone: give the public one (openssl pkey -in FILE -pubout)")

func parsePEM(b []byte) (keys []jose.JSONWebKey, err error) {
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			break
		}
		if len(keys) == maxKeys {
			return nil, fmt.Errorf("it has more than %d keys", maxKeys)
		}
		public, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		if err := checkKey(public); err != nil {
			return nil, err
		}
		keys = append(keys, jose.JSONWebKey{Key: public})
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no key: it is neither PEM, nor a JWK or JWKS")
	}
	return keys, nil
}

func parseBlock(block *pem.Block) (any, error) {
	switch {
	case block.Type == "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case block.Type == "CERTIFICATE":
		return nil, errors.New("it has a certificate: give its public key (openssl x509 -in FILE -pubkey -noout)")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errPrivate
	}
	return nil, fmt.Errorf("it has a PEM block %q, which is no public key", block.Type)
}

// checkKey refuses public keys that no algorithm of ours can use.
func checkKey(public any) error {
	switch k := public.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < minRSA {
			return fmt.Errorf("its RSA key has %d bits: fewer than %d are not safe", k.N.BitLen(), minRSA)
		}
		return nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return fmt.Errorf("its key is on the curve %s: of those, only P-256 is used (ES256)", k.Curve.Params().Name)
		}
		return nil
	case ed25519.PublicKey:
		return nil
	}
	return errors.New("its key is none for ES256, RS256, PS256 or EdDSA")
}

// fits reports whether a key may have made a signature by an algorithm. So an RSA key
// never counts as an HMAC's secret.
func (k *key) fits(alg jose.SignatureAlgorithm) bool {
	if k.jwk.Algorithm != "" && k.jwk.Algorithm != string(alg) {
		return false
	}
	return slices.Contains(algorithmsOf(k.jwk.Key), alg)
}

// algorithmsOf lists a public key's algorithms, its default first.
func algorithmsOf(public any) []jose.SignatureAlgorithm {
	switch public.(type) {
	case *rsa.PublicKey:
		return []jose.SignatureAlgorithm{jose.RS256, jose.PS256}
	case *ecdsa.PublicKey:
		return []jose.SignatureAlgorithm{jose.ES256}
	case ed25519.PublicKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}
	}
	return nil
}

// pinPrefix begins a thumbprint: of SHA-256, in base64url.
const pinPrefix = "sha256:"

// Thumbprint identifies a key (RFC 7638, SHA-256), in the form of --signature-key:
// sha256: and 43 characters of base64url.
func Thumbprint(k *jose.JSONWebKey) (string, error) {
	sum, err := k.Thumbprint(crypto.SHA256)
	if err != nil {
		return "", err
	}
	return pinPrefix + base64.RawURLEncoding.EncodeToString(sum), nil
}
