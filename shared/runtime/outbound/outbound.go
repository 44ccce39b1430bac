// Package outbound calls endpoints that administrators configure: MCP servers and compatible models. Whatever the URL
// and its DNS entries are, a call can reach only public addresses: not this machine, its private network or the cloud's
// metadata service.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrRefused means that a call was not made because of its destination.
var ErrRefused = errors.New("refused: not a public https endpoint")

const (
	dialWithin      = 5 * time.Second
	handshakeWithin = 5 * time.Second
	// Within bounds a call including its answer, even if its context allows more.
	Within = 2 * time.Minute
	// maxRedirects is how many redirects a call follows on the same host.
	maxRedirects = 3
	maxHeaders   = 64 << 10
)

// MaxBody is the most bytes of an answer that are read, after decompression.
const MaxBody = 8 << 20

// Dialer opens connections to public addresses. The zero value allows no exceptions.
type Dialer struct {
	// Allow lists endpoints as host:port that may have any address and use plain http, for the local stack.
	Allow []string
	// Resolver resolves names; nil means the machine's.
	Resolver *net.Resolver
}

// Allowing returns a dialer that allows a comma-separated list of endpoints, as in OUTBOUND_ALLOW.
func Allowing(list string) Dialer {
	var d Dialer
	for host := range strings.SplitSeq(list, ",") {
		if host = strings.TrimSpace(host); host != "" {
			d.Allow = append(d.Allow, host)
		}
	}
	return d
}

// Client makes a client whose calls fail with ErrRefused before anything is sent if they would leave https, the public
// internet or, by a redirect, their host. It uses no proxy, keeps no connections and never repeats a request. An answer
// over MaxBody ends with ErrTooLarge.
func (d Dialer) Client() *http.Client {
	return &http.Client{
		Transport: guard{d, &http.Transport{
			DialContext:         d.dial,
			TLSHandshakeTimeout: handshakeWithin, MaxResponseHeaderBytes: maxHeaders,
			// The server may close an idle connection while a request is sent on it. The outcome would then be unknown.
			DisableKeepAlives: true,
		}},
		CheckRedirect: stay,
		Timeout:       Within,
	}
}

// dial resolves a name and connects. It checks the very address that it connects to, so that a second, different DNS
// answer can't evade the check (DNS rebinding).
func (d Dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialWithin, Resolver: d.Resolver}
	if !d.allows(address) {
		dialer.ControlContext = public
	}
	return dialer.DialContext(ctx, network, address)
}

func (d Dialer) allows(address string) bool {
	return slices.ContainsFunc(d.Allow, func(a string) bool { return strings.EqualFold(a, address) })
}

// public refuses a connection to an address that is not public.
func public(_ context.Context, network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") || !Public(to.Addr()) {
		return fmt.Errorf("connect to %s: %w", address, ErrRefused)
	}
	return nil
}

// guard refuses calls that don't use https or have a name and password in their URL, and bounds their answers.
type guard struct {
	dialer Dialer
	next   http.RoundTripper
}

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.User != nil || r.URL.Scheme != "https" && !(r.URL.Scheme == "http" && g.dialer.allows(hostPort(r.URL))) {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, fmt.Errorf("call %s://%s: %w", r.URL.Scheme, r.URL.Host, ErrRefused)
	}
	res, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = &bounded{body: res.Body, left: MaxBody}
	return res, nil
}

// stay follows a redirect only to the same scheme, host and port, with the same method.
func stay(r *http.Request, via []*http.Request) error {
	first := via[0]
	if r.URL.Scheme != first.URL.Scheme || !strings.EqualFold(hostPort(r.URL), hostPort(first.URL)) {
		return fmt.Errorf("redirect to another host: %w", ErrRefused)
	}
	if r.Method != first.Method {
		return fmt.Errorf("redirect of a %s: %w", first.Method, ErrRefused)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects: %w", maxRedirects, ErrRefused)
	}
	return nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

var (
	// everywhere is the range of public IPv6 addresses. Other addresses are loopback, link-local, private (including
	// EC2's metadata at fd00:ec2::254) or multicast, or carry an IPv4 address: NAT64 at 64:ff9b::/96 and
	// 64:ff9b:1::/48.
	everywhere = netip.MustParsePrefix("2000::/3")

	// reserved are the blocks of IANA's special-purpose address registries and the multicast blocks.
	reserved = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
		"198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		// Within 2000::/3: protocol assignments with Teredo, documentation, 6to4, AS112.
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	)
)

// Public reports whether an address is on the public internet. An IPv4 address in the form ::ffff:a.b.c.d is checked as
// IPv4. An address with a zone is not public.
func Public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	if a = a.Unmap(); !a.IsValid() || a.Is6() && !everywhere.Contains(a) {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}

// ErrTooLarge means an answer over its limit, of which the rest was not read.
var ErrTooLarge = errors.New("the answer is too large")

// bounded reads a body up to a limit.
type bounded struct {
	body io.ReadCloser
	left int64
}

// Read returns ErrTooLarge in place of the first byte past the limit.
func (b *bounded) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }

// longestWait is the longest wait that an answer's headers may ask for.
const longestWait = 24 * time.Hour

// RetryAfter returns how long an answer's headers ask to wait, a day at most: in seconds, whole or not, or until a
// date, as vendors and the proxies before them write it, or in the milliseconds of Retry-After-Ms. It returns 0 if they
// don't say, or nothing that makes sense.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return Wait(ms / 1000)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return Wait(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return Wait(at.Sub(now).Seconds())
	}
	return 0
}

// Wait converts a number of seconds that a vendor asks for to a wait of at most a day; 0 for none.
func Wait(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN too
		return 0
	}
	return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
}
