package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/lambda"
	"ringi/infra/local/moto"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// most is what a request may cost. A machine's speed decides how many changes one redraw of a card covers, and how many
// entries one batch of the sealer has, so there is some room.
type most struct{ invocations, aws, slack, rows float64 }

func (m most) holds(u usage) bool {
	return sum(u.rows) > 0 && sum(u.invocations) <= m.invocations && u.calls["AWS"] <= m.aws &&
		u.calls["Slack"] <= m.slack &&
		sum(u.rows) <= m.rows
}

func TestWhatARequestCosts(t *testing.T) {
	expect.AtNight(t)
	for name, x := range map[string]struct {
		do kind
		most
	}{
		"a request":                   {request, most{invocations: 45, aws: 150, slack: 24, rows: 100}},
		"a write of an outside agent": {outside, most{invocations: 20, aws: 70, slack: 12, rows: 45}},
	} {
		var found usage
		for range 3 { // if the machine stalled some calls were repeated, but not in every try
			u, err := measureCalls(t.Context(), 2, x.do)
			if errors.Is(err, moto.ErrPython) && os.Getenv("CI") == "" {
				t.Skip(err)
			}
			expect.NoError(t, err)
			if found = u; x.holds(found) {
				break
			}
		}
		expect.That(t, x.holds(found), "%s: %s", name, found)
	}
}

// Slack waits three seconds for these, and outside agents for the door: they start hardly slower than a handler with
// the same clients, and load no more than they need (html/template keeps all methods of each client that it links). A
// busy machine disturbs the fastest starts least.
func TestFunctionsStartLikeBareHandlers(t *testing.T) {
	expect.AtNight(t)
	const mib = 1 << 20
	sizes := map[string]int64{"receive-event": 14 * mib, "receive-interaction": 14 * mib, "serve-gate": 15 * mib,
		"serve-console": 32 * mib}
	all := expect.Value(measureStarts(t.Context(), 9, slices.Collect(maps.Keys(sizes))...))(t)
	expect.Is(t, len(all), len(sizes))
	for _, s := range all {
		ratio := min(s.ratio, float64(s.fastest)/float64(s.bare))
		expect.That(t, ratio <= 1.25, "%s takes %.2f times as long as a bare handler", s.name, ratio)
		expect.That(t, s.size <= sizes[s.name], "%s has %d bytes", s.name, s.size)
	}
}

func TestAnUnknownPartIsRefused(t *testing.T) {
	err := run(t.Context(), []string{"-only", "calls,dreams"}, io.Discard)
	expect.That(t, err != nil && strings.Contains(err.Error(), `no part "dreams"`), "got %v", err)
}

func TestCallsAreAddedUp(t *testing.T) {
	var calls []lambda.Call
	for _, c := range []struct{ function, kind, body string }{
		{"GiveUpFunction", lambda.KindStart, ""},
		{"GiveUpFunction", "DynamoDB.Query", `{}`},
		{"GiveUpFunction", "AWSStepFunctions.SendTaskSuccess", `{}`},
		{"GiveUpFunction", "PUT /ringi-results/tenant/*", ""},
		{"GiveUpFunction", "POST /api/chat.postMessage", ""},
		{"GiveUpFunction", "GET /freee/hr/api/v1/employees", ""},
		{"GiveUpFunction", "DynamoDB.UpdateItem", `{"Key":{"PK":{"S":"QUOTA#T1"},"SK":{"S":"OPEN#U1"}}}`},
		{"GiveUpFunction", "DynamoDB.PutItem", `{"Item":{"PK":{"S":"TASK#T1#1"},"SK":{"S":"CARD#task"}}}`},
		{"GiveUpFunction", "DynamoDB.TransactWriteItems", `{"TransactItems":[
			{"Put":{"Item":{"PK":{"S":"TASK#T1#1"},"SK":{"S":"PROMPT#0001"}}}},{"ConditionCheck":{"Key":{"PK":{"S":"A"}}}},
			{"Update":{"Key":{"PK":{"S":"TASK#T1#1"},"SK":{"S":"HEAD"}}}}]}`},
		{"GiveUpFunction", lambda.KindAnswer, ""},
		{sweeper, "DynamoDB.Query", `{}`},
	} {
		calls = append(calls, lambda.Call{Function: c.function, RequestID: "1", Kind: c.kind, Body: []byte(c.body)})
	}
	calls = append(calls, lambda.Call{Function: "GiveUpFunction", Kind: "secretsmanager.GetSecretValue"}) // at its start
	u := added(calls, 2)
	expect.Same(t, fmt.Sprint(u), "0.5 invocations (GiveUpFunction 0.5); calls of AWS 3, Slack 0.5, vendors 0.5; "+
		"2 rows (CARD 0.5, HEAD 0.5, PROMPT 0.5, QUOTA 0.5); 0 state transitions")
}

func TestEveryFunctionHasABareHandler(t *testing.T) {
	root := expect.Value(process.ModuleRoot())(t)
	described := expect.Value(template.Read(filepath.Join(root, "template.yaml"), template.Names{Region: "us-east-1",
		Account: "123456789012", Stack: "bench"}, map[string]string{"Stage": "dev"}))(t)
	for _, f := range described.Functions {
		if f.Managed {
			continue
		}
		for tag := range strings.SplitSeq(bareOf[f.Folder], "-") {
			_, err := os.Stat(filepath.Join(root, "infra", "bench", "bare", tag+".go"))
			expect.That(t, err == nil, "%s has the bare handler %q: %v", f.Folder, bareOf[f.Folder], err)
		}
	}
}
