// Package web is the base of the console's pages: it has the security headers, the session and its viewer, the layout,
// the texts and the error pages.
package web

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"ringi/shared/runtime/boot"
)

// The largest bodies that are read, in bytes. MaxFile is for routes that take files: a request of Lambda's has at most
// 6 MB, in base64.
const (
	MaxBody = 1 << 20
	MaxFile = 4 << 20
)

// policy lets a page load its own script, style sheet and pictures, and forbids inline scripts and styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Safe adds to every answer the headers that forbid framing, content sniffing, referrers, caching and foreign scripts.
// It answers 403 to a change that another site's page requested.
func Safe(h http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Refuse(r, &Viewer{}, "a form of another site")
		http.Error(w, "this form came from another site", http.StatusForbidden)
	}))
	guarded := cross.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Permissions-Policy":         "camera=(), geolocation=(), microphone=()",
			"Cache-Control":              "no-store",
		} {
			w.Header().Set(name, value)
		}
		if !boot.IsLocal(r.Host) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		guarded.ServeHTTP(w, r)
	})
}

// first is the path of the console's first page; those of its others begin with it.
const first = "/console"

// LocalPath returns the path and query in text if it is one of the console's, else otherwise. It rejects "//host" and
// "/\host", which browsers read as addresses of other hosts.
func LocalPath(text, otherwise string) string {
	u, err := url.Parse(text)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" ||
		strings.ContainsAny(text, "\\\r\n\t") {
		return otherwise
	}
	clean := path.Clean(u.Path)
	if clean != first && !strings.HasPrefix(clean, first+"/") || strings.HasPrefix(u.Path, "//") {
		return otherwise
	}
	return (&url.URL{Path: clean, RawQuery: u.RawQuery}).String()
}
