package boot

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/runtime/expect"
)

type twoNames struct {
	Table
	Slack
	Pace string `env:"SLACK_PACE" doc:"x"`
}

func TestAnErrorNamesAllThatIsMissing(t *testing.T) {
	t.Setenv("SLACK_PACE", "")
	t.Setenv("SLACK_SECRET_ID", "slack")
	t.Setenv("TABLE_NAME", "")
	var e twoNames
	err := Read(&e)
	expect.That(t, err != nil && err.Error() == "environment variables are missing: TABLE_NAME, SLACK_PACE", "%v", err)
	t.Setenv("TABLE_NAME", "ringi")
	t.Setenv("SLACK_PACE", "1")
	err = Read(&e)
	expect.That(t, err == nil && e.TableName == "ringi" && e.SlackSecretID == "slack" && e.SlackAPIURL == "" &&
		e.Pace == "1", "%+v, %v", e, err)
}

// TestACallWithoutAnAnswerIsMadeAgain: the service does not answer the first call, and answers the second at once.
func TestACallWithoutAnAnswerIsMadeAgain(t *testing.T) {
	var calls atomic.Int32
	service := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			io.Copy(io.Discard, r.Body) // until it is read, the server doesn't notice that the caller is gone
			<-r.Context().Done()
			return
		}
		w.Write([]byte(`{"TableNames":["t"]}`))
	}))
	c := dynamodb.NewFromConfig(aws.Config{Region: "us-east-1", BaseEndpoint: &service.URL,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  impatient(time.Minute, time.Second)})
	out := expect.Value(c.ListTables(t.Context(), &dynamodb.ListTablesInput{}))(t)
	expect.Same(t, []string{"t"}, out.TableNames)
	n := calls.Load()
	expect.That(t, n >= 2, "%d calls", n)
}

// TestCallsGoWhereLambdasVariablesSay: with their region and key, and to another endpoint where one is named.
func TestCallsGoWhereLambdasVariablesSay(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
		_, err := environment()
		expect.That(t, err != nil && strings.Contains(err.Error(), name), "without %s: %v", name, err)
		t.Setenv(name, "of "+name)
	}
	t.Setenv("AWS_SESSION_TOKEN", "a token")
	t.Setenv("AWS_ENDPOINT_URL", "")
	cfg := expect.Value(environment())(t)
	c := expect.Value(cfg.Credentials.Retrieve(t.Context()))(t)
	expect.Same(t, []string{"of AWS_REGION", "of AWS_ACCESS_KEY_ID", "of AWS_SECRET_ACCESS_KEY", "a token"},
		[]string{cfg.Region, c.AccessKeyID, c.SecretAccessKey, c.SessionToken})
	expect.That(t, cfg.BaseEndpoint == nil, "an endpoint that nobody named: %v", cfg.BaseEndpoint)
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	cfg = expect.Value(environment())(t)
	expect.That(t, cfg.BaseEndpoint != nil && *cfg.BaseEndpoint == "http://127.0.0.1:1",
		"the endpoint: %v", cfg.BaseEndpoint)
}

// A new version is rolled back because of its own failures only, not those of the version before.
func TestALineIsWhatCloudWatchReads(t *testing.T) {
	for name, tt := range map[MetricName]struct {
		unit       string
		dimensions []any
		version    any
	}{
		ExpireLag:   {"Seconds", []any{[]any{"function"}}, nil},
		NotAnswered: {"Count", []any{[]any{"function"}, []any{"function", "version"}}, "12"},
	} {
		var b bytes.Buffer
		write(&b, time.UnixMilli(1700000000123), "receive-event", "12", name, 90.5)
		expect.That(t, b.Bytes()[b.Len()-1] == '\n' && bytes.Count(b.Bytes(), []byte("\n")) == 1, "want one line, got %q",
			b.String())
		var got map[string]any
		expect.NoError(t, json.Unmarshal(b.Bytes(), &got))
		want := map[string]any{
			"_aws": map[string]any{"Timestamp": 1700000000123.0, "CloudWatchMetrics": []any{map[string]any{
				"Namespace": "Ringi", "Dimensions": tt.dimensions,
				"Metrics": []any{map[string]any{"Name": string(name), "Unit": tt.unit}},
			}}},
			"function": "receive-event", string(name): 90.5,
		}
		if tt.version != nil {
			want["version"] = tt.version
		}
		expect.Same(t, want, got)
	}
}

const mostBody = 1000

func event(method, path string) Request {
	return Request{
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
	out := expect.Value(Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	out := expect.Value(Serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte{0xff, 0xfe})
	}), mostBody, http.Error)(t.Context(), event("GET", "/console/")))(t)
	expect.That(t, out.IsBase64Encoded && out.Body == "//4=", "the answer is %+v", out)
}

func TestWhatCantBeServedIsAnswered(t *testing.T) {
	large, broken := event("POST", "/console/"), event("POST", "/console/")
	large.Body = strings.Repeat("x", mostBody+1)
	broken.Body, broken.IsBase64Encoded = "*", true
	for name, tt := range map[string]struct {
		in   Request
		want int
	}{
		"too large": {large, 413}, "not base64": {broken, 400}, "a panic": {event("GET", "/panic"), 500},
	} {
		t.Run(name, func(t *testing.T) {
			out := expect.Value(Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				panic("secret detail")
			}), mostBody, http.Error)(context.Background(), tt.in))(t)
			expect.That(t, out.StatusCode == tt.want && !strings.Contains(out.Body, "secret"), "the answer is %+v", out)
		})
	}
}
