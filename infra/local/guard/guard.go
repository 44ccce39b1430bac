// Package guard protects the local stack's listeners from web pages: a page that is open in
// a browser on this machine can send requests to every local port, and one whose host name
// resolves to this machine can read the answers.
package guard

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Handler lets next answer programs, and pages that came from the same listener.
// Anything else is answered 403, whatever it asks for:
//
//   - a Host that is neither this machine's own nor one of hosts. A page under a
//     foreign name counts as same-origin to its browser once the name resolves to
//     127.0.0.1 (DNS rebinding), and only Host tells.
//   - an Origin of another place, which browsers send with everything but plain reads.
//   - Sec-Fetch-Site that says another site, or another port of this one, which browsers
//     send with plain reads too. A link from one port to a page on another may be followed.
//
// AWS's SDKs and CLI, Slack's and curl send neither Origin nor Sec-Fetch-Site. hosts are
// names without a port.
func Handler(next http.Handler, hosts ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := refusal(r, hosts); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal says why a request is not answered, nothing if it is.
func refusal(r *http.Request, hosts []string) string {
	if !own(r, hosts) {
		return "this address is not served under that name"
	}
	if origin, sent := r.Header["Origin"]; sent && (len(origin) != 1 || !strings.EqualFold(origin[0], "http://"+r.Host)) {
		return "pages of other origins are not answered"
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		switch site {
		case "same-origin", "none":
		case "same-site":
			if !opened(r) {
				return "pages of other ports are not answered"
			}
		default:
			return "pages of other sites are not answered: open this address by itself"
		}
	}
	return ""
}

// opened reports whether the request shows a page in a window, and nothing inside of another.
func opened(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// own reports whether the request's Host is this machine: loopback, the very address
// that the connection came in at, or one of hosts. An address can't be rebound.
func own(r *http.Request, hosts []string) bool {
	name := r.Host
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		name = host
	}
	name = strings.ToLower(name)
	if name == "localhost" ||
		name != "" && slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		return false
	}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || ok && at.AddrPort().Addr().Unmap() == ip.Unmap()
}
