package transport

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// WebhookPolicy says to which addresses an agent may be told to push, beside public
// ones.
type WebhookPolicy struct {
	// Allow are hosts, addresses and CIDR ranges that the user has named.
	Allow []string
	// Resolve looks a name up; nil: the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// CheckWebhook refuses a URL, which an editor or a configuration has named, that the
// agent must not be told to call: one that is not https, or http to this machine; that
// has credentials or a fragment; that leads to a private, link-local or otherwise
// special address, unless the agent is at that address itself or the policy allows it.
// All addresses of a name count.
//
// The agent looks the name up again when it calls, so this does not protect the agent,
// which has to do that itself. Nothing is sent to the URL.
func (c *Client) CheckWebhook(ctx context.Context, raw string, policy *WebhookPolicy) error {
	if policy == nil {
		policy = &WebhookPolicy{}
	}
	u, err := parseWebhook(raw)
	if err != nil {
		return err
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if slices.ContainsFunc(policy.Allow, func(a string) bool { return strings.EqualFold(strings.TrimSuffix(a, "."), host) }) {
		return nil
	}
	addrs, err := policy.lookUp(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		return failf(nil, "the webhook's host %s cannot be looked up: %s: --webhook-allow %s takes it all the same", host, strings.TrimPrefix(reason(err), "agent: "), host)
	}
	agent := c.agentAddrs(ctx, policy)
	loopback := true
	for _, addr := range addrs {
		addr = addr.Unmap().WithZone("")
		loopback = loopback && addr.IsLoopback()
		switch {
		case policy.allows(addr):
		case addr.IsLoopback() && c.Local():
		case !special(addr):
		case slices.Contains(agent, addr):
		default:
			return failf(nil, "the webhook %s leads to %v, which is no public address: --webhook-allow %s allows it", shown(u), addr, host)
		}
	}
	if u.Scheme == "http" && !loopback {
		return failf(nil, "the webhook %s is not encrypted: take https", shown(u))
	}
	return nil
}

func parseWebhook(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || !webURL(u) || u.Opaque != "":
		return nil, failf(nil, "the webhook %q is no http or https URL", redactString(raw))
	case u.User != nil:
		return nil, failf(nil, "the webhook %s has credentials in its URL: name them as its authentication", shown(u))
	case u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return nil, failf(nil, "the webhook %s has a fragment", shown(u))
	}
	return u, nil
}

// lookUp returns the addresses of a host. Numbers are read as inet_aton does, too,
// because an agent's resolver may: 0x7f.1 and 2130706433 are this machine.
func (p *WebhookPolicy) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; last != "" && strings.Trim(last, "0123456789") == "" || strings.HasPrefix(strings.ToLower(last), "0x") {
		return nil, failf(nil, "it is a number, and no address as RFC 3986 has it")
	}
	if p.Resolve != nil {
		return p.Resolve(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// allows reports whether the user has named an address, or a range that it is in.
func (p *WebhookPolicy) allows(addr netip.Addr) bool {
	for _, a := range p.Allow {
		if prefix, err := netip.ParsePrefix(a); err == nil && prefix.Contains(addr) {
			return true
		}
		if one, err := netip.ParseAddr(strings.Trim(a, "[]")); err == nil && one.Unmap() == addr {
			return true
		}
	}
	return false
}

// agentAddrs are where the agent is.
func (c *Client) agentAddrs(ctx context.Context, p *WebhookPolicy) (addrs []netip.Addr) {
	own := c.origins.own.Load()
	if own == nil {
		return nil
	}
	found, _ := p.lookUp(ctx, own.Hostname()) // unknown: then it is nowhere
	for _, addr := range found {
		addrs = append(addrs, addr.Unmap().WithZone(""))
	}
	return addrs
}

// special reports whether an address is of this machine, of a private network or of
// none: what a stranger must not have called (RFC 6890). The metadata services of
// clouds are among them, or named here.
func special(addr netip.Addr) bool {
	global := netip.MustParsePrefix("2000::/3") // all of IPv6 that is given out; the rest also leads to IPv4 and back
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.Is6() && !global.Contains(addr) {
		return true
	}
	for _, prefix := range [...]string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32", // the last is Azure's
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	} {
		if netip.MustParsePrefix(prefix).Contains(addr) {
			return true
		}
	}
	return false
}
