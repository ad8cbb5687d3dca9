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
	if !p.legal(w, r, q) {
		return
	}
	if q.Get("allow") == "no" {
		p.back(w, r, q, url.Values{"error": {"access_denied"}, "error_description": {"the user said no"}})
		return
	}
	given := rand.Text()
	p.mu.Lock()
	p.codes[given] = &code{
		family:   &family{Grant: Grant{Subject: User, Client: q.Get("client_id"), Scopes: p.granted(q.Get("scope"))}},
		redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), nonce: q.Get("nonce"), until: p.opts.Now().Add(codeLife),
	}
	p.mu.Unlock()
	p.back(w, r, q, url.Values{"code": {given}})
}

// legal reports whether a request may be answered, and refuses it if not.
func (p *Provider) legal(w http.ResponseWriter, r *http.Request, q url.Values) bool {
	if why := p.wrongClient(q); why != "" {
		http.Error(w, why, http.StatusBadRequest)
		return false
	}
	code, why := wrongRequest(q)
	if code != "" {
		p.back(w, r, q, url.Values{"error": {code}, "error_description": {why}})
	}
	return code == ""
}

func (p *Provider) back(w http.ResponseWriter, r *http.Request, q, answer url.Values) {
	answer.Set("iss", p.opts.Issuer)
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusSeeOther)
}

func (p *Provider) wrongClient(q url.Values) string {
	p.mu.Lock()
	c, ok := p.clients[q.Get("client_id")]
	p.mu.Unlock()
	if !ok {
		return unknownClient(q.Get("client_id"))
	}
	if !slices.ContainsFunc(c.Redirects, func(known string) bool { return sameRedirect(known, q.Get("redirect_uri")) }) {
		return "this client does not come back to " + q.Get("redirect_uri")
	}
	return ""
}

func wrongRequest(q url.Values) (code, why string) {
	switch {
	case q.Get("response_type") != "code":
		return "unsupported_response_type", "response_type is not code"
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		return "invalid_request", "PKCE with S256 is missing"
	}
	return "", ""
}

// sameRedirect compares exactly, except for the port of a loopback address.
func sameRedirect(known, given string) bool {
	if known == given {
		return true
	}
	a, err := url.Parse(known)
	b, err2 := url.Parse(given)
	if err != nil || err2 != nil || a.Scheme != "http" || b.Scheme != "http" || a.Path != b.Path || a.Hostname() != b.Hostname() || b.RawQuery != "" || b.Fragment != "" {
		return false
	}
	ip := net.ParseIP(b.Hostname())
	return ip != nil && ip.IsLoopback()
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
	for _, redirect := range asked.Redirects {
		if u, err := url.Parse(redirect); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" {
			refuse(w, http.StatusBadRequest, "invalid_redirect_uri", "a redirect is no URL")
			return
		}
	}
	id, c := rand.Text(), Client{Redirects: asked.Redirects}
	answer := map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": "none"}
	if asked.Auth != "none" {
		c.Secret = rand.Text()
		answer["client_secret"], answer["client_secret_expires_at"], answer["token_endpoint_auth_method"] = c.Secret, 0, "client_secret_basic"
	}
	p.mu.Lock()
	p.clients[id] = c
	p.mu.Unlock()
	reply(w, http.StatusCreated, answer)
}

func (p *Provider) deviceAuthorization(w http.ResponseWriter, r *http.Request) {
	id, _, ok := p.form(w, r)
	if !ok {
		return
	}
	secret, text := rand.Text(), rand.Text()
	d := &device{family: &family{Grant: Grant{Subject: User, Client: id, Scopes: p.granted(r.PostForm.Get("scope"))}},
		code: text[:4] + "-" + text[4:8], until: p.opts.Now().Add(deviceLife)}
	p.mu.Lock()
	p.devices[secret] = d
	p.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{
		"device_code": secret, "user_code": d.code, "verification_uri": p.opts.Issuer + "/device",
		"verification_uri_complete": p.opts.Issuer + "/device?user_code=" + d.code,
		"expires_in":                int(deviceLife / time.Second), "interval": p.opts.Interval,
	})
}

// deviceDecide takes the code, and what the user says, at once.
func (p *Provider) deviceDecide(w http.ResponseWriter, r *http.Request) {
	asked := strings.ToUpper(strings.TrimSpace(r.FormValue("user_code")))
	p.mu.Lock()
	found := false
	for _, d := range p.devices {
		if d.code == asked && !d.decided && p.opts.Now().Before(d.until) {
			d.decided, d.allowed, found = true, r.FormValue("allow") != "no", true
		}
	}
	p.mu.Unlock()
	if !found {
		http.Error(w, "there is no such code, or not any more", http.StatusNotFound)
		return
	}
}

func (p *Provider) redeemDevice(w http.ResponseWriter, client, secret string) {
	now := p.opts.Now()
	p.mu.Lock()
	d, ok := p.devices[secret]
	why := ""
	switch {
	case !ok || d.Client != client:
		why = "invalid_grant"
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
	}
	if ok {
		d.asked = now
	}
	p.mu.Unlock()
	if why != "" {
		refuse(w, http.StatusBadRequest, why, "")
		return
	}
	p.give(w, d.family, "", true)
}
