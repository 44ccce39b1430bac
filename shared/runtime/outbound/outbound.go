// Package outbound calls endpoints that administrators configure: MCP servers and compatible models. Whatever the URL
// and its DNS entries are, a call can reach only public addresses: not this machine, its private network or the cloud's
// metadata service.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
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

// MaxStream is that of a model's stream, whose events have up to a hundred times the bytes of their words, and of which
// one at a time is in memory.
const MaxStream = 128 << 20

type streaming struct{}

// Streaming lets the answers of a context's calls have MaxStream bytes: for callers that bound what they keep of them.
func Streaming(ctx context.Context) context.Context { return context.WithValue(ctx, streaming{}, true) }

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
	for _, a := range d.Allow {
		if strings.EqualFold(a, address) {
			return true
		}
	}
	return false
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
	most := int64(MaxBody)
	if r.Context().Value(streaming{}) != nil {
		most = MaxStream
	}
	res.Body = &bounded{body: res.Body, left: most}
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
