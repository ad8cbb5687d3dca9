package oauth

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// A Client asks a provider for tokens.
type Client struct {
	ID, Secret string
	// Params are added to the requests of a sign-in and of the token endpoint: some
	// providers want more than the protocol, such as an audience.
	Params url.Values
	HTTP   *http.Client
	// Now is the clock.
	Now func() time.Time
}

// A Token is a provider's answer.
type Token struct {
	Access, Refresh string
	// Expiry is zero if the provider does not tell.
	Expiry, Obtained time.Time
	// Scopes are the granted ones, nil if the provider does not tell: then the requested
	// ones were granted.
	Scopes []string
	ID     string // the ID token, unverified
}

// CheckParams refuses the protocol's own parameters.
func CheckParams(params url.Values) error {
	reserved := []string{"client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "device_code",
		"grant_type", "nonce", "redirect_uri", "refresh_token", "response_mode", "response_type", "scope", "state"}
	for name := range params {
		if slices.Contains(reserved, strings.ToLower(name)) {
			return fmt.Errorf("the parameter %q belongs to OAuth itself and cannot be set", plain(name))
		}
	}
	return nil
}

// style returns how the client authenticates. It is never tried out: a repeated request
// would use its code, or its refresh token, twice.
func (c *Client) style(p *Provider) oauth2.AuthStyle {
	if c.Secret == "" || slices.Contains(p.ClientAuth, "client_secret_post") && !slices.Contains(p.ClientAuth, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

func (c *Client) config(p *Provider, scopes []string, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret, Scopes: scopes, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: p.Authorization, DeviceAuthURL: p.Device, TokenURL: p.Token, AuthStyle: c.style(p)},
	}
}

func (c *Client) options() (list []oauth2.AuthCodeOption) {
	for name, values := range c.Params {
		for _, value := range values {
			list = append(list, oauth2.SetAuthURLParam(name, value))
		}
	}
	return list
}

func (c *Client) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.HTTP)
}

// Renew gets a new token for a refresh token. The result keeps the old refresh token if
// the provider sends no new one.
func (c *Client) Renew(ctx context.Context, p *Provider, refresh string) (*Token, error) {
	began := c.Now()
	tok, err := c.config(p, nil, "").TokenSource(c.context(ctx), &oauth2.Token{RefreshToken: refresh}).Token()
	if err != nil {
		return nil, c.explain(ctx, p, "to renew the sign-in", err, refresh)
	}
	return c.token(p, tok, began)
}

// ClientCredentials gets a token for the client itself, by the grant of this name.
func (c *Client) ClientCredentials(ctx context.Context, p *Provider, scopes []string) (*Token, error) {
	began := c.Now()
	config := clientcredentials.Config{ClientID: c.ID, ClientSecret: c.Secret, TokenURL: p.Token, Scopes: scopes, EndpointParams: c.Params, AuthStyle: c.style(p)}
	tok, err := config.Token(c.context(ctx))
	if err != nil {
		return nil, c.explain(ctx, p, "a token for the client", err)
	}
	return c.token(p, tok, began)
}

// token converts the library's token. The expiry counts from the request, by our clock,
// whatever the provider's clock is.
func (c *Client) token(p *Provider, tok *oauth2.Token, began time.Time) (*Token, error) {
	if t := tok.Type(); !strings.EqualFold(t, "Bearer") {
		return nil, &Error{Provider: Name(p.Issuer), text: fmt.Sprintf("gives tokens of the type %q, which a2astdio cannot show", plain(t))}
	}
	if strings.ContainsFunc(tok.AccessToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, &Error{Provider: Name(p.Issuer), text: "gives a token that cannot stand in a header"}
	}
	t := &Token{Access: tok.AccessToken, Refresh: tok.RefreshToken, Obtained: began}
	switch {
	case tok.ExpiresIn > 0:
		t.Expiry = began.Add(time.Duration(tok.ExpiresIn) * time.Second)
	case !tok.Expiry.IsZero():
		t.Expiry = began.Add(time.Until(tok.Expiry))
	}
	if scope, ok := tok.Extra("scope").(string); ok {
		t.Scopes = strings.Fields(scope)
	}
	t.ID, _ = tok.Extra("id_token").(string)
	return t, nil
}

// secrets lists what a provider may quote of the client's: the secret, and what it is in the
// header of Basic authentication (RFC 6749, §2.3.1).
func (c *Client) secrets() []string {
	if c.Secret == "" {
		return nil
	}
	basic := []byte(url.QueryEscape(c.ID) + ":" + url.QueryEscape(c.Secret))
	return []string{c.Secret, url.QueryEscape(c.Secret), base64.StdEncoding.EncodeToString(basic)}
}

// explain puts an error into one sentence. The library's own text has the whole answer
// in it.
func (c *Client) explain(ctx context.Context, p *Provider, what string, err error, secrets ...string) error {
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	secrets = append(secrets, c.secrets()...)
	var answer *oauth2.RetrieveError
	if errors.As(err, &answer) {
		e := refused(Name(p.Issuer), what, answer.Response, answer.ErrorCode, answer.ErrorDescription, secrets...)
		switch answer.ErrorCode {
		case "invalid_client", "unauthorized_client":
			e.text += ": --oauth-client-id and its secret say who asks"
		case "invalid_scope":
			e.text += ": --oauth-scope says what is asked for"
		case "invalid_target":
			e.text += ": what is asked for is not known there"
		}
		return e
	}
	if errors.As(err, new(*url.Error)) {
		return unreached(Name(p.Issuer), what, err)
	}
	// The library tells what it could not read, without the answer.
	return &Error{Provider: Name(p.Issuer), text: "gives an answer that cannot be used: " + quoted(strings.TrimPrefix(err.Error(), "oauth2: "), secrets)}
}

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
