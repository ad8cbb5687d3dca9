package cardsign

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/tidwall/gjson"
)

// A Signer signs cards with one key.
type Signer struct {
	signer jose.Signer
	form   Form
	public jose.JSONWebKey
}

// NewSigner makes a signer from a private key: PEM (PKCS #8, PKCS #1, SEC 1) or a JWK. keyID
// is the name by which verifiers find the public key; empty: its own, or else its thumbprint.
// jku is the URL of the JWKS with the public key; empty: it is not said.
func NewSigner(privateKey []byte, keyID, jku string) (*Signer, error) {
	private, err := parsePrivate(privateKey)
	if err != nil {
		return nil, err
	}
	public := private.Public()
	if err := checkKey(public.Key); err != nil {
		return nil, err
	}
	thumb, err := Thumbprint(&public)
	if err != nil {
		return nil, err
	}
	keyID = cmp.Or(keyID, private.KeyID, strings.TrimPrefix(thumb, pinPrefix))
	alg, can := jose.SignatureAlgorithm(private.Algorithm), algorithmsOf(public.Key)
	if alg == "" {
		alg = can[0]
	}
	if !slices.Contains(can, alg) {
		return nil, fmt.Errorf("the key says that it is for %s: it would be for %v", alg, can)
	}
	s := &Signer{public: public}
	s.public.KeyID, s.public.Algorithm, s.public.Use = keyID, string(alg), "sig"
	s.form, _ = formNamed(FormSpecification)
	jo := (&jose.SignerOptions{}).WithType("JOSE")
	if jku != "" {
		jo = jo.WithHeader("jku", jku)
	}
	s.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: private.Key, KeyID: keyID}}, jo)
	return s, err
}

// A Signed is a card with one more signature.
type Signed struct {
	Card []byte
	// LeftOut are the JSON pointers of what the signature does not cover.
	LeftOut []string
}

// Sign adds a signature to a card, and changes nothing else.
func (s *Signer) Sign(card []byte) (*Signed, error) {
	card = bytes.TrimSpace(bytes.TrimPrefix(card, []byte("\uFEFF")))
	object, err := parseObject(card)
	if err != nil {
		return nil, fmt.Errorf("the card cannot be signed: %w", err)
	}
	before := object["signatures"]
	if _, list := before.([]any); before != nil && !list {
		return nil, errors.New("the card cannot be signed: its signatures are no list")
	}
	delete(object, "signatures")
	payload, _, leftOut := s.form.bytes(object)
	entry, err := s.entry(payload)
	if err != nil {
		return nil, err
	}
	out := &Signed{Card: addSignature(card, entry), LeftOut: leftOut}
	// Others must be able to verify the result.
	v := &Verifier{sources: []*source{{keys: []key{{jwk: s.public}}}}}
	r, err := v.Verify(context.Background(), out.Card)
	if err != nil {
		return nil, err
	}
	if last := r.Verdicts[len(r.Verdicts)-1]; last.Status != Valid {
		return nil, errors.New("the signature does not verify: " + last.Says)
	}
	return out, nil
}

// entry signs, and returns an element for the card's signatures.
func (s *Signer) entry(payload []byte) ([]byte, error) {
	jws, err := s.signer.Sign(payload)
	if err != nil {
		return nil, err
	}
	compact, err := jws.DetachedCompactSerialize()
	if err != nil {
		return nil, err
	}
	protected, signature, _ := strings.Cut(compact, "..")
	return json.Marshal(map[string]string{"protected": protected, "signature": signature})
}

// addSignature appends an entry to a card's signatures, and keeps the rest of its text.
func addSignature(card, entry []byte) []byte {
	if old := gjson.GetBytes(card, "signatures"); old.Exists() {
		list := []byte("[]")
		if old.IsArray() {
			list = []byte(old.Raw)
		}
		return slices.Concat(card[:old.Index], addLast(list, entry), card[old.Index+len(old.Raw):])
	}
	return addLast(card, slices.Concat([]byte(`"signatures":[`), entry, []byte("]")))
}

// addLast appends a value to an array, or a member to an object.
func addLast(container, value []byte) []byte {
	end := len(container) - 1
	inside := bytes.TrimRight(container[:end], " \t\r\n")
	comma := []byte(",")
	if len(bytes.TrimSpace(inside[1:])) == 0 {
		comma = nil
	}
	return slices.Concat(inside, comma, value, container[len(inside):])
}

func parsePrivate(b []byte) (*jose.JSONWebKey, error) {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\uFEFF")))
	if len(b) > 0 && b[0] == '{' {
		if _, err := parseObject(b); err != nil {
			return nil, err
		}
		return parseJWK(b, "sign")
	}
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			return nil, errors.New("it has no private key: it is neither PEM nor a JWK")
		}
		var private any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			private, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			private, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			private, err = x509.ParseECPrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("it is encrypted: openssl pkey -in FILE makes one that is not")
		default: // EC PARAMETERS, for one
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("its private key cannot be read: %w", err)
		}
		return &jose.JSONWebKey{Key: private}, nil
	}
}
