package idp

import (
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// authorize redirects at once: "allow=no" in the query is what the user says. It shows an error of
// the client or its redirect itself: neither a code nor an error goes to an unregistered address.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	client, known := p.clients[q.Get("client_id")]
	var answer url.Values
	switch fails := func(code, why string) url.Values { return url.Values{"error": {code}, "error_description": {why}} }; {
	case !known:
		http.Error(w, unknownClient(q.Get("client_id")), http.StatusBadRequest)
		return
	case !slices.ContainsFunc(client.Redirects, func(known string) bool { return sameRedirect(known, q.Get("redirect_uri")) }):
		http.Error(w, "this client does not come back to "+q.Get("redirect_uri"), http.StatusBadRequest)
		return
	case q.Get("response_type") != "code", q.Get("code_challenge") == "", q.Get("code_challenge_method") != "S256":
		answer = fails("invalid_request", "response_type is not code, or PKCE with S256 is missing")
	case q.Get("allow") == "no":
		answer = fails("access_denied", "the user said no")
	default:
		given := rand.Text()
		p.codes[given] = &code{family: &family{Grant: Grant{Subject: User, Client: q.Get("client_id"), Scopes: p.granted(q.Get("scope"))}},
			redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), nonce: q.Get("nonce"), until: time.Now().Add(codeLife)}
		answer = url.Values{"code": {given}}
	}
	answer.Set("iss", p.opts.Issuer)
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusSeeOther)
}

// sameRedirect compares exactly, except for the port of a loopback address.
func sameRedirect(known, given string) bool {
	a, err := url.Parse(known)
	b, err2 := url.Parse(given)
	if err != nil || err2 != nil {
		return false
	}
	if ip := net.ParseIP(b.Hostname()); ip != nil && ip.IsLoopback() && a.Scheme == "http" && a.Hostname() == b.Hostname() {
		a.Host = b.Host
	}
	return a.String() == b.String()
}

func (p *Provider) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Redirects []string `json:"redirect_uris"`
		Auth      string   `json:"token_endpoint_auth_method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata", "the body is not JSON")
		return
	}
	id, c := rand.Text(), Client{Redirects: asked.Redirects}
	answer := map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": "none"}
	if asked.Auth != "none" {
		c.Secret = rand.Text()
		answer["client_secret"], answer["token_endpoint_auth_method"] = c.Secret, "client_secret_basic"
	}
	p.clients[id] = c
	reply(w, http.StatusCreated, answer)
}

func (p *Provider) deviceAuthorization(w http.ResponseWriter, r *http.Request) {
	id, _, ok := p.form(w, r)
	if !ok {
		return
	}
	secret, text := rand.Text(), rand.Text()
	d := &device{family: &family{Grant: Grant{Subject: User, Client: id, Scopes: p.granted(r.PostForm.Get("scope"))}},
		code: text[:4] + "-" + text[4:8], until: time.Now().Add(deviceLife)}
	p.devices[secret] = d
	reply(w, http.StatusOK, map[string]any{
		"device_code": secret, "user_code": d.code, "verification_uri": p.opts.Issuer + "/device",
		"verification_uri_complete": p.opts.Issuer + "/device?user_code=" + d.code,
		"expires_in":                int(deviceLife / time.Second), "interval": p.opts.Interval,
	})
}

// deviceDecide takes the code, and what the user says, at once.
func (p *Provider) deviceDecide(w http.ResponseWriter, r *http.Request) {
	asked := strings.ToUpper(strings.TrimSpace(r.FormValue("user_code")))
	for _, d := range p.devices {
		if d.code == asked && !d.decided && time.Now().Before(d.until) {
			d.decided, d.allowed = true, r.FormValue("allow") != "no"
			return
		}
	}
	http.Error(w, "there is no such code, or not any more", http.StatusNotFound)
}

func (p *Provider) redeemDevice(w http.ResponseWriter, client, secret string) {
	d, ok := p.devices[secret]
	if !ok || d.Client != client {
		refuse(w, http.StatusBadRequest, "invalid_grant", "")
		return
	}
	now, why := time.Now(), ""
	switch {
	case !now.Before(d.until):
		why = "expired_token"
	case !d.decided && now.Sub(d.asked) < time.Duration(p.opts.Interval)*time.Second*9/10:
		why = "slow_down"
	case !d.decided:
		why = "authorization_pending"
	case !d.allowed:
		why = "access_denied"
	default:
		delete(p.devices, secret)
		p.give(w, d.family, "", true)
		return
	}
	d.asked = now
	refuse(w, http.StatusBadRequest, why, "")
}
