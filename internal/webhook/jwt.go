package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// keysAge is when a key set is fetched again, so that a withdrawn key ends.
	keysAge = time.Hour
	// keysTimeout bounds the fetch; the push waits for it.
	keysTimeout = 5 * time.Second
)

var (
	errSignature = errors.New("its JWT is missing, or not signed by the agent")
	errMeant     = errors.New("its JWT was made for another address, or by another agent")
	errBody      = errors.New("its JWT was signed for another body")
)

// algorithms are those with public keys. None with a shared secret is accepted: a key
// set is public.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// Keys are the public keys of an agent that signs its pushes: a JSON Web Key Set (RFC
// 7517). They are named by the user, so a push that they sign is the agent's, even if its
// JWT says nothing of whom it is for.
type Keys struct {
	url    string // "" for a file
	client *http.Client

	mu     sync.Mutex
	set    keySet
	loaded time.Time
}

// A keySet verifies a JWT, and returns its payload.
type keySet interface {
	VerifySignature(ctx context.Context, token string) ([]byte, error)
}

// NewKeys returns a key set from an https URL, or an http URL of this machine, which is
// fetched when needed, or from a file, which is read at once.
func NewKeys(urlOrFile string) (*Keys, error) {
	u, err := url.Parse(urlOrFile)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return keysFrom(urlOrFile)
	}
	if u.Scheme == "http" && !safe.ThisMachine(u.Host) {
		return nil, fmt.Errorf("the key set at %s can be replaced on its way: take https", u.Redacted())
	}
	// No redirects: the user says where the keys are.
	client := &http.Client{Timeout: keysTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Keys{url: urlOrFile, client: client}, nil
}

func keysFrom(file string) (*Keys, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the key set: %w", err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("%s holds no JSON Web Key Set: %w", file, err)
	}
	var public oidc.StaticKeySet
	for _, key := range set.Keys {
		if key.IsPublic() && key.Use != "enc" {
			public.PublicKeys = append(public.PublicKeys, key.Key)
		}
	}
	if len(public.PublicKeys) == 0 {
		return nil, fmt.Errorf("%s holds no public key of a JSON Web Key Set", file)
	}
	return &Keys{set: &public}, nil
}

// current returns the key set. An unknown key has it fetched again, at most once at a
// time: who asks for that knows the address, which nobody guesses.
func (k *Keys) current(now time.Time) keySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.url != "" && now.Sub(k.loaded) > keysAge {
		k.set, k.loaded = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), k.client), k.url), now
	}
	return k.set
}

// claims are what a JWT says, and what a request's headers say in its place.
type claims struct {
	jwt.Claims
	BodyHash string `json:"request_body_sha256"` // hexadecimal
}

// check verifies the JWT of a push, and returns its claims.
func (k *Keys) check(ctx context.Context, token string, now time.Time) (c claims, err error) {
	if _, err := jwt.ParseSigned(token, algorithms); err != nil {
		return c, errSignature
	}
	payload, err := k.current(now).VerifySignature(ctx, token)
	switch {
	case err != nil:
		return c, fmt.Errorf("%w: %w", errSignature, err)
	case json.Unmarshal(payload, &c) != nil:
		return c, errSignature
	case c.IssuedAt == nil || !fresh(c.IssuedAt.Time(), now), c.ValidateWithLeeway(jwt.Expected{Time: now}, clockSkew) != nil:
		return c, errStale
	}
	return c, nil
}

// meant reports whether a JWT is for this address, and of this agent, where it says so
// (RFC 8725, §3.8 and §3.9): the agent may sign for other services with the same key.
func (c *claims) meant(base, name string, issuers []string) error {
	for _, to := range c.Audience {
		if u, err := url.Parse(to); to == base+"/"+name || err == nil && isOrigin(u, base) {
			return c.isOf(issuers)
		}
	}
	if len(c.Audience) > 0 {
		return errMeant
	}
	return c.isOf(issuers)
}

func (c *claims) isOf(issuers []string) error {
	if c.Issuer == "" {
		return nil
	}
	by, err := url.Parse(c.Issuer)
	for _, issuer := range issuers {
		if err == nil && isOrigin(by, issuer) {
			return nil
		}
	}
	return errMeant
}

// isOrigin reports whether a URL is the origin of another, and nothing more.
func isOrigin(u *url.URL, of string) bool {
	other, err := url.Parse(of)
	return err == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && safe.SameOrigin(u, other)
}

// covers reports whether a signature is for this body, where it says so. The A2A samples
// hash the JSON without blanks, whatever they send.
func (c *claims) covers(body []byte) bool {
	if c.BodyHash == "" || strings.EqualFold(hashed(body), c.BodyHash) {
		return true
	}
	var compact bytes.Buffer
	return json.Compact(&compact, body) == nil && strings.EqualFold(hashed(compact.Bytes()), c.BodyHash)
}

func hashed(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
