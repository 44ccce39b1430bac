package llm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/shared"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"ringi/infra/local/vendors/llm"
	"ringi/infra/local/vendors/published"
	"ringi/shared/expect"
	"ringi/shared/model/modeltest"
)

// failure is what OpenAI's errors come in.
type failure struct {
	Error openai.Error `json:"error"`
}

const (
	schema = `{"type":"object","properties":{"task_type":{"type":"string"}}}`
	text   = `"<data>{\"message\":\"従業員一覧を取得して\",\"now\":\"2026-04-01T09:00+09:00\",\"locale\":\"ja\"}</data>"`
)

// vendor is a call of one of them and how its answers differ from what is published.
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
	if err != nil || res.StatusCode != want || res.Header.Get(v.id) == "" {
		t.Errorf("%d, not %d; %v %s", res.StatusCode, want, err, body)
	}
	for _, d := range differences(string(body)) {
		t.Errorf("%d: %s", res.StatusCode, d)
	}
}

// What stands in for the vendors answers with the members that each of them publishes.
func TestAnswersAreAsTheVendorsPublishThem(t *testing.T) {
	bedrock := expect.Value(published.Open("bedrock"))(t)
	quoted, _ := json.Marshal(schema) // a string has a form
	for _, v := range []vendor{
		{
			"anthropic", "/anthropic/v1/messages",
			`{"model":"m","max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":` + text + `}]}],"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`,
			"Request-Id", func(h http.Header, key string) { h.Set("X-Api-Key", key) },
			modeltest.Differences[anthropic.Message], modeltest.Differences[shared.ErrorResponse], 401,
		},
		{
			"openai", "/openai/v1/responses",
			`{"model":"m","input":[{"role":"user","content":` + text + `}],"text":{"format":{"type":"json_schema","name":"answer","schema":` + schema + `}}}`,
			"X-Request-Id", bearer, modeltest.Differences[responses.Response], modeltest.Differences[failure], 401,
		},
		{
			"compatible", "/compatible/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":` + text + `}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + schema + `}}}`,
			"X-Request-Id", bearer, modeltest.Differences[openai.ChatCompletion], modeltest.Differences[failure], 401,
		},
		{
			"bedrock", "/bedrock/model/m/converse",
			`{"messages":[{"role":"user","content":[{"text":` + text + `}]}],"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":` + string(quoted) + `}}}}}`,
			"X-Amzn-Requestid", func(h http.Header, key string) {
				if key != "" {
					h.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a")
				}
			},
			func(body string) []string { return bedrock.Check("ConverseResponse", body) },
			func(body string) []string { return bedrock.Check("Exception", body) }, 403,
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			m := llm.New()
			s := httptest.NewServer(m.Handler())
			defer s.Close()
			v.ask(t, s.URL, m.Key, 200, v.answer)
			v.ask(t, s.URL, "", v.unauthorized, v.failure)
			for _, status := range []int{400, 402, 403, 404, 429, 500, 503, 529} {
				m.Fail(llm.Failure{Status: status})
				v.ask(t, s.URL, m.Key, status, v.failure)
			}
		})
	}
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }
