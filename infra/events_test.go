package infra_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/lambda"
	"ringi/infra/local/template"
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/expect"
)

// sample decodes a sample event into a value. A field that the value lacks is an error.
func sample(t *testing.T, name string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(textOf(t, filepath.Join("events", name))))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	expect.Must(t, err == nil, "%s: %v", name, err)
}

// Every function can be tried by hand with a sample event, and no sample is for none.
func TestEveryFunctionHasASampleEvent(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	tried := map[string]bool{}
	for path, text := range textsBelow(t, []string{".json"}, "events") {
		var request events.APIGatewayV2HTTPRequest
		expect.NoError(t, json.Unmarshal([]byte(text), &request))
		tried[cmp.Or(request.RouteKey, strings.TrimSuffix(filepath.Base(path), ".json"))] = true
	}
	known := map[string]bool{"run-sandbox": true} // a function that a parameter leaves out
	for _, f := range s.functions {
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
			known[k] = true
		}
	}
	for key := range tried {
		expect.That(t, known[key], "infra/events: %s is for no function", key)
	}
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
