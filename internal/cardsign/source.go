package cardsign

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// fetchTimeout bounds the fetch of a JWKS: a file of some kB.
const fetchTimeout = 15 * time.Second

// A source is a place of keys that the user has named.
type source struct {
	url  *url.URL // of a JWKS
	keys []key    // of a file
	pin  string   // only the key with this thumbprint
	name string   // for people
}

func parseSource(s string) (*source, error) {
	src := &source{}
	if at := strings.LastIndexByte(s, '#'); at >= 0 {
		if pin, ok := parsePin(s[at+1:]); ok {
			s, src.pin = s[:at], pin
		}
	}
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" {
			return nil, errors.New("it is no URL")
		}
		src.url, src.name = u, safe.Shown(u)
		return src, secure(u)
	}
	f, err := os.Open(s)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w (a thumbprint stands behind a file or URL: public.pem#%s…)", err, pinPrefix)
	}
	defer f.Close()
	b, err := readKeys(f)
	if err != nil {
		return nil, err
	}
	src.name = s
	if src.keys, err = parseKeys(b, s); err != nil {
		return nil, err
	}
	if src.keys = src.pinned(src.keys); len(src.keys) == 0 {
		return nil, fmt.Errorf("it has no key with the thumbprint %s", src.pin)
	}
	return src, nil
}

func parsePin(s string) (string, bool) {
	digest, ok := strings.CutPrefix(s, pinPrefix)
	sum, err := base64.RawURLEncoding.DecodeString(digest)
	return s, ok && err == nil && len(sum) == 32
}

// secure refuses URLs whose keys anybody on the way could replace.
func secure(u *url.URL) error {
	switch {
	case u.Scheme == "https", u.Scheme == "http" && safe.ThisMachine(u.Host):
		return nil
	case u.Scheme == "http":
		return errors.New("keys are not taken over http, where anybody on the way can replace them: use https")
	}
	return errors.New("it is no https URL")
}

// pinned keeps the keys that the source's thumbprint allows.
func (s *source) pinned(keys []key) []key {
	if s.pin == "" {
		return keys
	}
	return slices.DeleteFunc(keys, func(k key) bool { return k.thumb != s.pin })
}

// all returns the source's keys. It fetches them each time: a card is checked when it
// is fetched, and a withdrawn key must not count.
func (s *source) all(ctx context.Context, client *http.Client) ([]key, error) {
	if s.url == nil {
		return s.keys, nil
	}
	keys, err := fetchKeys(ctx, client, s.url)
	if err != nil {
		return nil, fmt.Errorf("the keys at %s: %w", s.name, err)
	}
	return s.pinned(keys), nil
}

// fetchKeys gets a JWKS. It does not follow redirects: the user has named the place.
func fetchKeys(ctx context.Context, client *http.Client, u *url.URL) ([]key, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := own.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return nil, failed.Err // without the URL, which may hold a secret
	} else if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 3 {
		return nil, errors.New("they are elsewhere, and a redirect is not followed: name that URL, if you trust it")
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", resp.Status)
	}
	b, err := readKeys(resp.Body)
	if err != nil {
		return nil, err
	}
	return parseKeys(b, safe.Shown(u))
}

func readKeys(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxKeyFile+1))
	if err == nil && len(b) > maxKeyFile {
		err = fmt.Errorf("it is larger than %d MiB", maxKeyFile>>20)
	}
	return b, err
}

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
