package infra_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/lambda"
	"ringi/infra/local/template"
	"ringi/shared/decide/effect"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// sample decodes a sample event into a value. A field that the value lacks is an error.
func sample(t *testing.T, name string, into any) {
	t.Helper()
	b := expect.Value(os.ReadFile(filepath.Join("events", name)))(t)
	strictly(t, name, b, into)
}

func strictly(t *testing.T, name string, b []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	expect.Must(t, err == nil, "%s: %v", name, err)
}

// inOrder returns the functions in the order of their ids.
func (s *stack) inOrder() []template.Function {
	var all []template.Function
	for _, id := range slices.Sorted(maps.Keys(s.functions)) {
		all = append(all, s.functions[id])
	}
	return all
}

// Every function can be tried by hand with a sample event.
func TestEveryFunctionHasASampleEvent(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	entries := expect.Value(os.ReadDir("events"))(t)
	tried := map[string]bool{}
	for _, e := range entries {
		var request events.APIGatewayV2HTTPRequest
		b := expect.Value(os.ReadFile(filepath.Join("events", e.Name())))(t)
		err := json.Unmarshal(b, &request)
		expect.Must(t, err == nil, "%s: %v", e.Name(), err)
		key := strings.TrimSuffix(e.Name(), ".json")
		if request.RouteKey != "" {
			key = request.RouteKey
		}
		tried[key] = true
	}
	for _, f := range s.inOrder() {
		keys := []string{f.Folder}
		for _, r := range f.Routes {
			keys = append(keys, r.Method+" "+r.Path)
		}
		for state, function := range served {
			if function+"Function" == f.ID {
				keys = append(keys, template.Folder(state))
			}
		}
		expect.That(t, slices.ContainsFunc(keys, func(k string) bool { return tried[k] }),
			"%s: no event in infra/events is for it", f.ID)
		for _, k := range keys {
			delete(tried, k)
		}
	}
	if !tried["run-sandbox"] { // a function that a parameter leaves out
		t.Error("no event in infra/events is for run-sandbox")
	}
	delete(tried, "run-sandbox")
	for key := range tried {
		t.Errorf("infra/events: %s is for no function", key)
	}
}

// API Gateway passes JSON as text and forms in base64. A sample in another encoding would only work locally.
func TestSampleRequestsAreEncodedAsAPIGatewayDoes(t *testing.T) {
	for _, name := range []string{"app_mention.json", "approve_prompt.json"} {
		t.Run(name, func(t *testing.T) {
			var r events.APIGatewayV2HTTPRequest
			sample(t, name, &r)
			form := r.Headers["content-type"] == "application/x-www-form-urlencoded"
			expect.Must(t, r.IsBase64Encoded == form,
				"isBase64Encoded is %v for %s", r.IsBase64Encoded, r.Headers["content-type"])
			body := []byte(r.Body)
			if form {
				raw := expect.Value(base64.StdEncoding.DecodeString(r.Body))(t)
				values := expect.Value(url.ParseQuery(string(raw)))(t)
				body = []byte(values.Get("payload"))
			}
			expect.That(t, json.Valid(body), "the body carries no JSON: %s", body)
			for header := range r.Headers {
				expect.Is(t, header, strings.ToLower(header), "payload v2 has headers in lower case, not")
			}
		})
	}
}

// All samples are about one task, so that they can be run in order from message to card.
func TestSampleEventsTellOfOneTask(t *testing.T) {
	var r events.APIGatewayV2HTTPRequest
	sample(t, "app_mention.json", &r)
	var mention struct {
		TeamID string `json:"team_id"`
		Event  struct{ Channel, TS string }
	}
	expect.NoError(t, json.Unmarshal([]byte(r.Body), &mention))
	id := expect.Value(task.ID(mention.TeamID, mention.Event.Channel, mention.Event.TS))(t)
	want := task.RefOf(aggregate.TenantID(mention.TeamID), id)

	var sqs events.SQSEvent
	sample(t, "update-card.json", &sqs)
	got, err := effect.ReadMessage(sqs.Records[0].Body)
	expect.That(t, err == nil && got.Ref == want, "update-card.json: %v, %v", got, err)
	expect.Is(t, sqs.Records[0].Attributes["MessageGroupId"], want.ID, "update-card.json: the group")
	var change events.DynamoDBEvent
	sample(t, "relay-changes.json", &change)
	expect.Is(t, change.Records[0].Change.Keys["PK"].String(), "TASK#"+want.Tenant+"#"+want.ID, "relay-changes.json: PK")
	var in pipeline.Input
	sample(t, "resume-task.json", &in)
	expect.Is(t, in.Ref(), want, "resume-task.json")
}

// The relay's event filter lets through each record of the stream whose row may start something.
func TestTheRelayHearsOfHeadsAndKeys(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	filter := expect.Value(lambda.ParseFilter(s.functions["RelayChangesFunction"].Streams[0].Filters))(t)
	for kind, want := range map[string]bool{"head": true, "key": true, "wait": false, "card": false, "audit": false} {
		var change struct{ Records []map[string]any }
		sample(t, "relay-changes.json", &change)
		object(at(change.Records[0], "dynamodb", "NewImage", "type"))["S"] = kind
		record := expect.Value(json.Marshal(change.Records[0]))(t)
		got, err := filter.Passes(record)
		expect.That(t, got == want && err == nil, "a row of type %s passes: %v (%v), not %v", kind, got, err, want)
	}
}

// The state machine sends the same members as the samples.
func TestSamplePayloadsAreTheStateMachines(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	for name, st := range s.tasks() {
		t.Run(name, func(t *testing.T) {
			file := s.functions[st.function()].Folder + ".json"
			if served[name] != "" {
				file = template.Folder(name) + ".json"
			}
			var in pipeline.Input
			sample(t, file, &in)
			var payload map[string]any
			sample(t, file, &payload)
			var want []string
			for key := range st.Parameters.Payload {
				want = append(want, strings.TrimSuffix(key, ".$"))
			}
			sameNames(t, file+", as the state sends it", want, slices.Collect(maps.Keys(payload)))
		})
	}
}
