package webhook

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"
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

var (
	errToken = errors.New("no token of this address")
	errStale = errors.New("it was sent too long ago, or the clocks differ")
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
		return claims{}, errToken
	}
	if r.opts.Keys != nil {
		c, err = r.check(req.Context(), bearer)
		if err == nil && !c.meant(strings.TrimSuffix(r.opts.Base, "/"), x.name, r.opts.Issuers(req.Context())) {
			err = errMeant
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
