package webhook

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
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

// A proof is what a request tells of its sender beside the token.
type proof struct {
	id       string // unique for each push, if the agent gives one
	bodyHash string // hexadecimal SHA-256 of the body, "" if not stated
}

// authenticate checks a request's sender: one of the headers must carry the token.
// Agents use the header that they know, and some leave the token out where they have
// credentials for Authorization.
//
// With an agent that signs its pushes, the signature must be valid. That agent may
// leave the token out, but not send a wrong one.
func (r *Receiver) authenticate(req *http.Request, token string) (proof, error) {
	bearer, _ := bearerOf(req.Header)
	good, sent := 0, false
	for _, h := range tokenHeaders {
		for _, v := range req.Header.Values(h) {
			good, sent = good|equal(v, token), true
		}
	}
	if signs := r.opts.Keys != nil; !signs {
		good |= equal(bearer, token)
	} else if !sent {
		good = 1 // the path is as secret as the token
	}
	if good != 1 {
		return proof{}, errToken
	}
	p := proof{id: req.Header.Get("Webhook-Id")}
	p.id = cmp.Or(p.id, req.Header.Get("Idempotency-Key"))
	if sent := req.Header.Get("Webhook-Timestamp"); sent != "" {
		seconds, err := strconv.ParseInt(sent, 10, 64)
		if err != nil || !r.fresh(time.Unix(seconds, 0)) {
			return proof{}, errStale
		}
	}
	if r.opts.Keys == nil {
		return p, nil
	}
	return r.opts.Keys.check(req.Context(), bearer, r.opts.Now(), p)
}

func (r *Receiver) fresh(sent time.Time) bool { return fresh(sent, r.opts.Now()) }

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

func bearerOf(h http.Header) (token string, ok bool) {
	scheme, token, ok := strings.Cut(h.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

// covers reports whether a signature is for this body. The A2A samples hash the JSON
// without blanks, whatever they send.
func (p proof) covers(body []byte) bool {
	if p.bodyHash == "" {
		return true
	}
	if hashed(body) == strings.ToLower(p.bodyHash) {
		return true
	}
	var compact bytes.Buffer
	return json.Compact(&compact, body) == nil && hashed(compact.Bytes()) == strings.ToLower(p.bodyHash)
}

func hashed(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
