package credentials

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"

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
		cert := &certificate{files: t}
		if _, err := cert.get(nil); err != nil {
			return nil, err
		}
		c.GetClientCertificate = cert.get
	}
	return c, nil
}

// A certificate is read again when its file has changed: some live only for hours.
type certificate struct {
	files TLS

	mu    sync.Mutex
	stamp string
	cert  *tls.Certificate
}

func (c *certificate) get(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keyFile := cmp.Or(c.files.KeyFile, c.files.CertFile)
	info, err := os.Stat(c.files.CertFile)
	if err != nil {
		if c.cert != nil {
			return c.cert, nil // it is being replaced
		}
		return nil, fmt.Errorf("--client-cert: %w", err)
	}
	stamp := fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	if c.cert != nil && stamp == c.stamp {
		return c.cert, nil
	}
	certPEM, err := os.ReadFile(c.files.CertFile)
	if err != nil {
		return nil, fmt.Errorf("--client-cert: %w", err)
	}
	keyPEM, err := safe.ReadPrivate(keyFile, maxSecret)
	if err != nil {
		return nil, fmt.Errorf("--client-key: %w", err)
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		if c.cert != nil {
			return c.cert, nil // one file is new, the other not yet
		}
		return nil, fmt.Errorf("--client-cert %s and --client-key %s are not a certificate and its key in PEM (a key that has a password must be without it): %v", c.files.CertFile, keyFile, err)
	}
	c.cert, c.stamp = &cert, stamp
	return c.cert, nil
}
