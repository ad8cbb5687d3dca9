// Package safe has what several rooms need to handle names, texts and files that others
// made or may read: which host is this machine, what may be shown, what may be written.
package safe

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// ThisMachine reports whether a host, with or without a port, is this machine: localhost,
// or a loopback address. What looks like an address and is none (127.evil.example) is a
// name that somebody else may own.
func ThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// Origin returns a URL's origin as it is compared: with its port, and with one name for
// this machine, since programs on it name themselves in several ways.
func Origin(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	switch host {
	case "127.0.0.1", "::1", "0.0.0.0", "::":
		host = "localhost"
	}
	port = cmp.Or(port, map[string]string{"http": "80", "https": "443"}[scheme])
	return scheme + "://" + net.JoinHostPort(host, port)
}

// SameOrigin reports whether two URLs of HTTP have one origin.
func SameOrigin(a, b *url.URL) bool {
	return (a.Scheme == "http" || a.Scheme == "https") && Origin(a) == Origin(b)
}

// Shown is a URL as people may see it: without a user, a fragment and what a query says.
func Shown(u *url.URL) string {
	s := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		s += "?…"
	}
	return s
}

// Bare is a URL without a user, a query and a fragment, which may be credentials. What is
// no URL stays as it is.
func Bare(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}
