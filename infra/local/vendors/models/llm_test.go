package models_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/shared"

	"ringi/infra/local/vendors/models"
	"ringi/shared/model/modeltest"
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
		"%d, not %d; %v %s", res.StatusCode, want, err, body)
	for _, d := range differences(string(body)) {
		t.Errorf("%d: %s", res.StatusCode, d)
	}
}

// The answers of the stand-in must have the members that each vendor publishes.
func TestAnswersAreAsTheVendorsPublishThem(t *testing.T) {
	for _, v := range []vendor{
		{
			"anthropic", "/anthropic/v1/messages",
			`{"model":"m","max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":` + text +
				`}]}],"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`,
			"Request-Id", func(h http.Header, key string) { h.Set("X-Api-Key", key) },
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
			s := httptest.NewServer(m.Handler())
			defer s.Close()
			v.ask(t, s.URL, m.Key, 200, v.answer)
			v.ask(t, s.URL, "", v.unauthorized, v.failure)
			for _, status := range []int{400, 402, 403, 404, 429, 500, 503, 529} {
				m.Fail(models.Failure{Status: status})
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
			func(h http.Header, key string) { h.Set("X-Api-Key", key) }, modeltest.Differences[anthropic.Message], nil, 0},
		{"compatible", "/compatible/v1/chat/completions", `{"model":"m",` + toolOf["compatible"] +
			`,"messages":[{"role":"user","content":"x"}]}`, "X-Request-Id", bearer, modeltest.Completion,
			nil, 0},
	} {
		t.Run(v.name, func(t *testing.T) {
			m := models.NewModels()
			s := httptest.NewServer(m.Handler())
			defer s.Close()
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
	s := httptest.NewServer(m.Handler())
	defer s.Close()
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
		t.Run(about, func(t *testing.T) {
			v := vendor{path: "/anthropic/v1/messages", id: "Request-Id",
				key: func(h http.Header, key string) { h.Set("X-Api-Key", key) }}
			tools := toolOf["anthropic"]
			if strings.Contains(about, "completion") {
				v, tools = vendor{path: "/compatible/v1/chat/completions", id: "X-Request-Id", key: bearer}, toolOf["compatible"]
			}
			v.body = `{"model":"m",` + tools + `,"max_tokens":10,"messages":[` + strings.Join(x.turns, ",") + `]}`
			v.ask(t, s.URL, m.Key, x.want, func(string) []string { return nil })
		})
	}
}
