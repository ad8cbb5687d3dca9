package cardsign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// maxSignatures bounds the signatures that are checked. Cards have several where keys
	// are rotated (A2A 1.0 §8.4.3): two or three.
	maxSignatures = 16
	// maxAttempts bounds the work for one wrong signature. A valid one whose key ID is the
	// key's needs one attempt for each form.
	maxAttempts = 256
)

// algorithms are the accepted ones. All are asymmetric: with a shared secret, each
// verifier could also sign.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.PS256, jose.EdDSA}
}

// A Verifier checks cards against the user's keys. Its methods may be called
// concurrently.
type Verifier struct {
	sources []*source
	client  *http.Client
}

// NewVerifier makes a verifier that trusts keys: each a file (PEM, JWK or JWKS), or the
// https URL of a JWKS. "#" and a thumbprint ([Thumbprint]) behind it select one of its
// keys. It reads files at once; Verify fetches URLs.
// Without keys, all signatures have unknown keys. client, nil for http.DefaultClient,
// fetches JWKS. It must not add credentials: requests go to any place that the user has
// named.
func NewVerifier(keys []string, client *http.Client) (*Verifier, error) {
	v := &Verifier{client: cmp.Or(client, http.DefaultClient)}
	for _, k := range keys {
		s, err := parseSource(k)
		if err != nil {
			switch u, parseErr := url.Parse(k); {
			case parseErr == nil && u.Host != "":
				k = safe.Shown(u)
			case strings.Contains(k, "://"):
				k = "…" // it may have a password
			}
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		v.sources = append(v.sources, s)
	}
	return v, nil
}

// Verify checks each signature of a card. The error is about a card that cannot be checked
// at all. (Rejected: to find the key of a thumbprint where a signature's own header has it,
// or says that it is. No signer that was met puts it there.)
func (v *Verifier) Verify(ctx context.Context, card []byte) (*Report, error) {
	object, err := parseObject(card)
	if err != nil {
		return nil, &UntrustedError{"the card cannot be checked: " + err.Error()}
	}
	r := &Report{raw: card, signatures: object["signatures"]}
	delete(object, "signatures")
	entries, _ := r.signatures.([]any)
	switch {
	case r.signatures != nil && entries == nil:
		return nil, &UntrustedError{"the card cannot be checked: its signatures are no list"}
	case len(entries) > maxSignatures:
		return nil, &UntrustedError{fmt.Sprintf("the card has %d signatures: more than %d are not looked at", len(entries), maxSignatures)}
	case len(entries) == 0:
		return r, nil
	}
	c := &check{v: v, forms: payloads(object)}
	for _, s := range v.sources {
		keys, err := s.all(ctx, v.client)
		if err != nil {
			r.Problems = append(r.Problems, err)
		}
		c.keys = append(c.keys, keys...)
	}
	for _, e := range entries {
		r.Verdicts = append(r.Verdicts, c.signature(ctx, e))
	}
	return r, nil
}

// A payload is a card in one form.
type payload struct {
	form    Form
	bytes   []byte
	signed  map[string]any
	leftOut []string
}

// payloads are the card in all forms, each content once.
func payloads(card map[string]any) (all []payload) {
	for _, f := range Forms() {
		b, signed, leftOut := f.bytes(card)
		if !slices.ContainsFunc(all, func(p payload) bool { return bytes.Equal(p.bytes, b) }) {
			all = append(all, payload{f, b, signed, leftOut})
		}
	}
	return all
}

type check struct {
	v     *Verifier
	keys  []key
	forms []payload
}

// A header is a signature's own (RFC 7515 §4.1).
type header struct {
	alg, kid, jku string
}

func (c *check) signature(ctx context.Context, entry any) Verdict {
	object, _ := entry.(map[string]any)
	protected, _ := object["protected"].(string)
	value, _ := object["signature"].(string)
	h, err := parseHeader(protected)
	out := Verdict{Algorithm: h.alg, KeyID: h.kid, JKU: h.jku}
	refuse := func(s Status, says string) Verdict {
		out.Status, out.Says = s, says
		return out
	}
	switch {
	case err != nil:
		return refuse(Refused, err.Error())
	case value == "" || strings.EqualFold(h.alg, "none"):
		return refuse(Refused, "it proves nothing: it has no signature (alg none)")
	case strings.HasPrefix(h.alg, "HS"):
		return refuse(Refused, h.alg+" is made with a shared secret: whoever can check it can make it, and a public key is no secret")
	}
	alg := jose.SignatureAlgorithm(h.alg)
	if !slices.Contains(algorithms(), alg) {
		return refuse(Refused, fmt.Sprintf("the algorithm %.40q is none of ES256, RS256, PS256 and EdDSA", h.alg))
	}
	jws, err := jose.ParseDetached(protected+".."+value, []byte{}, algorithms())
	if err != nil {
		return refuse(Refused, "it is no JSON Web Signature: "+strings.TrimPrefix(err.Error(), "go-jose/go-jose: "))
	}
	keys := slices.DeleteFunc(slices.Clone(c.keys), func(k key) bool { return !k.fits(alg) })
	// The key ID only orders the attempts: a key that the user named is trusted by any ID.
	named := func(k key) bool { return k.jwk.KeyID == "" || h.kid == "" || k.jwk.KeyID == h.kid }
	others := slices.DeleteFunc(slices.Clone(keys), named)
	keys = append(slices.DeleteFunc(keys, func(k key) bool { return !named(k) }), others...)
	attempts := 0
	for _, k := range keys {
		for _, p := range c.forms {
			if attempts++; attempts > maxAttempts || ctx.Err() != nil {
				return refuse(UnknownKey, fmt.Sprintf("none of the %d keys that were tried made it, and then it was given up: name the key alone", attempts/len(c.forms)))
			}
			if jws.DetachedVerify(p.bytes, k.jwk.Key) == nil {
				out.Status, out.Key, out.Thumbprint, out.Says = Valid, k.source, k.thumb, "made by your key "+k.source
				out.Form, out.LeftOut, out.signed = p.form, p.leftOut, p.signed
				return out
			}
		}
	}
	if slices.ContainsFunc(keys, named) {
		return refuse(Invalid, "it does not fit: the card was changed after it was signed, or another key signed it, or its author signs in a form that is not known")
	}
	return refuse(UnknownKey, c.unknown(h))
}

// unknown tells why no key fits.
func (c *check) unknown(h header) string {
	says := "its key is none of yours"
	if h.kid != "" {
		says = fmt.Sprintf("its key %.100q is none of yours", h.kid)
	}
	if len(c.v.sources) == 0 {
		says = "nothing says whose it is: --signature-key names the keys that you trust"
	}
	if h.jku != "" {
		says += fmt.Sprintf("; it says itself that the key is at %.300q: if you trust that place, name it with --signature-key", h.jku)
	}
	return says
}

func parseHeader(protected string) (h header, err error) {
	b, err := base64.RawURLEncoding.DecodeString(protected)
	if err != nil || protected == "" {
		return h, errors.New("it is no JSON Web Signature: its protected header is no base64url")
	}
	object, err := parseObject(b)
	if err != nil {
		return h, fmt.Errorf("its protected header cannot be read: %w", err)
	}
	h.alg, _ = object["alg"].(string)
	h.kid, _ = object["kid"].(string)
	h.jku, _ = object["jku"].(string)
	for _, name := range []string{"crit", "b64"} { // RFC 7515, §4.1.11; RFC 7797
		if _, there := object[name]; there {
			return h, fmt.Errorf("its header has %s: what it demands to be understood, a2astdio does not", name)
		}
	}
	return h, nil
}
