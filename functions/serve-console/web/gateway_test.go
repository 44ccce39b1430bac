package web_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
)

func TestPagesAreSafeInABrowser(t *testing.T) {
	page := web.Safe(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	for name, tt := range map[string]struct {
		method, host, site, origin string
		want                       int
		strict                     bool
	}{
		"a page":              {"GET", "ringi.example", "cross-site", "", 200, true},
		"a form of ours":      {"POST", "ringi.example", "same-origin", "https://ringi.example", 200, true},
		"another site's form": {"POST", "ringi.example", "cross-site", "https://evil.example", 403, true},
		"a neighbour's":       {"POST", "ringi.example", "same-site", "https://evil.ringi.example", 403, true},
		"an old browser's":    {"POST", "ringi.example", "", "https://evil.example", 403, true},
		"on a laptop":         {"POST", "127.0.0.1:7777", "same-origin", "http://127.0.0.1:7777", 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			was := slog.Default()
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
			t.Cleanup(func() { slog.SetDefault(was) })
			r := httptest.NewRequest(tt.method, "http://"+tt.host+"/console/", nil)
			r.Header.Set("Sec-Fetch-Site", tt.site)
			r.Header.Set("Origin", tt.origin)
			w := httptest.NewRecorder()
			page.ServeHTTP(w, r)
			expect.That(t, w.Code == tt.want && (w.Header().Get("Strict-Transport-Security") != "") == tt.strict, "%d, %v",
				w.Code, w.Header())
			expect.That(t, strings.Contains(log.String(), "msg=refused") == (tt.want == http.StatusForbidden),
				"the log is %q", &log)
			csp := w.Header().Get("Content-Security-Policy")
			expect.That(t, !strings.Contains(csp, "unsafe") && strings.Contains(csp, "default-src 'none'") &&
				strings.Contains(csp, "frame-ancestors 'none'"), "the policy is %q", csp)
		})
	}
}

func TestNobodyIsLedElsewhere(t *testing.T) {
	for text, want := range map[string]string{
		"/console/tasks?status=done": "/console/tasks?status=done", "/console/tasks/01ARZ": "/console/tasks/01ARZ",
		"/console/": "/console",
		"":          "/else", "https://evil.example/console/": "/else", "//evil.example/console/": "/else",
		"/\\evil.example": "/else", "/console/../slack/events": "/else",
		"javascript:alert(1)": "/else", "/consoles": "/else", "/console//evil.example": "/console/evil.example",
		"/console/\r\nSet-Cookie: a=1": "/else",
		"https:/console/":              "/else", "///evil.example": "/else", "/console/%2e%2e/slack": "/else",
		"/console\t/": "/else",
	} {
		got := web.LocalPath(text, "/else")
		expect.That(t, got == want, "%q leads to %q, want %q", text, got, want)
	}
}
