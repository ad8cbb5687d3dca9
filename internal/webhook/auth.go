package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// Headers that carry a configuration's token. A2A 0.3 (§9.5) names the first; agents of
// 1.x, which names none, send the second.
var tokenHeaders = [...]string{"X-A2A-Notification-Token", "A2A-Notification-Token"}

const (
	// replayWindow is how old a signed push may be. The A2A samples use it, too.
	replayWindow = 5 * time.Minute
	// clockSkew is how far an agent's clock may be ahead of ours.
	clockSkew = time.Minute
)

// authenticate checks a request's sender: one of the headers must carry the token.
// Agents use the header that they know, and some leave the token out where they have
// credentials for Authorization.
//
// With an agent that signs its pushes, the signature must be valid. That agent may
// leave the token out, but not send a wrong one: the path is as secret as the token.
func (r *Receiver) authenticate(req *http.Request, x *box) (c claims, err error) {
	bearer := bearerOf(req.Header)
	good, sent := 0, false
	for _, h := range tokenHeaders {
		for _, v := range req.Header.Values(h) {
			good, sent = good|equal(v, x.token), true
		}
	}
	if r.opts.Keys == nil {
		good |= equal(bearer, x.token)
	} else if !sent {
		good = 1
	}
	if good != 1 {
		return claims{}, errors.New("no token of this address")
	}
	if r.opts.Keys != nil {
		c, err = r.check(req.Context(), bearer)
		if err == nil && !c.meant(r.base, x.name, r.opts.Issuers(req.Context())) {
			err = errors.New("its JWT was made for another address, or by another agent")
		}
	}
	c.ID = cmp.Or(c.ID, req.Header.Get("Webhook-Id"), req.Header.Get("Idempotency-Key"))
	return c, err
}

func fresh(sent, now time.Time) bool {
	age := now.Sub(sent)
	return age < replayWindow && age > -clockSkew
}

// equal compares in constant time: it depends neither on the first difference nor on
// the lengths.
func equal(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}

func bearerOf(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// claims are what a JWT says, and what a request's headers say in its place.
type claims struct {
	jwt.Claims
	BodyHash string `json:"request_body_sha256"` // hexadecimal
}

// check verifies the JWT of a push, and returns its claims. The keys are named by the user,
// so a push that they sign is the agent's, even if its JWT says nothing of whom it is for.
func (r *Receiver) check(ctx context.Context, token string) (c claims, err error) {
	now := time.Now()
	payload, err := r.opts.Keys.Verify(ctx, token, now)
	if err == nil {
		err = json.Unmarshal(payload, &c)
	}
	switch {
	case err != nil:
		return c, fmt.Errorf("its JWT is missing, or not signed by the agent: %w", err)
	case c.IssuedAt == nil || !fresh(c.IssuedAt.Time(), now), c.ValidateWithLeeway(jwt.Expected{Time: now}, clockSkew) != nil:
		return c, errors.New("it was sent too long ago, or the clocks differ")
	}
	return c, nil
}

// meant reports whether a JWT is for this address, and of this agent, where it says so
// (RFC 8725, §3.8 and §3.9): the agent may sign for other services with the same key.
func (c *claims) meant(base, name string, issuers []string) bool {
	isFor := func(audience string) bool { return audience == base+"/"+name || isOrigin(audience, base) }
	isOf := func(agent string) bool { return isOrigin(c.Issuer, agent) }
	return (len(c.Audience) == 0 || slices.ContainsFunc(c.Audience, isFor)) && (c.Issuer == "" || slices.ContainsFunc(issuers, isOf))
}

// isOrigin reports whether a URL is the origin of another, and nothing more.
func isOrigin(origin, of string) bool {
	u, err := url.Parse(origin)
	other, otherErr := url.Parse(of)
	return err == nil && otherErr == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && safe.SameOrigin(u, other)
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
