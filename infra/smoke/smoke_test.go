package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// The walk, with the local stack instead of one that sam deployed.
func TestTheWalkHoldsOnTheLocalStack(t *testing.T) {
	expect.Patience(t)
	s := expect.Value(stack.Start(t.Context(), stack.Options{Model: "demo"}))(t)
	t.Cleanup(s.Close)
	slackSide := httptest.NewServer(standIn())
	t.Cleanup(slackSide.Close)
	outputs := map[string]string{"SlackApiUrl": slackSide.URL + "/api/", "EventsUrl": s.URL + "/slack/events",
		"InteractionsUrl": s.URL + "/slack/interactions", "TableName": s.TableName}
	for _, x := range s.Template.Secrets {
		outputs[x.ID+"Arn"] = x.Name
	}
	sam := func(_ context.Context, _ string, args ...string) ([]byte, error) {
		if args[0] == "logs" {
			phrase := strings.Trim(args[slices.Index(args, "--filter")+1], `"`)
			said := slices.DeleteFunc(s.Lambda.Logs("UpdateCardFunction"),
				func(l string) bool { return !strings.Contains(l, phrase) })
			return []byte(strings.Join(said, "\n")), nil
		}
		var list []map[string]string
		for k, v := range outputs {
			list = append(list, map[string]string{"OutputKey": k, "OutputValue": v, "Description": ""})
		}
		return json.Marshal(list)
	}
	var out bytes.Buffer
	p := program{cfg: s.AWS, out: &out, run: sam, http: http.DefaultClient, patience: 3 * time.Minute}
	expect.NoError(t, p.main(t.Context(), nil))
	for _, line := range []string{"the Home tab is published", "the audit log has each of it once"} {
		expect.Has(t, out.String(), "ok  "+line)
	}
}

// Forms reach a function base64-encoded.
func TestAFormOfSlacksReachesTheStandIn(t *testing.T) {
	in := events.APIGatewayV2HTTPRequest{RawPath: "/api/users.info",
		Headers: map[string]string{"content-type": "application/x-www-form-urlencoded"}, IsBase64Encoded: true,
		Body: base64.StdEncoding.EncodeToString([]byte("user=U0STAMP00"))}
	in.RequestContext.HTTP.Method = "POST"
	out, err := answerCall(t.Context(), in)
	expect.That(t, err == nil && out.StatusCode == 200 && strings.Contains(out.Body, `"ok":true`) &&
		strings.Contains(out.Body, `"id":"U0STAMP00"`), "%d %s %v", out.StatusCode, out.Body, err)
	in.RawPath = "/api/files.upload"
	out, err = answerCall(t.Context(), in)
	expect.That(t, err == nil && strings.Contains(out.Body, "unknown_method"), "%d %s %v", out.StatusCode, out.Body, err)
}
