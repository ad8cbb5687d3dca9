package idp

import (
	"crypto/rand"
	"html"
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

func (p *Provider) devicePage(w http.ResponseWriter, r *http.Request) {
	page(w, http.StatusOK, "Sign in a device", `<p>You are <b>`+User+`</b>. Let the device with this code use the demo agent?</p><form method="post">`+
		`<input name="user_code" value="`+html.EscapeString(r.URL.Query().Get("user_code"))+`" autocomplete="off"> `+
		`<button name="allow" value="yes">Allow</button> <button name="allow" value="no">Deny</button></form>`)
}

func (p *Provider) deviceDecide(w http.ResponseWriter, r *http.Request) {
	asked := strings.ToUpper(strings.TrimSpace(r.PostFormValue("user_code")))
	p.mu.Lock()
	found := false
	for _, d := range p.devices {
		if d.code == asked && !d.decided && p.opts.Now().Before(d.until) {
			d.decided, d.allowed, found = true, r.PostFormValue("allow") == "yes", true
		}
	}
	p.mu.Unlock()
	if !found {
		page(w, http.StatusNotFound, "No", "<p>There is no such code, or not any more.</p>")
		return
	}
	page(w, http.StatusOK, "Done", "<p>The device hears of it. You can close this page.</p>")
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
