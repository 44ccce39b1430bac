package models_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/shared"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

// sessions and events are pages as the vendor publishes them.
type (
	sessions struct {
		Data []sdk.BetaManagedAgentsSession `json:"data"`
	}
	events struct {
		Data []sdk.BetaManagedAgentsSessionEventUnion `json:"data"`
	}
)

// The answers of the stand-in must have the members that Anthropic publishes. One field and one kind of event are
// unknown on purpose: clients must accept additions.
func TestAnswersAreAsAnthropicPublishesThem(t *testing.T) {
	v := models.NewAgents()
	v.Script = func([]models.Step) []models.Act {
		return []models.Act{{Asks: []models.Ask{{Tool: "list", Input: `{"n":1}`}}}, {Says: "終わり", Stop: "end_turn"}}
	}
	s := httptest.NewServer(v)
	defer s.Close()
	ask := func(method, path, key, body string, status int, differences func(string) []string) string {
		t.Helper()
		r := expect.Value(http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body)))(t)
		r.Header.Set("X-Api-Key", key)
		r.Header.Set("Anthropic-Beta", "managed-agents-2026-04-01")
		res := expect.Value(http.DefaultClient.Do(r))(t)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		expect.That(t, err == nil && res.StatusCode == status, "%s %s: %d, %v %s", method, path, res.StatusCode, err, b)
		for _, d := range differences(string(b)) {
			expect.That(t, strings.HasSuffix(d, ".a_new_field is not published") ||
				strings.Contains(d, "is of no published kind"), "%s %s: %s", method, path, d)
		}
		return string(b)
	}
	session, sent := modeltest.Differences[sdk.BetaManagedAgentsSession],
		modeltest.Differences[sdk.BetaManagedAgentsSendSessionEvents]
	ask("POST", "/v1/agents", v.Key, `{"name":"Ringi","model":{"id":"m"}}`, 200,
		modeltest.Differences[sdk.BetaManagedAgentsAgent])
	ask("POST", "/v1/environments", v.Key, `{"name":"Ringi"}`, 200, modeltest.Differences[sdk.BetaEnvironment])
	ask("POST", "/v1/sessions", v.Key, `{"agent":{"type":"agent_with_overrides","id":"agent_1","system":"s",
		"model":{"id":"m"},"tools":[{"type":"custom","name":"list","description":"d",
		"input_schema":{"type":"object"}}]},"environment_id":"env_2","metadata":{"a":"b"},
		"budget":{"type":"limit","max_list_cost":{"amount":"1","currency":"USD"}}}`, 200, session)
	const id = "/v1/sessions/sesn_1"
	ask("POST", id+"/events", v.Key,
		`{"events":[{"type":"user.message","content":[{"type":"text","text":"{\"steps\":[]}"}]}]}`, 200, sent)
	ask("GET", id+"/events", v.Key, ``, 200, modeltest.Differences[events])
	all := ask("GET", id+"/events", v.Key, ``, 200, modeltest.Differences[events])
	_, asked, _ := strings.Cut(all, `"event_ids":["`)
	asked, _, _ = strings.Cut(asked, `"`)
	ask("POST", id+"/events", v.Key,
		`{"events":[{"type":"user.custom_tool_result",`+
			`"custom_tool_use_id":"`+asked+`","content":[{"type":"text","text":"x"}],"is_error":false}]}`, 200, sent)
	ask("POST", id+"/events", v.Key, `{"events":[{"type":"user.interrupt"}]}`, 200, sent)
	for range 2 {
		ask("GET", id+"/events", v.Key, ``, 200, modeltest.Differences[events])
	}
	ask("GET", id, v.Key, ``, 200, session)
	ask("GET", "/v1/sessions?agent_id=agent_1&created_at[gte]=2026-01-01T00:00:00Z", v.Key, ``, 200,
		modeltest.Differences[sessions])
	ask("POST", id+"/archive", v.Key, ``, 200, session)
	ask("POST", "/v1/agents/agent_1/archive", v.Key, ``, 200, modeltest.Differences[sdk.BetaManagedAgentsAgent])
	ask("POST", "/v1/environments/env_2/archive", v.Key, ``, 200, modeltest.Differences[sdk.BetaEnvironment])
	failure := modeltest.Differences[shared.ErrorResponse]
	ask("GET", "/v1/sessions/other", v.Key, ``, 404, failure)
	ask("GET", id, "another", ``, 401, failure)
	for status := range map[int]bool{400: true, 403: true, 429: true, 500: true, 529: true} {
		v.Fail(models.GetSession, models.Fault{Status: status})
		ask("GET", id, v.Key, ``, status, failure)
	}
}

// What the vendor's types and descriptions forbid is refused, however deep it stands.
func TestRequestsThatTheVendorRefuses(t *testing.T) {
	v := models.NewAgents()
	s := httptest.NewServer(v)
	defer s.Close()
	ask := func(path, body string) (int, string) {
		r := expect.Value(http.NewRequestWithContext(t.Context(), "POST", s.URL+path, strings.NewReader(body)))(t)
		r.Header.Set("X-Api-Key", v.Key)
		r.Header.Set("Anthropic-Beta", "managed-agents-2026-04-01")
		res := expect.Value(http.DefaultClient.Do(r))(t)
		defer res.Body.Close()
		return res.StatusCode, string(expect.Value(io.ReadAll(res.Body))(t))
	}
	const agent, place, message = `{"name":"Ringi","model":{"id":"m"}}`,
		`{"name":"Ringi","config":{"type":"cloud","networking":{"type":"limited"}}}`,
		`{"events":[{"type":"user.message","content":[{"type":"text","text":"x"}]}]}`
	const session = `{"agent":{"type":"agent_with_overrides","id":"agent_1","system":"s","model":{"id":"m"},` +
		`"tools":[{"type":"custom","name":"list","description":"d",` +
		`"input_schema":{"type":"object","additionalProperties":false}}]},"environment_id":"env_2","metadata":{"a":"b"},` +
		`"budget":{"type":"limit","max_list_cost":{"amount":"1","currency":"USD"}}}`
	const result = `{"events":[{"type":"user.custom_tool_result","custom_tool_use_id":"c","content":[{"type":"text",` +
		`"text":"x"}]}]}`
	for _, good := range []string{"/v1/agents" + agent, "/v1/environments" + place, "/v1/sessions" + session,
		"/v1/sessions/sesn_1/events" + message} {
		path, body, _ := strings.Cut(good, "{")
		status, said := ask(path, "{"+body)
		expect.Must(t, status == 200, "%s: %s", path, said)
	}
	for about, x := range map[string]struct{ path, body, old, with, says string }{
		"an agent without a model": {"/v1/agents", agent, `"model":{"id":"m"}`, `"metadata":{}`, "model: missing"},
		"a member that isn't known": {"/v1/agents", agent, `"id":"m"`, `"id":"m","temperature":1`,
			"model.temperature: unknown"},
		"a long tag": {"/v1/agents", agent, `"name"`, `"metadata":{"a":"` + strings.Repeat("x", 513) +
			`"},"name"`, ""},
		"another network": {"/v1/environments", place, `"limited"`, `"limited","hosts":[]`, "hosts: unknown"},
		"a tool without a schema": {"/v1/sessions", session,
			`,"input_schema":{"type":"object","additionalProperties":false}`, "", "input_schema: missing"},
		"a schema of another type": {"/v1/sessions", session, `"type":"object"`, `"type":"array"`,
			"input_schema.type: another value"},
		"a strict tool": {"/v1/sessions", session, `"description"`, `"strict":true,"description"`, "strict: unknown"},
		"two tools of one name": {"/v1/sessions", session, `"tools":[`,
			`"tools":[{"type":"custom","name":"list","description":"d","input_schema":{"type":"object"}},`, "agent.tools.1"},
		"a budget in dollars":      {"/v1/sessions", session, `"amount":"1"`, `"amount":"1.5"`, "budget"},
		"a number for a text":      {"/v1/sessions", session, `"amount":"1"`, `"amount":1`, "of another type"},
		"a budget of another kind": {"/v1/sessions", session, `"limit"`, `"limited"`, "budget"},
		"an effort for a session":  {"/v1/sessions", session, `"metadata"`, `"effort":"high","metadata"`, "effort: unknown"},
		"an empty text":            {"/v1/sessions/sesn_1/events", message, `"text":"x"`, `"text":""`, "events.0.content.0"},
		"a role": {"/v1/sessions/sesn_1/events", message, `"content"`, `"role":"user","content"`,
			"role: unknown"},
		"an event of another kind":   {"/v1/sessions/sesn_1/events", message, `user.message`, `user.note`, "events.0"},
		"a result that nobody wants": {"/v1/sessions/sesn_1/events", result, "", "", "custom_tool_use_id"},
	} {
		status, said := ask(x.path, strings.Replace(x.body, x.old, x.with, 1))
		expect.That(t, status == 400 && strings.Contains(said, x.says), "%s: %d %s", about, status, said)
	}
	ask("/v1/sessions/sesn_1/archive", "")
	status, _ := ask("/v1/sessions/sesn_1/events", message)
	expect.Is(t, status, 400, "an archived session is told something")
}

func TestEachProviderSaysWhatItNeedsOfTheEnvironment(t *testing.T) {
	for _, provider := range aggregate.ModelProviders {
		name, variable := provider+":m", "_API_KEY"
		switch provider {
		case aggregate.Demo:
			if _, a, err := models.ModelOf(name, nothing); err != nil || a != (models.Access{}) {
				t.Errorf("the demo needs %+v, %v", a, err)
			}
			continue
		case aggregate.Compatible:
			name, variable = "compatible:my-box/m", "MY_BOX_BASE_URL"
		case aggregate.Bedrock:
			name, variable = "bedrock:anthropic.m", "AWS_BEARER_TOKEN_BEDROCK"
		}
		_, _, err := models.ModelOf(name, nothing)
		expect.That(t, err != nil && strings.Contains(err.Error(), variable),
			"%s without anything: %v, want %s named", name, err, variable)
		given := func(name string) string {
			if strings.HasSuffix(name, "_BASE_URL") {
				return "https://example.com/v1/"
			}
			return "k"
		}
		_, a, err := models.ModelOf(name, given)
		expect.That(t, err == nil && a.Key == "k" && a.Address == "https://example.com/v1" && a.Dial == "example.com:443",
			"%s: %+v, %v", name, a, err)
	}
}

func nothing(string) string { return "" }

func TestModelsOfXAINeedTheKeyOfEitherName(t *testing.T) {
	_, _, err := models.ModelOf("grok-responses:grok-4", nothing)
	expect.That(t, err != nil && strings.Contains(err.Error(), "GROK_API_KEY or XAI_API_KEY"), "without anything: %v", err)
	for _, variable := range []string{"GROK_API_KEY", "XAI_API_KEY"} {
		_, a, err := models.ModelOf("grok:grok-4", func(name string) string { return map[string]string{variable: "k"}[name] })
		expect.That(t, err == nil && a.Key == "k" && a.Address == "https://api.x.ai/v1" && a.Dial == "api.x.ai:443",
			"%s: %+v, %v", variable, a, err)
	}
}

func TestTheSampleIsValidWithoutAWarning(t *testing.T) {
	c, found := teamconfig.Workspace{FS: models.Sample()}.Contest(models.SampleFile)
	expect.That(t, len(found) == 0 && len(c.Teams) == 3 && len(c.Evaluator.Metrics) == 4,
		"%d teams, %v", len(c.Teams), found)
}

// Written again, as when the first page speaks another language, only the names of teams and of the sample's own metric
// change.
func TestTheSampleIsNamedInTheWorkspacesLanguage(t *testing.T) {
	folder := t.TempDir()
	for language, names := range map[string][]string{"en": {"Careful team", "Swift team", "Solo team"},
		"": {"慎重チーム", "即決チーム", "単独チーム"}} {
		expect.NoError(t, models.WriteSample(folder, language))
		c, found := teamconfig.Workspace{FS: os.DirFS(folder)}.Contest(models.SampleFile)
		expect.Must(t, len(found) == 0 && len(c.Teams) == 3, "%v", found)
		for i, name := range names {
			expect.Is(t, c.Teams[i].TeamName, name)
		}
		expect.Is(t, c.Evaluator.Metrics[3].Name, map[string]string{"en": "Enforceability", "": "守りやすさ"}[language])
	}
}
