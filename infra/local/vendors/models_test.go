package vendors_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/shared"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

const (
	schema = `{"type":"object","additionalProperties":false,"properties":{"task_type":{"type":"string"}}}`
	text   = `"<data>{\"message\":\"従業員一覧を取得して\",\"now\":\"2026-04-01T09:00+09:00\",\"locale\":\"ja\"}</data>"`
)

// vendor is a call to one vendor. answer and failure compare the bodies with what the vendor publishes.
type vendor struct {
	name, path, body, id string
	key                  func(h http.Header, key string)
	answer, failure      func(body string) []string
	unauthorized         int
}

func (v vendor) ask(t *testing.T, url, key string, want int, differences func(string) []string) {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, url+v.path, strings.NewReader(v.body)))(t)
	v.key(r.Header, key)
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	expect.That(t, err == nil && res.StatusCode == want && res.Header.Get(v.id) != "",
		"%s: %d, not %d; %v %s", v.name, res.StatusCode, want, err, body)
	expect.Same(t, []string(nil), differences(string(body)))
}

// The answers of the stand-in must have the members that each vendor publishes.
func TestAnswersOfModelsAreAsTheVendorsPublishThem(t *testing.T) {
	for _, v := range []vendor{
		{
			"anthropic", "/anthropic/v1/messages",
			`{"model":"m","max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":` + text +
				`}]}],"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`,
			"Request-Id", ofAnthropic,
			modeltest.Differences[anthropic.Message], modeltest.Differences[shared.ErrorResponse], 401,
		},
		{
			"bedrock", "/model/m/invoke",
			`{"anthropic_version":"bedrock-2023-05-31","max_tokens":10,"messages":[` +
				`{"role":"user","content":[{"type":"text","text":` + text + `}]}],` +
				`"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`,
			"X-Amzn-Requestid", signed, modeltest.Differences[anthropic.Message],
			func(body string) []string {
				if strings.HasPrefix(body, `{"message":"`) {
					return nil
				}
				return []string{body}
			}, 403,
		},
		{
			"openai", "/openai/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":` + text +
				`}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + schema + `}}}`,
			"X-Request-Id", bearer, modeltest.Completion, modeltest.ChatFailure, 401,
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			m := models.NewModels()
			s := expect.Server(t, m.Handler())
			v.ask(t, s.URL, m.Key, 200, v.answer)
			v.ask(t, s.URL, "", v.unauthorized, v.failure)
			for _, status := range []int{400, 402, 403, 404, 429, 500, 503, 529} {
				m.Fail(status)
				v.ask(t, s.URL, m.Key, status, v.failure)
			}
		})
	}
}

// signed adds an AWS signature instead of a bearer token.
func signed(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a")
	}
}

func ofAnthropic(h http.Header, key string) { h.Set("X-Api-Key", key) }

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// toolOf is a tool as each vendor's description has it.
var toolOf = map[string]string{
	"anthropic":  `"tools":[{"name":"t","input_schema":{"type":"object"}}]`,
	"compatible": `"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}]`,
}

// Answers of conversations must have the members that each vendor publishes.
func TestConversationsAreAsTheVendorsPublishThem(t *testing.T) {
	for _, v := range []vendor{
		{"anthropic", "/anthropic/v1/messages", `{"model":"m","max_tokens":10,` + toolOf["anthropic"] +
			`,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, "Request-Id",
			ofAnthropic, modeltest.Differences[anthropic.Message], nil, 0},
		{"compatible", "/compatible/v1/chat/completions", `{"model":"m",` + toolOf["compatible"] +
			`,"messages":[{"role":"user","content":"x"}]}`, "X-Request-Id", bearer, modeltest.Completion,
			nil, 0},
	} {
		t.Run(v.name, func(t *testing.T) {
			m := models.NewModels()
			s := expect.Server(t, m.Handler())
			m.Strictly(models.Rules{Signed: v.name == "anthropic"}) // OpenAI itself publishes no signatures in Chat Completions
			for _, script := range []models.Script{{Text: "ab"}, {Text: "a", Stop: "length"}, {Stop: "refused"},
				{Text: "a", Calls: []models.ScriptedCall{{ID: "c1", Name: "t", Input: `{"a":1}`},
					{ID: "c2", Name: "t", Input: `{}`}}}} {
				m.Scripted(script)
				v.ask(t, s.URL, m.Key, 200, v.answer)
			}
		})
	}
}

// The stand-in must refuse what vendors refuse, or tests could not show that a client doesn't send it.
func TestConversationsThatVendorsRefuse(t *testing.T) {
	m := models.NewModels()
	s := expect.Server(t, m.Handler())
	const user, use, result = `{"role":"user","content":[{"type":"text","text":"x"}]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}]}`
	const said, asked, answered = `{"role":"user","content":"x"}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"t","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"c","content":"x"}`
	for about, x := range map[string]struct {
		turns []string
		want  int
	}{
		"a call and its result":           {[]string{user, use, result}, 200},
		"a call without a result":         {[]string{user, use, user}, 400},
		"a result behind a text":          {[]string{user, use, user, result}, 400},
		"a result without a call":         {[]string{result}, 400},
		"two calls of one id":             {[]string{user, use, result, use, result}, 400},
		"a call's name that none has":     {[]string{user, strings.Replace(use, `"t"`, `"brain</arg>"`, 1), result}, 400},
		"an empty text":                   {[]string{strings.Replace(user, `"x"`, `""`, 1)}, 400},
		"the assistant has the last word": {[]string{user, strings.Replace(user, "user", "assistant", 1)}, 400},
		"a completion's call and result":  {[]string{said, asked, answered}, 200},
		"a completion's call without one": {[]string{said, asked, said}, 400},
		"a completion without words":      {[]string{strings.Replace(said, `"x"`, "null", 1)}, 400},
	} {
		v := vendor{name: about, path: "/anthropic/v1/messages", id: "Request-Id", key: ofAnthropic}
		tools := toolOf["anthropic"]
		if strings.Contains(about, "completion") {
			v.path, v.id, v.key, tools = "/compatible/v1/chat/completions", "X-Request-Id", bearer, toolOf["compatible"]
		}
		v.body = `{"model":"m",` + tools + `,"max_tokens":10,"messages":[` + strings.Join(x.turns, ",") + `]}`
		v.ask(t, s.URL, m.Key, x.want, func(string) []string { return nil })
	}
}

// sessions and events are pages as the vendor publishes them.
type (
	sessions struct {
		Data []anthropic.BetaManagedAgentsSession `json:"data"`
	}
	events struct {
		Data []anthropic.BetaManagedAgentsSessionEventUnion `json:"data"`
	}
)

// The answers of the stand-in must have the members that Anthropic publishes. One field and one kind of event are
// unknown on purpose: clients must accept additions.
func TestAnswersAreAsAnthropicPublishesThem(t *testing.T) {
	v := models.NewAgents()
	v.Script = func([]models.Step) []models.Act {
		return []models.Act{{Asks: []models.Ask{{Tool: "list", Input: `{"n":1}`}}}, {Says: "終わり", Stop: "end_turn"}}
	}
	s := expect.Server(t, v)
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
	session, sent := modeltest.Differences[anthropic.BetaManagedAgentsSession],
		modeltest.Differences[anthropic.BetaManagedAgentsSendSessionEvents]
	ask("POST", "/v1/agents", v.Key, `{"name":"Ringi","model":{"id":"m"}}`, 200,
		modeltest.Differences[anthropic.BetaManagedAgentsAgent])
	ask("POST", "/v1/environments", v.Key, `{"name":"Ringi"}`, 200, modeltest.Differences[anthropic.BetaEnvironment])
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
	ask("POST", "/v1/agents/agent_1/archive", v.Key, ``, 200, modeltest.Differences[anthropic.BetaManagedAgentsAgent])
	ask("POST", "/v1/environments/env_2/archive", v.Key, ``, 200, modeltest.Differences[anthropic.BetaEnvironment])
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
			continue
		case aggregate.Compatible:
			name, variable = "compatible:my-box/m", "MY_BOX_BASE_URL"
		case aggregate.Bedrock:
			name, variable = "bedrock:anthropic.m", "AWS_BEARER_TOKEN_BEDROCK"
		}
		_, _, err := models.ModelOf(name, func(string) string { return "" })
		expect.That(t, err != nil && strings.Contains(err.Error(), variable), "%s without %s: %v", name, variable, err)
		_, a, err := models.ModelOf(name, func(name string) string {
			if strings.HasSuffix(name, "_BASE_URL") {
				return "https://example.com/v1/"
			}
			return "k"
		})
		expect.That(t, err == nil && a.Key == "k" && a.Address == "https://example.com/v1" && a.Dial == "example.com:443",
			"%s: %+v, %v", name, a, err)
	}
}

// Written again, as when the first page speaks another language, only names change, and nothing is warned of.
func TestTheSampleIsNamedInTheWorkspacesLanguage(t *testing.T) {
	folder := t.TempDir()
	for language, names := range map[string][]string{"en": {"Careful team", "Swift team", "Solo team", "Enforceability"},
		"": {"慎重チーム", "即決チーム", "単独チーム", "守りやすさ"}} {
		expect.NoError(t, models.WriteSample(folder, language))
		c, found := teamconfig.Workspace{FS: os.DirFS(folder)}.Contest(models.SampleFile, "en")
		expect.Must(t, len(found) == 0 && len(c.Teams) == 3 && len(c.Evaluator.Metrics) == 4, "%v", found)
		expect.Same(t, names, []string{c.Teams[0].TeamName, c.Teams[1].TeamName, c.Teams[2].TeamName,
			c.Evaluator.Metrics[3].Name})
	}
}
