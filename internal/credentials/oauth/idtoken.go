package oauth

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// maxSkew is how far the clocks of this machine and of the provider may differ. Laptops
// that slept are off by seconds, virtual machines by minutes.
const maxSkew = 5 * time.Minute

// Account verifies an ID token and returns its user: an address, a name, or the
// provider's own identifier. The token must be this provider's, for this client and
// this sign-in. It returns "" if there is no token.
func (c *Client) Account(ctx context.Context, p *Provider, t *Token, nonce string) (string, error) {
	if t.ID == "" || p.Keys == "" {
		return "", nil
	}
	ctx = oidc.ClientContext(ctx, c.HTTP)
	config := &oidc.Config{
		ClientID:             c.ID,
		SupportedSigningAlgs: signatureAlgorithms(p.Algorithms),
		// The library does not allow for different clocks: see checkTime.
		SkipExpiryCheck: true,
		// Microsoft's issuer has a placeholder for the tenant, which the token fills in.
		SkipIssuerCheck: strings.Contains(p.Issuer, "{tenantid}"),
	}
	bad := func(format string, args ...any) error {
		return &Error{Provider: Name(p.Issuer), text: "gives an ID token that is not to be trusted: " + fmt.Sprintf(format, args...)}
	}
	id, err := oidc.NewVerifier(p.Issuer, oidc.NewRemoteKeySet(ctx, p.Keys), config).Verify(ctx, t.ID)
	if err != nil {
		return "", bad("%s", quoted(strings.TrimPrefix(err.Error(), "oidc: "), []string{t.ID, t.Access, t.Refresh}))
	}
	var claims struct {
		Email             string `json:"email"`
		PreferredUsername string `json:"preferred_username"`
		Name              string `json:"name"`
		Tenant            string `json:"tid"`
		NotBefore         int64  `json:"nbf"`
		Authorized        string `json:"azp"`
	}
	if err := id.Claims(&claims); err != nil {
		return "", bad("its claims cannot be read")
	}
	if config.SkipIssuerCheck && id.Issuer != strings.ReplaceAll(p.Issuer, "{tenantid}", claims.Tenant) {
		return "", bad("it is of the issuer %s", plain(id.Issuer))
	}
	// OpenID Connect Core, §3.1.3.7: a token for several parties says whom it was given to.
	if claims.Authorized != c.ID && (claims.Authorized != "" || len(id.Audience) > 1) {
		return "", bad("it was given to the client %s", plain(cmp.Or(claims.Authorized, "that it does not name")))
	}
	if id.Nonce != nonce {
		return "", bad("it answers another sign-in")
	}
	if err := checkTime(c.Now(), id.IssuedAt, id.Expiry, time.Unix(claims.NotBefore, 0)); err != nil {
		return "", bad("%v", err)
	}
	return plain(cmp.Or(claims.Email, claims.PreferredUsername, claims.Name, id.Subject)), nil
}

// signatureAlgorithms returns those that prove who has signed: none with a shared secret,
// which both sides have, and not "none".
func signatureAlgorithms(offered []string) (list []string) {
	for _, a := range offered {
		if a != "none" && !strings.HasPrefix(a, "HS") {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		list = []string{oidc.RS256, oidc.ES256}
	}
	return list
}

// checkTime checks that a token is good now, by clocks that may differ.
func checkTime(now, issued, expiry, notBefore time.Time) error {
	if now.Add(maxSkew).Before(issued) || now.Add(maxSkew).Before(notBefore) || now.Add(-maxSkew).After(expiry) {
		return fmt.Errorf("it is not good at this time (%v after it was given): the clocks of this machine and of the provider differ, or the provider sends old tokens", now.Sub(issued).Round(time.Second))
	}
	return nil
}
