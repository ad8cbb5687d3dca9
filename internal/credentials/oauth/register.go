package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// Register registers a client at a provider (RFC 7591). redirects are empty for a
// client that only uses device codes.
func Register(ctx context.Context, hc *http.Client, p *Provider, redirects, scopes []string) (id, secret string, err error) {
	name := Name(p.Issuer)
	if p.Registration == "" {
		return "", "", &Error{Provider: name, text: "knows no a2astdio, and takes no registration: --oauth-client-id says as which client to sign in; whoever runs the agent or the provider has one for you"}
	}
	grants := []string{"refresh_token"}
	var responses []string
	if len(redirects) > 0 {
		grants, responses = append(grants, "authorization_code"), []string{"code"}
	}
	if p.Device != "" {
		grants = append(grants, "urn:ietf:params:oauth:grant-type:device_code")
	}
	request, err := json.Marshal(map[string]any{
		"client_name":                "a2astdio",
		"application_type":           "native",
		"redirect_uris":              redirects,
		"grant_types":                grants,
		"response_types":             responses,
		"token_endpoint_auth_method": "none",
		"scope":                      strings.Join(scopes, " "),
	})
	if err != nil {
		return "", "", err
	}
	body, err := post(ctx, hc, name, "to register a2astdio (--oauth-client-id names a client that it knows)", p.Registration, "application/json", bytes.NewReader(request), nil)
	if err != nil {
		return "", "", err
	}
	var answer struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.ID == "" {
		return "", "", &Error{Provider: name, text: "answers a registration without a client: --oauth-client-id names one that it knows"}
	}
	return answer.ID, answer.Secret, nil
}

// Revoke revokes a token (RFC 7009): the refresh token if there is one, and so all that
// was got with it. A provider without revocation is no error.
func (c *Client) Revoke(ctx context.Context, p *Provider, t *Token) error {
	token, hint := t.Refresh, "refresh_token"
	if token == "" {
		token, hint = t.Access, "access_token"
	}
	if p.Revocation == "" || token == "" {
		return nil
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}}
	auth := func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret)) }
	if c.Secret == "" {
		form.Set("client_id", c.ID)
		auth = nil
	}
	_, err := post(ctx, c.HTTP, Name(p.Issuer), "to take the sign-in back", p.Revocation, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), auth, append(c.secrets(), token)...)
	return err
}
