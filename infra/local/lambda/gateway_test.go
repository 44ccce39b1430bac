package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// function returns a fixed answer and keeps the last event.
type function struct {
	event   events.APIGatewayV2HTTPRequest
	name    string
	answer  string
	failed  bool
	err     error
	waiting bool
}

func (f *function) Invoke(ctx context.Context, name string, payload []byte) (Result, error) {
	f.name = name
	if err := json.Unmarshal(payload, &f.event); err != nil {
		return Result{}, err
	}
	if f.waiting {
		<-ctx.Done()
		return Result{}, ctx.Err()
	}
	return Result{Payload: []byte(f.answer), Failed: f.failed}, f.err
}

func serve(f *function) http.Handler {
	second := 20 * time.Millisecond
	return NewGateway([]template.Function{
		{ID: "Events", Routes: []template.Route{{Method: "POST", Path: "/slack/events", Timeout: second}}},
		{ID: "Console", Routes: []template.Route{{Method: "ANY", Path: "/console/{proxy+}", Timeout: second}}},
		{ID: "Task", Routes: []template.Route{{Method: "GET", Path: "/console/tasks/{id}", Timeout: second}}},
	}, "123456789012", f, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
}

func TestEventIsPayloadTwo(t *testing.T) {
	f := &function{answer: `{"statusCode":200}`}
	r := httptest.NewRequest("POST", "https://ringi.example/slack/events?a=1&a=2&b=%20", strings.NewReader(`{"x":"é"}`))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("X-Slack-Signature", "v0=abc")
	r.Header.Add("X-Twice", "1")
	r.Header.Add("X-Twice", "2")
	r.Header.Set("Cookie", "a=1; b=2")
	r.Header.Set("User-Agent", "Slackbot 1.0")
	serve(f).ServeHTTP(httptest.NewRecorder(), r)
	want := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "POST /slack/events", RawPath: "/slack/events", RawQueryString: "a=1&a=2&b=%20",
		Cookies: []string{"a=1", "b=2"},
		Headers: map[string]string{
			"host": "ringi.example", "content-length": "10", "content-type": "application/json; charset=utf-8",
			"x-slack-signature": "v0=abc", "x-twice": "1,2",
			"user-agent": "Slackbot 1.0", "x-forwarded-for": "192.0.2.1", "x-forwarded-port": "443",
			"x-forwarded-proto": "https",
		},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			AccountID: "123456789012", APIID: "local", DomainName: "ringi.example", DomainPrefix: "local",
			RouteKey: "POST /slack/events", Stage: "$default",
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: "POST", Path: "/slack/events",
				Protocol: "HTTP/1.1", SourceIP: "192.0.2.1", UserAgent: "Slackbot 1.0"},
		},
		Body: `{"x":"é"}`,
	}
	expect.Same(t, want, f.event, cmpopts.IgnoreFields(events.APIGatewayV2HTTPRequestContext{},
		"RequestID", "Time", "TimeEpoch"))
	c := f.event.RequestContext
	at := expect.Value(time.Parse("02/Jan/2006:15:04:05 -0700", c.Time))(t)
	expect.That(t, c.RequestID != "" && at.Unix() == c.TimeEpoch/1000, "id %q at %s, %d", c.RequestID, c.Time, c.TimeEpoch)
}

func TestBodiesAreSplitAsAWSDoes(t *testing.T) {
	tests := []struct {
		contentType, body, want string
		isBase64                bool
	}{
		{"application/json", "{}", "{}", false},
		{"application/xml", "<a/>", "<a/>", false},
		{"application/javascript", "1", "1", false},
		{"text/plain; charset=utf-8", "a", "a", false},
		{"TEXT/HTML", "a", "a", false},
		{"application/x-www-form-urlencoded", "payload=%7B%7D", "cGF5bG9hZD0lN0IlN0Q=", true},
		{"application/octet-stream", "a", "YQ==", true},
		{"multipart/form-data; boundary=x", "a", "YQ==", true},
		{"application/vnd.api+json", "{}", "e30=", true},
		{"", "a", "YQ==", true},
		{"application/x-www-form-urlencoded", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.contentType, func(t *testing.T) {
			f := &function{answer: `{"statusCode":200}`}
			r := httptest.NewRequest("POST", "/slack/events", strings.NewReader(tt.body))
			r.Header.Set("Content-Type", tt.contentType)
			serve(f).ServeHTTP(httptest.NewRecorder(), r)
			expect.That(t, f.event.Body == tt.want && f.event.IsBase64Encoded == tt.isBase64,
				"body %q, base64 %v; want %q, %v", f.event.Body, f.event.IsBase64Encoded, tt.want, tt.isBase64)
		})
	}
}

func TestRoutes(t *testing.T) {
	tests := []struct {
		method, path, function string
		status                 int
	}{
		{"POST", "/slack/events", "Events", 200},
		{"GET", "/slack/events", "", 404},
		{"POST", "/slack/events/", "", 404},
		{"POST", "/slack", "", 404},
		{"GET", "/console/tasks/7", "Task", 200},
		{"PUT", "/console/tasks/7", "Console", 200},
		{"GET", "/console/a/b/c", "Console", 200},
		{"GET", "/elsewhere", "", 404},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.path, func(t *testing.T) {
			f := &function{answer: `{"statusCode":200}`}
			w := httptest.NewRecorder()
			serve(f).ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
			expect.That(t, w.Code == tt.status && f.name == tt.function,
				"status %d by %q, want %d by %q", w.Code, f.name, tt.status, tt.function)
		})
	}
}

func TestAnswersBecomeResponses(t *testing.T) {
	tests := []struct {
		name         string
		function     function
		status       int
		body, header string // header is name=value, or empty
	}{
		{"explicit", function{answer: `{"statusCode":201,"headers":{"X-A":"b"},"body":"made"}`}, 201, "made", "X-A=b"},
		{"cookie", function{answer: `{"statusCode":200,"cookies":["a=1"]}`}, 200, "", "Set-Cookie=a=1"},
		{"no content type", function{answer: `{"statusCode":200,"body":"x"}`}, 200, "x",
			"Content-Type=text/plain;charset=UTF-8"},
		{"base64", function{answer: `{"statusCode":200,"body":"YQ==","isBase64Encoded":true}`}, 200, "a", ""},
		{"wrong status", function{answer: `{"statusCode":"ok"}`}, 500, `{"message":"Internal Server Error"}`, ""},
		{"no status", function{answer: `{"a":1}`}, 500, `{"message":"Internal Server Error"}`, ""},
		{"no JSON", function{answer: `<p>`}, 500, `{"message":"Internal Server Error"}`, ""},
		{"function error", function{failed: true, answer: `{"errorType":"Internal"}`}, 500,
			`{"message":"Internal Server Error"}`, ""},
		{"throttled", function{err: errors.New("busy")}, 503, `{"message":"Service Unavailable"}`, ""},
		{"too late", function{waiting: true}, 503, `{"message":"Service Unavailable"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			serve(&tt.function).ServeHTTP(w, httptest.NewRequest("POST", "/slack/events", strings.NewReader("{}")))
			expect.That(t, w.Code == tt.status && strings.TrimSpace(w.Body.String()) == tt.body,
				"got %d %q, want %d %q", w.Code, w.Body, tt.status, tt.body)
			name, value, _ := strings.Cut(tt.header, "=")
			if name != "" && w.Header().Get(name) != value {
				t.Errorf("%s is %q, want %q", name, w.Header().Get(name), value)
			}
		})
	}
}

func TestTooLongABodyIsRefused(t *testing.T) {
	f := &function{answer: `{"statusCode":200}`}
	w := httptest.NewRecorder()
	serve(f).ServeHTTP(w, httptest.NewRequest("POST", "/slack/events", bytes.NewReader(make([]byte, maxBody+1))))
	expect.That(t, w.Code == http.StatusRequestEntityTooLarge && f.name == "", "status %d, function %q", w.Code, f.name)
}
