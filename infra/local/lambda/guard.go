package lambda

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Guard lets next answer programs and the listener's own pages: a page that is open in a browser on this machine can
// send requests to every local port, and a page whose host name resolves to this machine can read the answers. It
// answers 403 to every request with
//
//   - a Host that doesn't name this machine. A browser treats a page under a foreign name as same-origin once the name
//     resolves to 127.0.0.1 (DNS rebinding), so that only Host reveals the page.
//   - a foreign Origin. Browsers send Origin with everything but plain reads.
//   - a Sec-Fetch-Site of another site, or of another port of this one. Browsers send it with plain reads too. A link
//     from one port to a page on another may be followed.
//
// The SDKs and CLI of AWS, Slack's SDKs and curl send neither Origin nor Sec-Fetch-Site.
func Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := refusal(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal returns why a request is refused, or "" if it is allowed.
func refusal(r *http.Request) string {
	if !own(r) {
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

// opened reports whether the request loads a page into a window of its own, not into a frame.
func opened(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// own reports whether the request's Host names this machine: a loopback address, or the address at which the connection
// arrived. DNS rebinding can't fake an IP address.
func own(r *http.Request) bool {
	name := r.Host
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		name = host
	}
	if name = strings.ToLower(name); name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		return false
	}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || ok && at.AddrPort().Addr().Unmap() == ip.Unmap()
}
