package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"ringi/shared/runtime/expect"
)

type question struct{ Name string }

// lambda answers with the handlers, one after another, and the last one from then on.
func startLambda(t *testing.T, answers ...http.HandlerFunc) (cfg aws.Config, asked *[]*http.Request) {
	asked = new([]*http.Request)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		expect.That(t, err == nil && string(body) == `{"Name":"x"}`, "it was asked %q: %v", body, err)
		*asked = append(*asked, r)
		answers[min(len(*asked), len(answers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return aws.Config{Region: "ap-northeast-1", BaseEndpoint: &s.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "session"), Retryer: func() aws.Retryer {
			return retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond)
		}}, asked
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func refuses(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code+":http://internal.amazon.com/coral/com.amazonaws.lambda/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"Type":"User","message":"said by AWS"}`)
	}
}

func TestAFunctionIsAskedAndAnswers(t *testing.T) {
	cfg, asked := startLambda(t, says(`{"Name":"y"}`))
	var traced any = "x-amzn-trace-id"
	var out question
	ctx := context.WithValue(t.Context(), traced, "Root=1-2-3;Sampled=1")
	expect.NoError(t, FunctionAt(cfg, "arn:aws:lambda:ap-northeast-1:1:function:read-file").Call(ctx, question{"x"}, &out))
	expect.Same(t, question{"y"}, out)
	r := (*asked)[0]
	expect.Same(t, "/2015-03-31/functions/arn%3Aaws%3Alambda%3Aap-northeast-1%3A1%3Afunction%3Aread-file/invocations",
		r.URL.EscapedPath())
	expect.Same(t, []string{"POST", "RequestResponse", "session", "Root=1-2-3;Sampled=1"}, []string{r.Method,
		r.Header.Get("X-Amz-Invocation-Type"), r.Header.Get("X-Amz-Security-Token"), r.Header.Get("X-Amzn-Trace-Id")})
	signed := r.Header.Get("Authorization")
	expect.That(t, strings.HasPrefix(signed, "AWS4-HMAC-SHA256 Credential=key/") &&
		strings.Contains(signed, "/ap-northeast-1/lambda/aws4_request"), "it is signed %q", signed)
}

func TestAFunctionIsStartedWithoutAnAnswer(t *testing.T) {
	cfg, asked := startLambda(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	expect.NoError(t, FunctionAt(cfg, "export-audit").Begin(t.Context(), question{"x"}))
	expect.Same(t, "Event", (*asked)[0].Header.Get("X-Amz-Invocation-Type"))
}

// Lambda throttles, and its own faults pass: both are tried three times, as the SDK's clients do. What is wrong with
// the request stays wrong, and a function that ended with an error has run.
func TestOnlyWhatMayPassIsRepeated(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []http.HandlerFunc
		asked   int
		code    string // of Lambda's error
		ended   bool
	}{
		"throttled once": {[]http.HandlerFunc{refuses(429, "TooManyRequestsException"), says(`{}`)}, 2, "", false},
		"throttled": {[]http.HandlerFunc{refuses(429, "TooManyRequestsException")}, 3, "TooManyRequestsException",
			false},
		"a fault of Lambda": {[]http.HandlerFunc{refuses(500, "ServiceException"), says(`{}`)}, 2, "", false},
		"the function is missing": {[]http.HandlerFunc{refuses(404, "ResourceNotFoundException")}, 1,
			"ResourceNotFoundException", false},
		"the connection is cut": {[]http.HandlerFunc{func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, says(`{}`)}, 2, "", false},
		"the function ended badly": {[]http.HandlerFunc{ends}, 1, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, asked := startLambda(t, tt.answers...)
			var out question
			err := FunctionAt(cfg, "f").Call(t.Context(), question{"x"}, &out)
			expect.Same(t, tt.asked, len(*asked))
			expect.Same(t, tt.ended, errors.Is(err, ErrEnded))
			var api smithy.APIError
			if errors.As(err, &api) {
				expect.Same(t, tt.code, api.ErrorCode())
				expect.Same(t, "said by AWS", api.ErrorMessage())
			} else {
				expect.Same(t, tt.code, "")
				expect.That(t, err == nil || tt.ended, "%v", err)
			}
		})
	}
}

func ends(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Amz-Function-Error", "Unhandled")
	_, _ = io.WriteString(w, `{"errorType":"Runtime.ExitError"}`)
}

func TestAnAnswerThatIsNoJSONIsAnError(t *testing.T) {
	cfg, asked := startLambda(t, says(`<html>`))
	err := FunctionAt(cfg, "f").Call(t.Context(), question{"x"}, &question{})
	_, unreadable := errors.AsType[*json.SyntaxError](err)
	expect.That(t, unreadable, "%v", err)
	expect.Same(t, 1, len(*asked))
}

func TestACallEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg, asked := startLambda(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	err := FunctionAt(cfg, "f").Call(ctx, question{"x"}, &question{})
	expect.That(t, errors.Is(err, context.Canceled), "%v", err)
	expect.Same(t, 1, len(*asked))
}

func TestAServiceIsInTheFunctionsOwnRegion(t *testing.T) {
	for region, want := range map[string]string{
		"ap-northeast-1": "https://lambda.ap-northeast-1.amazonaws.com",
		"us-gov-west-1":  "https://lambda.us-gov-west-1.amazonaws.com",
		"cn-north-1":     "https://lambda.cn-north-1.amazonaws.com.cn",
	} {
		expect.Same(t, want, ServiceAt(aws.Config{Region: region}, "Lambda", nil).endpoint)
	}
	local := "http://127.0.0.1:4566/"
	expect.Same(t, "http://127.0.0.1:4566", ServiceAt(aws.Config{Region: "us-east-1", BaseEndpoint: &local}, "S3",
		nil).endpoint)
}
