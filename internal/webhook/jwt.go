package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2astdio/a2astdio/internal/safe"
)

var (
	errSignature = errors.New("its JWT is missing, or not signed by the agent")
	errMeant     = errors.New("its JWT was made for another address, or by another agent")
	errBody      = errors.New("its JWT was signed for another body")
)

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
