package idp

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"
)

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
