package attach

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// A PrivateError says that a host has an address in a private network.
type PrivateError struct {
	Host string
	Addr netip.Addr
}

// Error implements error.
func (e *PrivateError) Error() string {
	return fmt.Sprintf("host %q has the private address %s", e.Host, e.Addr)
}

// A guard is a transport that connects to public addresses, and to private ones of allowed hosts.
// It checks the address of each connection, so that neither a redirect nor a name that resolves
// differently a moment later bypasses it.
type guard struct {
	o      HTTPOptions
	direct *http.Transport // guarded
	proxy  *http.Transport // through the user's own proxy
}

func newGuard(o HTTPOptions) *guard {
	base := &http.Transport{
		TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1,
	}
	g := &guard{o: o, direct: base, proxy: base.Clone()}
	g.direct.DialContext = g.dial
	g.proxy.Proxy = o.Proxy
	return g
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.o.Proxy == nil {
		return g.direct.RoundTrip(r)
	}
	proxy, err := g.o.Proxy(r)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return g.direct.RoundTrip(r)
	}
	if err := g.resolves(r.Context(), r.URL.Hostname()); err != nil {
		return nil, err
	}
	return g.proxy.RoundTrip(r)
}

func (g *guard) allowed(host string) bool {
	return g.o.AllowPrivate != nil && g.o.AllowPrivate(host)
}

// dial connects to one of a host's addresses, and refuses each one that is private.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: 10 * time.Second}
	if !g.allowed(host) {
		d.ControlContext = func(_ context.Context, _, addr string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(addr)
			if err != nil {
				return err
			}
			return refusePrivate(host, ap.Addr())
		}
	}
	return d.DialContext(ctx, network, address)
}

// resolves refuses a host that resolves to a private address here. A proxy resolves it again, and a
// name that only the proxy knows is left for it to refuse.
func (g *guard) resolves(ctx context.Context, host string) error {
	if g.allowed(host) {
		return nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	for _, a := range addrs {
		if err := refusePrivate(host, a); err != nil {
			return err
		}
	}
	return nil
}

func refusePrivate(host string, a netip.Addr) error {
	if isPublic(a) {
		return nil
	}
	return &PrivateError{host, a}
}

// reserved are networks that are not on the public internet (the registries of RFC 6890), beside
// those that netip has methods for.
var reserved = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fec0::/10"),
}

// isPublic reports whether an address is public, including an IPv4 address embedded in an IPv6 one.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		b := a.As16()
		switch {
		case netip.MustParsePrefix("64:ff9b::/96").Contains(a), // NAT64
			netip.MustParsePrefix("::/96").Contains(a): // IPv4-compatible
			return isPublic(netip.AddrFrom4([4]byte(b[12:16])))
		case netip.MustParsePrefix("2002::/16").Contains(a): // 6to4
			return isPublic(netip.AddrFrom4([4]byte(b[2:6])))
		}
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}
