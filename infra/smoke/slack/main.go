// Command slack is the smoke test's stand-in for Slack as a Lambda function behind an HTTP API.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"ringi/infra/smoke/standin"
)

func main() { lambda.Start(handle) }

// handle answers one request of the HTTP API with the stand-in.
func handle(ctx context.Context, in events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	body := in.Body
	if in.IsBase64Encoded {
		b, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusBadRequest}, nil
		}
		body = string(b)
	}
	r, err := http.NewRequestWithContext(ctx, in.RequestContext.HTTP.Method, in.RawPath+"?"+in.RawQueryString,
		strings.NewReader(body))
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, fmt.Errorf("read the request: %w", err)
	}
	for name, value := range in.Headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	standin.Handler().ServeHTTP(w, r)
	return events.APIGatewayV2HTTPResponse{StatusCode: w.Code,
		Headers: map[string]string{"content-type": w.Header().Get("Content-Type")}, Body: w.Body.String()}, nil
}
