package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
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
	slackSide := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, _ := io.ReadAll(r.Body)
		out := expect.Value(answerCall(r.Context(), events.APIGatewayV2HTTPRequest{RawPath: r.URL.Path,
			IsBase64Encoded: true, Body: base64.StdEncoding.EncodeToString(form)}))(t)
		w.Header().Set("Content-Type", out.Headers["content-type"])
		io.WriteString(w, out.Body)
	}))
	outputs := map[string]string{"EventsUrl": s.URL + "/slack/events", "InteractionsUrl": s.URL + "/slack/interactions",
		"TableName": s.TableName}
	for _, x := range s.Template.Secrets {
		outputs[x.ID+"Arn"] = x.Name
	}
	var out bytes.Buffer
	w := &walk{cfg: s.AWS, outputs: outputs, slackURL: slackSide.URL + "/api/", out: &out, patience: 3 * time.Minute}
	expect.NoError(t, w.through(t.Context()))
	expect.Has(t, out.String(), "ok  the audit log has each of it once")
}

func TestTheStandInRefusesUnknownMethods(t *testing.T) {
	out := expect.Value(answerCall(t.Context(), events.APIGatewayV2HTTPRequest{RawPath: "/api/files.upload"}))(t)
	expect.Is(t, out.Body, `{"error":"unknown_method","ok":false}`)
}
