package idp

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const grantDevice = "urn:ietf:params:oauth:grant-type:device_code"

// token is the token endpoint (RFC 6749, §3.2).
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, c, ok := p.form(w, r)
	if !ok {
		return
	}
	switch grant := r.PostForm.Get("grant_type"); grant {
	case "authorization_code":
		code, sum := p.find(authorizationCode, r.PostForm.Get("code"), id), sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if code == nil || code.redirect != r.PostForm.Get("redirect_uri") || base64.RawURLEncoding.EncodeToString(sum[:]) != code.challenge {
			refuse(w, "invalid_grant", "the code is unknown, or too old")
			return
		}
		code.used = true
		p.answer(w, code.family, code.nonce, true)
	case "refresh_token":
		token := p.find(refreshToken, r.PostForm.Get("refresh_token"), id)
		if token == nil {
			refuse(w, "invalid_grant", "the refresh token is unknown, or was used before")
			return
		}
		token.used = true
		p.answer(w, token.family, "", true)
	case "client_credentials":
		if c.Secret == "" {
			refuse(w, "unauthorized_client", "a public client is nobody by itself")
			return
		}
		p.answer(w, p.grants(id, id, r.PostForm.Get("scope")), "", false)
	case grantDevice:
		p.redeemDevice(w, id, r.PostForm.Get("device_code"))
	default:
		refuse(w, "unsupported_grant_type", "no such grant: "+grant)
	}
}

// find finds a code or a refresh token, nil if it does not work (any more). A second use ends
// all that came of the first: it was stolen.
func (p *Provider) find(kind kind, text, client string) *secret {
	s := p.secrets[text]
	if s == nil || s.kind != kind {
		return nil
	}
	if s.used {
		s.ended = true
	}
	if s.over() || s.Client != client {
		return nil
	}
	return s
}

func (p *Provider) redeemDevice(w http.ResponseWriter, client, text string) {
	d := p.secrets[text]
	if d == nil || d.kind != deviceCode || d.Client != client {
		refuse(w, "invalid_grant", "")
		return
	}
	now, why := time.Now(), ""
	switch {
	case d.over():
		why = "expired_token"
	case !d.decided && now.Sub(d.asked) < time.Duration(p.opts.Interval)*time.Second*9/10:
		why = "slow_down"
	case !d.decided:
		why = "authorization_pending"
	case !d.allowed:
		why = "access_denied"
	default:
		delete(p.secrets, text)
		p.answer(w, d.family, "", true)
		return
	}
	d.asked = now
	refuse(w, why, "")
}

// give makes the text of a secret, which works from now on.
func (p *Provider) give(s *secret) string {
	lives := life[s.kind]
	if s.kind == accessToken {
		lives = p.opts.Life
	}
	text := "demo-" + rand.Text()
	s.until, p.secrets[text] = time.Now().Add(lives), s
	return text
}

// answer answers with the tokens of a family.
func (p *Provider) answer(w http.ResponseWriter, f *family, nonce string, refresh bool) {
	answer := map[string]any{"access_token": p.give(&secret{family: f, kind: accessToken}), "token_type": "Bearer",
		"expires_in": int(p.opts.Life.Seconds()), "scope": strings.Join(f.Scopes, " ")}
	if refresh {
		answer["refresh_token"] = p.give(&secret{family: f, kind: refreshToken})
	}
	if slices.Contains(f.Scopes, "openid") {
		now := time.Now()
		answer["id_token"] = p.sign(map[string]any{"iss": p.opts.Issuer, "sub": f.Subject, "aud": f.Client, "email": f.Subject, "nonce": nonce,
			"iat": now.Unix(), "exp": now.Add(p.opts.Life).Unix()})
	}
	reply(w, http.StatusOK, answer)
}

// sign makes a JWT (RFC 7519).
func (p *Provider) sign(claims map[string]any) string {
	key := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		panic(err) // the key is good
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err) // without randomness nothing can go on
	}
	return text
}

// form reads and authenticates a client's form, by header or form. It answers errors itself.
func (p *Provider) form(w http.ResponseWriter, r *http.Request) (id string, c Client, ok bool) {
	_ = r.ParseForm() // without one there is no client
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	c, ok = p.clients[id]
	if ok = ok && subtle.ConstantTimeCompare([]byte(c.Secret), []byte(secret)) == 1; !ok {
		w.Header().Set("WWW-Authenticate", "Basic")
		reply(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": fmt.Sprintf("there is no client %q, or its secret is another one", id)})
	}
	return id, c, ok
}

func (p *Provider) revoke(w http.ResponseWriter, r *http.Request) {
	id, _, ok := p.form(w, r)
	if !ok {
		return
	}
	token := r.PostForm.Get("token")
	switch s := p.secrets[token]; { // of one that is unknown nothing is said (RFC 7009, §2.2)
	case s == nil || s.Client != id:
	case s.kind == refreshToken:
		s.ended = true
	case s.kind == accessToken:
		delete(p.secrets, token)
	}
}
