package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
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

// A failure is an error of ours about an agent. Only its own text is shown. The error
// that it wraps is for errors.Is and errors.As: that one's text may hold secrets, such
// as the token in a URL.
type failure struct {
	text string
	is   error
}

// failf makes a failure that wraps is, which may be nil or joined.
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

// shown writes a URL without what may be secret in it: user and password, and
// the query, where some agents want a key.
func shown(u *url.URL) string {
	return safe.Shown(u)
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
