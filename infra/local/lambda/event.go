package lambda

import (
	"encoding/base64"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// event converts a request to payload format 2.0.
func (g *Gateway) event(r *http.Request, route route, parameters map[string]string, body []byte) events.APIGatewayV2HTTPRequest {
	now, ip := g.now().UTC(), sourceIP(r)
	e := events.APIGatewayV2HTTPRequest{
		Version:               "2.0",
		RouteKey:              route.key(),
		RawPath:               r.URL.Path,
		RawQueryString:        r.URL.RawQuery,
		Headers:               headers(r, ip, len(body)),
		QueryStringParameters: query(r),
		PathParameters:        parameters,
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			AccountID: g.account, APIID: "local", DomainName: r.Host, DomainPrefix: "local", Stage: "$default",
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: ip,
				UserAgent: r.UserAgent()},
			RequestID: gatewayRequestID(), RouteKey: route.key(), Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
		},
	}
	for _, line := range r.Header.Values("Cookie") {
		for cookie := range strings.SplitSeq(line, ";") {
			e.Cookies = append(e.Cookies, strings.TrimSpace(cookie))
		}
	}
	e.Body, e.IsBase64Encoded = encode(body, r.Header.Get("Content-Type"))
	return e
}

// headers returns the request's headers with lower-case names. Repeated headers are joined by commas; cookies are left
// out. The x-forwarded headers are added as API Gateway adds them.
func headers(r *http.Request, ip string, length int) map[string]string {
	h := map[string]string{"host": r.Host, "content-length": strconv.Itoa(length), "x-forwarded-proto": "https", "x-forwarded-port": "443", "x-forwarded-for": ip}
	for name, values := range r.Header {
		if name = strings.ToLower(name); name != "cookie" {
			h[name] = strings.Join(values, ",")
		}
	}
	return h
}

func query(r *http.Request) map[string]string {
	q := map[string]string{}
	for name, values := range r.URL.Query() {
		q[name] = strings.Join(values, ",")
	}
	return q
}

// encode returns a body as API Gateway passes it on: text and a few application types unchanged, everything else, forms
// included, in base64.
func encode(body []byte, contentType string) (text string, isBase64 bool) {
	media, _, _ := mime.ParseMediaType(contentType) // "" for an invalid type
	switch media {
	case "application/json", "application/xml", "application/javascript":
		return string(body), false
	}
	if len(body) == 0 || strings.HasPrefix(media, "text/") {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
