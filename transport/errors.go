package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// What a caller may branch on. What the agent itself said is an [*a2a.Error]
// instead; a 503 is both, so ask for [ErrPossiblyDelivered] first.
var (
	// ErrInterrupted: what was being received stopped short, a stream or an
	// answer. The agent may be at work all the same.
	ErrInterrupted = errors.New("agent: interrupted")
	// ErrUnreachable: nothing of the request was written, so it may be made
	// again without a second thought.
	ErrUnreachable = errors.New("agent: unreachable")
	// ErrPossiblyDelivered: the agent may have got the message, and nothing can
	// be known of what it does with it. It must not be sent again unasked.
	ErrPossiblyDelivered = errors.New("agent: possibly delivered")
	// ErrOrigin: the card or a redirect led to where nobody said that the
	// credentials, and the conversation, may go.
	ErrOrigin = errors.New("agent: other origin")
	// ErrEnded: the stream or the client was closed, or the stream handed over
	// to be drained.
	ErrEnded = errors.New("agent: closed")
)

// A failure is an error of ours about an agent. Its text is all that is shown:
// what it wraps is there to be asked for with errors.Is and errors.As, and its
// own text may hold what nobody should read, such as the token in a URL.
type failure struct {
	text string
	is   error
}

// failf makes a failure that wraps is, which may be nil or joined.
func failf(is error, format string, args ...any) error {
	return &failure{fmt.Sprintf(format, args...), is}
}

func (f *failure) Error() string { return "agent: " + f.text }
func (f *failure) Unwrap() error { return f.is }

// shown writes a URL without what may be secret in it: user and password, and
// the query, where some agents want a key.
func shown(u *url.URL) string {
	s := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		s += "?…"
	}
	return s
}

// reason says in a few words why the network failed.
func reason(err error) string {
	var (
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		u    *url.Error
		op   *net.OpError
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host"
	case errors.As(err, &dns):
		return "its name cannot be looked up just now"
	case refused(err):
		return "connection refused"
	case isTimeout(err):
		return "timeout"
	case errors.As(err, &cert):
		return "its certificate is not trusted: " + cert.Err.Error()
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.EPIPE):
		return "the connection was closed"
	case errors.As(err, &u):
		return reason(u.Err)
	case errors.As(err, &op) && op.Op != "proxyconnect":
		return op.Err.Error()
	}
	return err.Error()
}

// refused also looks at the text: Windows' own number for it is not what
// syscall.ECONNREFUSED is there.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "refused")
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// permanent reports whether trying again cannot help.
func permanent(err error) bool {
	var (
		f    *failure
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		head tls.RecordHeaderError
	)
	return errors.As(err, &f) || // a refusal of ours: an origin, a redirect
		errors.As(err, &dns) && dns.IsNotFound ||
		errors.As(err, &cert) || errors.As(err, &head) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") ||
		strings.Contains(err.Error(), "invalid header field")
}
