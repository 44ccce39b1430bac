package web_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
)

func event(method, path string) web.Request {
	return web.Request{
		RawPath: path, RawQueryString: "q=%E7%A8%9F&x=1", Headers: map[string]string{"host": "ringi.example",
			"accept-language": "ja"},
		Cookies: []string{"a=1", "b=2"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: method, SourceIP: "192.0.2.7"}},
	}
}

func TestAnEventIsARequest(t *testing.T) {
	in := event("POST", "/console/tasks/%7e")
	in.RawPath = "/console/タスク"
	in.Body, in.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte("text=%E7%A8%9F")), true
	in.Headers["content-type"] = "application/x-www-form-urlencoded"
	var got *http.Request
	out := expect.Value(web.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		r.ParseForm()
		w.Header().Add("Set-Cookie", "s=1")
		w.Header().Add("Set-Cookie", "t=2")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "はい")
	}))(t.Context(), in))(t)
	expect.That(t, got.URL.Path == "/console/タスク" && got.URL.Query().Get("q") == "稟" &&
		got.PostFormValue("text") == "稟" && got.RemoteAddr == "192.0.2.7" &&
		got.Host == "ringi.example", "it is %s of %s to %s, form %v", got.URL, got.RemoteAddr, got.Host, got.PostForm)
	c, err := got.Cookie("b")
	expect.That(t, err == nil && c.Value == "2", "the cookie b is %v, %v", c, err)
	expect.That(t, out.StatusCode == http.StatusTeapot && out.Body == "はい" && !out.IsBase64Encoded &&
		slices.Equal(out.Cookies, []string{"s=1", "t=2"}), "the answer is %+v", out)
}

func TestAnAnswerThatIsNoTextTravelsInBase64(t *testing.T) {
	out := expect.Value(web.Serve(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.Write([]byte{0xff, 0xfe})
	}))(t.Context(), event("GET", "/console/")))(t)
	expect.That(t, out.IsBase64Encoded && out.Body == "//4=", "the answer is %+v", out)
}

func TestWhatCantBeServedIsAnswered(t *testing.T) {
	large, broken := event("POST", "/console/"), event("POST", "/console/")
	large.Body = strings.Repeat("x", web.MaxFile+1)
	broken.Body, broken.IsBase64Encoded = "*", true
	for name, tt := range map[string]struct {
		in   web.Request
		want int
	}{
		"too large": {large, 413}, "not base64": {broken, 400}, "a panic": {event("GET", "/panic"), 500},
	} {
		t.Run(name, func(t *testing.T) {
			out := expect.Value(web.Serve(http.HandlerFunc(func(http.ResponseWriter,
				*http.Request) {
				panic("secret detail")
			}))(context.Background(), tt.in))(t)
			expect.That(t, out.StatusCode == tt.want && !strings.Contains(out.Body, "secret"), "the answer is %+v", out)
		})
	}
}

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
		got := web.LocalPath(text, "/console/", "/else")
		expect.That(t, got == want, "%q leads to %q, want %q", text, got, want)
	}
}
