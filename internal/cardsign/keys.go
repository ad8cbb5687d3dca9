package cardsign

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// keysAge is when keys at a URL are fetched again, so that a withdrawn one ends.
	keysAge = time.Hour
	// keysPause is how soon they may be fetched again for a key that is not among them.
	keysPause = 10 * time.Second
)

// Keys are public keys that the user names, for what an agent signs beside its card. They
// are safe for concurrent use.
type Keys struct {
	source *source
	client *http.Client

	mu      sync.Mutex // held while they are fetched: others wait for that
	keys    []key
	fetched time.Time
}

// NewKeys reads one of the places that [NewVerifier] takes. client is as for that.
func NewKeys(place string, client *http.Client) (*Keys, error) {
	s, err := parseSource(place)
	if err != nil {
		return nil, err
	}
	return &Keys{source: s, client: cmp.Or(client, http.DefaultClient), keys: s.keys}, nil
}

// Verify checks a signature in the compact form, and returns what is signed. A key that
// says which algorithm it is for is used for no other (RFC 8725, §3.1).
func (k *Keys) Verify(ctx context.Context, compact string, now time.Time) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(compact, algorithms())
	if err != nil {
		return nil, err
	}
	for _, age := range []time.Duration{keysAge, keysPause} {
		keys, err := k.current(ctx, now, age)
		if err != nil {
			return nil, err
		}
		for _, key := range keys { // of any ID, as for a card
			if !key.fits(jose.SignatureAlgorithm(jws.Signatures[0].Header.Algorithm)) {
				continue
			}
			if payload, err := jws.Verify(key.jwk.Key); err == nil {
				return payload, nil
			}
		}
	}
	return nil, errors.New("none of its keys has made it")
}

// current returns the keys, fetched at most this long ago.
func (k *Keys) current(ctx context.Context, now time.Time, age time.Duration) ([]key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.source.url == nil || now.Sub(k.fetched) < age {
		return k.keys, nil
	}
	keys, err := k.source.all(ctx, k.client)
	if err == nil {
		k.keys, k.fetched = keys, now
	}
	return keys, err
}
