package main

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/runtime/expect"
)

// Forms reach a function base64-encoded.
func TestAFormOfSlacksReachesTheStandIn(t *testing.T) {
	in := events.APIGatewayV2HTTPRequest{RawPath: "/api/users.info", Headers: map[string]string{"content-type": "application/x-www-form-urlencoded"}, IsBase64Encoded: true, Body: base64.StdEncoding.EncodeToString([]byte("user=U0STAMP00"))}
	in.RequestContext.HTTP.Method = "POST"
	out, err := handle(t.Context(), in)
	expect.That(t, err == nil && out.StatusCode == 200 && strings.Contains(out.Body, `"ok":true`) &&
		strings.Contains(out.Body, `"id":"U0STAMP00"`), "%d %s %v", out.StatusCode, out.Body, err)
	in.RawPath = "/api/files.upload"
	out, err = handle(t.Context(), in)
	expect.That(t, err == nil && strings.Contains(out.Body, "unknown_method"), "%d %s %v", out.StatusCode, out.Body, err)
}
