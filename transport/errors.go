package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// What a caller may branch on. What the agent itself said is an [*a2a.Error]
// instead; a 503 is both, so ask for [ErrPossiblyDelivered] first.
var (
	// ErrInterrupted: a stream or an answer stopped short. The agent may still be at
	// work.
	ErrInterrupted = errors.New("agent: interrupted")
	// ErrUnreachable: nothing of the request was written, so it may be made
	// again without a second thought.
	ErrUnreachable = errors.New("agent: unreachable")
	// ErrPossiblyDelivered: the agent may have got the message, and what it does with
	// it cannot be known. It must not be sent again without asking the user.
	ErrPossiblyDelivered = errors.New("agent: possibly delivered")
	// ErrMalformed: an event of a stream is not A2A. It says nothing about the task's
	// state.
	ErrMalformed = errors.New("agent: malformed event")
	// ErrOrigin: the card or a redirect led to an origin that the user has not allowed
	// the credentials and the conversation to go to.
	ErrOrigin = errors.New("agent: other origin")
	// ErrTooLarge: an event, or an answer, is larger than the limit. Asking again
	// brings it again.
	ErrTooLarge = errors.New("agent: too large")
	// ErrEnded: the stream or the client was closed by its owner, or the stream handed
	// over to be drained. It tells such an end from one that the agent has caused.
	ErrEnded = errors.New("agent: closed")
)

// A failure is an error of ours about an agent. Only its own text is shown. The error that it wraps,
// nil for none, is for errors.Is and errors.As: that one's text may hold secrets, such as the token in
// a URL.
type failure struct {
	text string
	is   error
}

// failf makes a failure that wraps is, which may be nil. The text does not say who failed: Error does.
func failf(is error, format string, args ...any) error {
	return &failure{fmt.Sprintf(format, args...), is}
}

func (f *failure) Error() string {
	if strings.HasPrefix(f.text, "bridge: ") { // it says already who failed
		return f.text
	}
	return "agent: " + f.text
}

func (f *failure) Unwrap() error { return f.is }

// Explain says in a few words why the network failed, and what the user can do; "" if
// nothing is known to help. This package's errors use the same words.
func Explain(err error) (cause, cure string) {
	const rightURL = "is the agent running, and is that its URL?"
	var (
		dns    *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
		u      *url.Error
		kind   *net.OpError
	)
	switch {
	case errors.As(err, &kind) && kind.Op == "proxyconnect":
		cause, _ = Explain(kind.Err)
		return "the proxy on the way: " + cause, cureProxy
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host", "is the name in --agent right? If only some networks know it (a VPN), are you in one?"
	case errors.As(err, &dns):
		return "its name cannot be looked up just now", "is there a network?"
	case refused(err):
		return "connection refused", rightURL
	case isTimeout(err):
		return "timeout", "is the agent running, and is the way to it free (a firewall that drops packets looks like this)? --timeout allows more"
	case errors.As(err, &cert):
		return explainCertificate(cert)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS", "is its URL http:// and not https://?"
	case strings.Contains(err.Error(), "malformed HTTP response \"\\x15\\x03"):
		return "it speaks TLS", cureTLS
	case errors.As(err, &alert):
		return "it refused the TLS handshake: " + strings.TrimPrefix(alert.Error(), "tls: "), "does it want a client certificate, or another name in --agent?"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.EPIPE):
		return "the connection was closed", rightURL
	case errors.As(err, &u):
		return Explain(u.Err)
	case errors.As(err, &kind):
		return kind.Err.Error(), rightURL
	}
	return err.Error(), rightURL
}

// cureProxy is for what a proxy has caused. Its own URL may hold a password, and is not
// repeated here.
const cureProxy = "HTTP_PROXY and HTTPS_PROXY say which, with user:password@ before its name if it wants that; NO_PROXY=HOST goes to the agent without it"

// refusedByProxy is http.Transport's hook: it returns why a proxy makes no way to an https URL, of
// which the library says the status alone; nil if it makes one.
func refusedByProxy(_ context.Context, _ *url.URL, connect *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return failf(ErrUnreachable, "the proxy on the way to %s answered %s: %s", connect.Host, quote([]byte(resp.Status)), cureProxy)
}

// cureTLS is for http where it should be https.
const cureTLS = "is its URL https:// and not http://?"

// explainCertificate is Explain for a certificate that is not accepted.
func explainCertificate(err *tls.CertificateVerificationError) (cause, cure string) {
	var (
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	cause = "its certificate is not trusted: " + err.Err.Error()
	switch {
	case errors.As(err.Err, &host):
		return cause, "use a name in --agent that the certificate has"
	case errors.As(err.Err, &invalid) && invalid.Reason == x509.Expired:
		return cause, "whoever runs the agent has to renew it; is your clock right?"
	}
	return cause, "if it is signed by a CA of your own, --ca-file ca.pem names that (on Linux the variable SSL_CERT_FILE does, too)"
}

// IsRefused reports whether an error says that nobody listens where the agent was.
func IsRefused(err error) bool { return errors.Is(err, ErrUnreachable) && refused(err) }

// refused reports whether a connection was refused. It looks at the text, too: Windows' own number
// for it is not what syscall.ECONNREFUSED is there.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "refused")
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}
