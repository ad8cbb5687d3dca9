package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// maxKeySet bounds a key set from the network.
	maxKeySet = 1 << 20
	// keysEvery is the least time between two fetches of a key set: a stranger's unknown
	// key must not make us call the agent at will.
	keysEvery = time.Minute
	// keysAge is when a key set is fetched again, so that a withdrawn key ends.
	keysAge = time.Hour
	// keysTimeout bounds the fetch; the push waits for it.
	keysTimeout = 5 * time.Second
)

var errSignature = errors.New("its JWT is missing, or not signed by the agent")

// algorithms are those with public keys. None with a shared secret is accepted: a key
// set is public.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// Keys are the public keys of an agent that signs its pushes: a JSON Web Key Set (RFC
// 7517).
type Keys struct {
	url    string
	client *http.Client

	mu      sync.Mutex // also held during a fetch, for which others wait
	set     jose.JSONWebKeySet
	fetched time.Time
}

// NewKeys returns a key set from an https URL, or an http URL of this machine, which is
// fetched when needed, or from a file, which is read at once.
func NewKeys(urlOrFile string) (*Keys, error) {
	u, err := url.Parse(urlOrFile)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		b, err := os.ReadFile(urlOrFile)
		if err != nil {
			return nil, fmt.Errorf("the key set: %w", err)
		}
		k := &Keys{}
		if err := json.Unmarshal(b, &k.set); err != nil || len(k.set.Keys) == 0 {
			return nil, fmt.Errorf("%s holds no JSON Web Key Set", urlOrFile)
		}
		return k, nil
	}
	if u.Scheme == "http" && !isLoopbackHost(u.Hostname()) {
		return nil, fmt.Errorf("the key set at %s can be replaced on its way: take https", u.Redacted())
	}
	// No redirects: the user says where the keys are.
	client := &http.Client{Timeout: keysTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Keys{url: urlOrFile, client: client}, nil
}

// check verifies the JWT of a push, and returns its claims.
func (k *Keys) check(ctx context.Context, token string, now time.Time, p proof) (proof, error) {
	signed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(signed.Headers) != 1 {
		return proof{}, errSignature
	}
	candidates, err := k.find(ctx, signed.Headers[0].KeyID, now)
	if err != nil {
		return proof{}, err
	}
	var claims struct {
		jwt.Claims
		BodyHash string `json:"request_body_sha256"`
	}
	good := false
	for i := range candidates {
		if good = signed.Claims(candidates[i].Key, &claims) == nil; good {
			break
		}
	}
	switch {
	case !good:
		return proof{}, errSignature
	case claims.IssuedAt == nil || !fresh(claims.IssuedAt.Time(), now),
		claims.ValidateWithLeeway(jwt.Expected{Time: now}, clockSkew) != nil:
		return proof{}, errStale
	}
	if claims.ID != "" {
		p.id = claims.ID
	}
	p.bodyHash = claims.BodyHash
	return p, nil
}

// find returns the keys that may have signed: the one that the signature names, or all
// if it names none.
func (k *Keys) find(ctx context.Context, id string, now time.Time) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.client != nil && now.Sub(k.fetched) > keysAge {
		if err := k.fetch(ctx, now); err != nil && len(k.set.Keys) == 0 {
			return nil, err
		}
	}
	found := k.named(id)
	if len(found) == 0 && k.client != nil && now.Sub(k.fetched) > keysEvery {
		if err := k.fetch(ctx, now); err != nil {
			return nil, err
		}
		found = k.named(id)
	}
	return found, nil
}

func (k *Keys) named(id string) (keys []jose.JSONWebKey) {
	for _, key := range k.set.Keys {
		if (id == "" || key.KeyID == id) && key.IsPublic() && key.Use != "enc" {
			keys = append(keys, key)
		}
	}
	return keys
}

// fetch gets the key set. A failed fetch also counts for keysEvery.
func (k *Keys) fetch(ctx context.Context, now time.Time) error {
	k.fetched = now
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return err
	}
	resp, err := k.client.Do(req)
	if err != nil {
		return fmt.Errorf("the agent's key set: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the agent's key set: HTTP %d", resp.StatusCode)
	}
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxKeySet)).Decode(&set); err != nil {
		return fmt.Errorf("the agent's key set: %w", err)
	}
	k.set = set
	return nil
}

func isLoopbackHost(host string) bool {
	return strings.EqualFold(host, "localhost") || host == "::1" || strings.HasPrefix(host, "127.")
}
