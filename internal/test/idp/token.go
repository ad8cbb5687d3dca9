package idp

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
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
		p.redeem(w, id, r.PostForm)
	case "refresh_token":
		p.renew(w, id, r.PostForm.Get("refresh_token"))
	case "client_credentials":
		if c.Secret == "" {
			refuse(w, http.StatusBadRequest, "unauthorized_client", "a public client is nobody by itself")
			return
		}
		f := &family{Grant: Grant{Subject: id, Client: id, Scopes: p.granted(r.PostForm.Get("scope"))}}
		p.give(w, f, "", false)
	case grantDevice:
		p.redeemDevice(w, id, r.PostForm.Get("device_code"))
	default:
		refuse(w, http.StatusBadRequest, "unsupported_grant_type", "no such grant: "+grant)
	}
}

// client identifies the client, by header or form.
func (p *Provider) client(r *http.Request) (string, Client, bool) {
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	c, ok := p.clients[id]
	return id, c, ok && subtle.ConstantTimeCompare([]byte(c.Secret), []byte(secret)) == 1
}

func (p *Provider) redeem(w http.ResponseWriter, client string, form url.Values) {
	c, ok := p.codes[form.Get("code")]
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !ok || !time.Now().Before(c.until) || c.used || c.Client != client || c.redirect != form.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge {
		if ok && c.used {
			c.ended = true
		}
		refuse(w, http.StatusBadRequest, "invalid_grant", "the code is unknown, or too old")
		return
	}
	c.used = true
	p.give(w, c.family, c.nonce, true)
}

func (p *Provider) renew(w http.ResponseWriter, client, token string) {
	if old := p.spent[token]; old != nil {
		// A stolen code or token: end all of the family.
		old.ended = true
	}
	f, ok := p.refresh[token]
	if !ok || f.ended || f.Client != client {
		refuse(w, http.StatusBadRequest, "invalid_grant", "the refresh token is unknown, or was used before")
		return
	}
	delete(p.refresh, token)
	p.spent[token] = f
	p.give(w, f, "", true)
}

func (p *Provider) give(w http.ResponseWriter, f *family, nonce string, refresh bool) {
	now := time.Now()
	token := "demo-" + rand.Text()
	answer := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(p.opts.Life.Seconds()), "scope": strings.Join(f.Scopes, " ")}
	p.access[token] = access{f, now.Add(p.opts.Life)}
	if refresh {
		next := "demo-" + rand.Text()
		p.refresh[next] = f
		answer["refresh_token"] = next
	}
	if slices.Contains(f.Scopes, "openid") {
		answer["id_token"] = p.sign(map[string]any{"iss": p.opts.Issuer, "sub": f.Subject, "aud": f.Client, "email": f.Subject, "nonce": nonce,
			"iat": now.Unix(), "exp": now.Add(p.opts.Life).Unix()})
	}
	reply(w, http.StatusOK, answer)
}

// sign makes a JWT (RFC 7519) with ES256: its signature is both numbers, 32 bytes each.
func (p *Provider) sign(claims map[string]any) string {
	body, _ := json.Marshal(claims) // texts and numbers always encode
	b64 := base64.RawURLEncoding.EncodeToString
	text := b64([]byte(`{"alg":"ES256","kid":"1","typ":"JWT"}`)) + "." + b64(body)
	sum := sha256.Sum256([]byte(text))
	x, y, err := ecdsa.Sign(rand.Reader, p.key, sum[:])
	if err != nil {
		panic(err) // without randomness nothing can go on
	}
	signature := make([]byte, 64)
	x.FillBytes(signature[:32])
	y.FillBytes(signature[32:])
	return text + "." + b64(signature)
}

// form reads and authenticates a client's form. It answers errors itself.
func (p *Provider) form(w http.ResponseWriter, r *http.Request) (id string, c Client, ok bool) {
	_ = r.ParseForm() // without one there is no client
	if id, c, ok = p.client(r); !ok {
		w.Header().Set("WWW-Authenticate", "Basic")
		refuse(w, http.StatusUnauthorized, "invalid_client", unknownClient(id)+", or its secret is another one")
	}
	return id, c, ok
}

func (p *Provider) revoke(w http.ResponseWriter, r *http.Request) {
	id, _, ok := p.form(w, r)
	if !ok {
		return
	}
	token := r.PostForm.Get("token")
	if f := p.refresh[token]; f != nil && f.Client == id {
		f.ended = true
	}
	if a, ok := p.access[token]; ok && a.Client == id {
		delete(p.access, token)
	}
	w.WriteHeader(http.StatusOK) // also for one that is unknown (RFC 7009, §2.2)
}
