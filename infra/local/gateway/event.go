package gateway

import (
	"encoding/base64"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// event is payload format 2.0.
type event struct {
	Version               string            `json:"version"`
	RouteKey              string            `json:"routeKey"`
	RawPath               string            `json:"rawPath"`
	RawQueryString        string            `json:"rawQueryString"`
	Cookies               []string          `json:"cookies,omitempty"`
	Headers               map[string]string `json:"headers"`
	QueryStringParameters map[string]string `json:"queryStringParameters,omitempty"`
	PathParameters        map[string]string `json:"pathParameters,omitempty"`
	RequestContext        requestContext    `json:"requestContext"`
	Body                  string            `json:"body,omitempty"`
	IsBase64Encoded       bool              `json:"isBase64Encoded"`
}

type requestContext struct {
	AccountID    string      `json:"accountId"`
	APIID        string      `json:"apiId"`
	DomainName   string      `json:"domainName"`
	DomainPrefix string      `json:"domainPrefix"`
	HTTP         httpContext `json:"http"`
	RequestID    string      `json:"requestId"`
	RouteKey     string      `json:"routeKey"`
	Stage        string      `json:"stage"`
	Time         string      `json:"time"`
	TimeEpoch    int64       `json:"timeEpoch"`
}

type httpContext struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

func (g *Gateway) event(r *http.Request, route route, parameters map[string]string, body []byte) event {
	now, ip := g.now().UTC(), sourceIP(r)
	e := event{
		Version:               "2.0",
		RouteKey:              route.key(),
		RawPath:               r.URL.Path,
		RawQueryString:        r.URL.RawQuery,
		Headers:               headers(r, ip, len(body)),
		QueryStringParameters: query(r),
		PathParameters:        parameters,
		RequestContext: requestContext{
			AccountID: g.account, APIID: "local", DomainName: r.Host, DomainPrefix: "local", Stage: "$default",
			HTTP: httpContext{Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: ip,
				UserAgent: r.UserAgent()},
			RequestID: requestID(), RouteKey: route.key(), Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
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

// headers are lower-cased, with repeated ones joined by commas; cookies are
// apart. The x-forwarded ones are the gateway's.
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

// encode is the split that forms fall to: text and a few application types
// arrive as they are, everything else arrives in base64.
func encode(body []byte, contentType string) (text string, isBase64 bool) {
	if len(body) == 0 {
		return "", false
	}
	if isText(contentType) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

func isText(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		return false
	}
	switch media {
	case "application/json", "application/xml", "application/javascript":
		return true
	}
	return strings.HasPrefix(media, "text/")
}

func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
