package credentials

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// TLS tells how to trust an agent, and which certificate to show. The zero value is the
// system's authorities, and no certificate.
type TLS struct {
	// CAFile holds authorities' certificates, in PEM, beside the system's.
	CAFile string
	// CertFile and KeyFile are a client certificate and its key, in PEM. Without KeyFile,
	// CertFile has both.
	CertFile, KeyFile string
	// Insecure skips the verification of certificates.
	Insecure bool
}

// Config makes a TLS configuration; nil if nothing is set. It reports faults in files
// at once, and rereads a certificate that is replaced later.
func (t TLS) Config() (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.Insecure}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			return nil, fmt.Errorf("--ca-file: the system's authorities: %w", err)
		}
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--ca-file %s holds no certificate in PEM (-----BEGIN CERTIFICATE-----)", t.CAFile)
		}
	}
	switch {
	case t.CertFile == "" && t.KeyFile != "":
		return nil, errors.New("--client-key is of no use without --client-cert")
	case t.CertFile != "":
		if _, err := t.certificate(nil); err != nil {
			return nil, err
		}
		c.GetClientCertificate = t.certificate
	}
	return c, nil
}

// certificate reads the files at each handshake: some certificates live only for hours.
func (t TLS) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	keyFile := cmp.Or(t.KeyFile, t.CertFile)
	certPEM, err := os.ReadFile(t.CertFile)
	if err != nil {
		return nil, fmt.Errorf("--client-cert: %w", err)
	}
	keyPEM, err := safe.ReadPrivate(keyFile, maxSecret)
	if err != nil {
		return nil, fmt.Errorf("--client-key: %w", err)
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("--client-cert %s and --client-key %s are not a certificate and its key in PEM (a key that has a password must be without it): %v", t.CertFile, keyFile, err)
	}
	return &cert, nil
}
