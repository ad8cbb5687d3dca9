package transport

import "crypto/tls"

// tlsConfig is the configuration for connections to agents: TLS 1.2 at least. That is
// Go's default, too; it is set here because docs/security.md promises it.
func tlsConfig(given *tls.Config) *tls.Config {
	c := &tls.Config{}
	if given != nil {
		c = given.Clone()
	}
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c
}

// unverified reports whether certificates of agents are not verified.
func unverified(c *tls.Config) bool {
	return c != nil && c.InsecureSkipVerify && c.VerifyConnection == nil && c.VerifyPeerCertificate == nil
}

// hasCertificate reports whether agents are shown one of the user's.
func hasCertificate(c *tls.Config) bool {
	return c != nil && (len(c.Certificates) > 0 || c.GetClientCertificate != nil)
}
