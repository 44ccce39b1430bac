package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// deployed stands in for sam: it "deploys" the local stack, and records its commands.
type deployed struct {
	outputs map[string]map[string]string // by kind of stack: main or slack
	told    []string
	fails   string // prefix of the command that fails
	log     func(function string) []string
}

func (d *deployed) run(_ context.Context, name string, args ...string) ([]byte, error) {
	line := strings.Join(append([]string{name}, args...), " ")
	d.told = append(d.told, line)
	if d.fails != "" && strings.HasPrefix(line, d.fails) {
		return nil, errors.New("sam failed")
	}
	if args[0] == "logs" {
		phrase := strings.Trim(args[slices.Index(args, "--filter")+1], `"`)
		said := slices.DeleteFunc(d.log("UpdateCardFunction"), func(l string) bool { return !strings.Contains(l, phrase) })
		return []byte(strings.Join(said, "\n")), nil
	}
	if len(args) < 4 || args[0] != "list" {
		return nil, nil
	}
	kind := "main"
	if strings.HasSuffix(args[3], "-slack") {
		kind = "slack"
	}
	var list []map[string]string
	for k, v := range d.outputs[kind] {
		list = append(list, map[string]string{"OutputKey": k, "OutputValue": v, "Description": ""})
	}
	return json.Marshal(list)
}

// kinds lists the recorded commands, shortened to the act and the stack.
func (d *deployed) kinds(name string) (out []string) {
	for _, line := range d.told {
		words := strings.Fields(strings.ReplaceAll(line, name, "S"))
		if words[0] == "env" {
			words = words[4:]
		}
		at := slices.Index(words, "--stack-name")
		short := strings.Join(words[:2], " ")
		if at >= 0 {
			short += " " + words[at+1]
		}
		out = append(out, short)
	}
	return out
}

// inProject runs a test in the folder where people run the program.
func inProject(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}

// The whole program, with the local stack instead of a deployment by sam.
func TestTheSmokeTestHoldsAgainstTheLocalStack(t *testing.T) {
	expect.Patience(t)
	inProject(t)
	s := expect.Value(stack.Start(t.Context(), stack.Options{Model: "demo", Artifacts: os.Getenv("RINGI_ARTIFACTS")}))(t)
	t.Cleanup(s.Close)
	slackSide := httptest.NewServer(standIn())
	t.Cleanup(slackSide.Close)
	d := &deployed{log: s.Lambda.Logs, outputs: map[string]map[string]string{
		"slack": {"SlackApiUrl": slackSide.URL + "/api/"},
		"main": {
			"EventsUrl": s.URL + "/slack/events", "InteractionsUrl": s.URL + "/slack/interactions", "CommandsUrl": s.URL +
				"/slack/commands", "TableName": s.TableName,
			"ResultsBucketName": s.BucketName, "CredentialsKeyArn": s.KeyID, "HeadsBucketName": s.HeadsBucket,
			"ChainKeyArn": s.ChainKeyID,
		},
	}}
	for _, x := range s.Template.Secrets {
		d.outputs["main"][x.ID+"Arn"] = x.Name
	}
	var out bytes.Buffer
	p := program{cfg: s.AWS, out: &out, run: d.run, http: http.DefaultClient, patience: 3 * time.Minute}
	err := p.main(t.Context(), nil)
	expect.Must(t, err == nil, "%v\n%s", err, &out)
	name := strings.Fields(d.told[len(d.told)-1])[3]
	name = strings.TrimSuffix(name, "-slack")
	want := []string{
		"sam build", "go build", "sam deploy S-slack", "sam list S-slack", "sam deploy S", "sam list S", "sam delete S",
		"sam delete S-slack",
	}
	got := slices.DeleteFunc(d.kinds(name), func(k string) bool { return k == "sam logs" })
	expect.That(t, slices.Equal(got, want), "sam was told %q, wanted %q", got, want)
	for _, line := range []string{"/ringi list names the request", "the Home tab is published",
		"the audit log has each of " +
			"it once", "deleted the table", "deleted the bucket " + s.BucketName, "deleted the bucket " +
			"of heads", "deleted the key " + s.ChainKeyID, "deleted the secret"} {
		expect.That(t, strings.Contains(out.String(), "ok  "+line), "it does not say %q:\n%s", line, &out)
	}
	tables, err := dynamodb.NewFromConfig(s.AWS).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	expect.That(t, err == nil && len(tables.TableNames) == 0, "the table is still there: %v %v", tables, err)
}

// A failed deployment is deleted too, and so is the stand-in for Slack.
func TestAFailedDeploymentIsDeleted(t *testing.T) {
	inProject(t)
	d := &deployed{fails: "sam deploy --stack-name ringi-smoke", outputs: map[string]map[string]string{}}
	var out bytes.Buffer
	p := program{out: &out, run: d.run, http: http.DefaultClient, patience: time.Second}
	p.cfg.Region = "us-east-1"
	err := p.main(t.Context(), nil)
	expect.That(t, err != nil && strings.Contains(err.Error(), "sam failed"), "the program ends with %v", err)
	last := d.told[len(d.told)-1]
	expect.That(t, strings.HasPrefix(last, "sam delete --stack-name ringi-smoke-") &&
		strings.HasSuffix(last, "--no-prompts"), "the last command is %s", last)
	before := len(d.told)
	err = p.main(t.Context(), []string{"-keep"})
	expect.That(t, err != nil && !strings.Contains(strings.Join(d.told[before:], "\n"), "sam delete"),
		"with -keep: %v %q", err, d.told[before:])
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
