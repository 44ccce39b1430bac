package gateway_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/gateway"
)

const mostBody = 1000

func event(method, path string) gateway.Request {
	return gateway.Request{
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
	out := expect.Value(gateway.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		r.ParseForm()
		w.Header().Add("Set-Cookie", "s=1")
		w.Header().Add("Set-Cookie", "t=2")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "はい")
	}), mostBody, http.Error)(t.Context(), in))(t)
	expect.That(t, got.URL.Path == "/console/タスク" && got.URL.Query().Get("q") == "稟" &&
		got.PostFormValue("text") == "稟" && got.RemoteAddr == "192.0.2.7" &&
		got.Host == "ringi.example", "it is %s of %s to %s, form %v", got.URL, got.RemoteAddr, got.Host, got.PostForm)
	c, err := got.Cookie("b")
	expect.That(t, err == nil && c.Value == "2", "the cookie b is %v, %v", c, err)
	expect.That(t, out.StatusCode == http.StatusTeapot && out.Body == "はい" && !out.IsBase64Encoded &&
		slices.Equal(out.Cookies, []string{"s=1", "t=2"}), "the answer is %+v", out)
}

func TestAnAnswerThatIsNoTextTravelsInBase64(t *testing.T) {
	out := expect.Value(gateway.Serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte{0xff, 0xfe})
	}), mostBody, http.Error)(t.Context(), event("GET", "/console/")))(t)
	expect.That(t, out.IsBase64Encoded && out.Body == "//4=", "the answer is %+v", out)
}

func TestWhatCantBeServedIsAnswered(t *testing.T) {
	large, broken := event("POST", "/console/"), event("POST", "/console/")
	large.Body = strings.Repeat("x", mostBody+1)
	broken.Body, broken.IsBase64Encoded = "*", true
	for name, tt := range map[string]struct {
		in   gateway.Request
		want int
	}{
		"too large": {large, 413}, "not base64": {broken, 400}, "a panic": {event("GET", "/panic"), 500},
	} {
		t.Run(name, func(t *testing.T) {
			out := expect.Value(gateway.Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				panic("secret detail")
			}), mostBody, http.Error)(context.Background(), tt.in))(t)
			expect.That(t, out.StatusCode == tt.want && !strings.Contains(out.Body, "secret"), "the answer is %+v", out)
		})
	}
}
