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

func TestTheSampleIsValidWithoutAWarning(t *testing.T) {
	c, found := teamconfig.Workspace{FS: models.Sample()}.Contest(models.SampleFile, "en")
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
		c, found := teamconfig.Workspace{FS: os.DirFS(folder)}.Contest(models.SampleFile, "en")
		expect.Must(t, len(found) == 0 && len(c.Teams) == 3, "%v", found)
		for i, name := range names {
			expect.Is(t, c.Teams[i].TeamName, name)
		}
		expect.Is(t, c.Evaluator.Metrics[3].Name, map[string]string{"en": "Enforceability", "": "守りやすさ"}[language])
	}
}
